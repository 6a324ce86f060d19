"""Close the gripper, come from above, push down."""


def solve(arm, kit):
    top = arm.world.geom_position("button")
    arm.close()
    arm.go(top + [0, 0, 0.10], kit.down())
    arm.go(top + [0, 0, 0.0], speed=0.5)
    arm.go(top + [0, 0, 0.10])
