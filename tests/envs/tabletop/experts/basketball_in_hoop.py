"""Take the ball by its middle, carry it high over the hoop, and let go a little above it."""

RELEASE = 0.07


def solve(arm, kit):
    world = arm.world
    frame = world.rotation("goal")
    # Fingers open along the backboard, so that the hand keeps clear of it.
    grip = kit.down(kit.nearest(kit.yaw_of(frame)))
    ball = world.position("basketball")
    hoop = world.position("goal") + kit.up(0.26)
    arm.go(ball + kit.up(0.12), grip)
    arm.go(ball, grip, speed=0.6)
    arm.close()
    high = hoop[2] + 0.12
    arm.go([ball[0], ball[1], high], grip)
    arm.go([hoop[0], hoop[1], high], grip)
    arm.go(hoop + kit.up(RELEASE), grip, speed=0.5)
    arm.open()
    arm.go([hoop[0], hoop[1], high], grip)
