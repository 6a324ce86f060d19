"""Take the ball from above and let go of it above the middle of the hoop."""

import numpy as np


def solve(arm, kit):
    ball = arm.world.position("basketball")
    hoop = arm.world.position("basket") + kit.up(0.20)
    # The fingers open across the line to the ring's fixture, clear of the board.
    yaw = kit.nearest(kit.yaw_of(arm.world.rotation("basket")))
    arm.go(ball + kit.up(0.12), kit.down())
    arm.go(ball, speed=0.6)
    arm.close()
    arm.go(np.array([ball[0], ball[1], hoop[2] + 0.14]))
    arm.go(hoop + kit.up(0.14), kit.down(yaw))
    arm.go(hoop + kit.up(0.06), speed=0.6)
    arm.open()
    arm.go(hoop + kit.up(0.14))
