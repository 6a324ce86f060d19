"""Lift the wand off its stand by less than its ring is wide, carry it over level, set it down."""


def solve(arm, kit):
    world = arm.world
    frame = world.rotation("buzz")
    grip = kit.down(kit.nearest(kit.yaw_of(frame)))
    handle = world.position("wand") + frame @ [-0.125, 0, 0]
    arm.go(handle + kit.up(0.12), grip)
    arm.go(handle, grip, speed=0.6)
    arm.close()
    lift = kit.up(0.018)
    arm.go(handle + lift, grip, speed=0.4)
    over = frame @ [0, -0.22, 0]
    arm.go(handle + over + lift, grip, speed=0.5)
    arm.go(handle + over + kit.up(0.003), grip, speed=0.4)
    arm.open()
    arm.go(handle + over + kit.up(0.1), grip)
