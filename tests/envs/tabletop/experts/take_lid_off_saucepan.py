"""Take the knob from above and rise."""


def solve(arm, kit):
    knob = arm.world.position("lid") + kit.up(0.032)
    arm.go(knob + kit.up(0.10), kit.down())
    arm.go(knob, speed=0.6)
    arm.close()
    arm.go(knob + kit.up(0.20), speed=0.7)
