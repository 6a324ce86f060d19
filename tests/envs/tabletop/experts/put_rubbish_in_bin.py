"""Take the rubbish from above, carry it high over the bin and let go inside."""


def solve(arm, kit):
    rubbish = arm.world.position("rubbish") + kit.up(0.016)
    bin_top = arm.world.position("bin") + kit.up(0.13)
    arm.go(rubbish + kit.up(0.12), kit.down())
    arm.go(rubbish, speed=0.6)
    arm.close()
    arm.go(rubbish + kit.up(0.22))
    arm.go(bin_top + kit.up(0.10))
    arm.go(bin_top)
    arm.open()
    arm.go(bin_top + kit.up(0.10))
