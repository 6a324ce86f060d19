"""Take the handle from above and rise until the tip is above the rim."""


def solve(arm, kit):
    axis = arm.world.rotation("umbrella")[:, 2]
    grip = arm.world.position("umbrella") + 0.24 * axis
    arm.go(grip + kit.up(0.12), kit.down())
    arm.go(grip, speed=0.6)
    arm.close()
    arm.go(grip + kit.up(0.17), speed=0.6)
