"""Close the gripper, come from above, push down."""


def solve(arm, kit):
    top = arm.world.geom_position("button")
    arm.close()
    arm.go(top + kit.up(0.10), kit.down())
    arm.go(top, speed=0.5)
    arm.go(top + kit.up(0.10))
