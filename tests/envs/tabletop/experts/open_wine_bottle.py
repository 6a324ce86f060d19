"""Take the cap from above, turn it anticlockwise in quarter turns, rise. The gripper begins a little clockwise of its
usual orientation, which keeps the last joint away from its limit."""

import numpy as np


def solve(arm, kit):
    cap = arm.world.position("cap")
    start = -np.pi / 6
    arm.go(cap + kit.up(0.10), kit.down(start))
    arm.go(cap, speed=0.6)
    arm.close()
    for turn in (np.pi / 2, np.pi):
        arm.go(cap, kit.down(start + turn))
    arm.go(cap + kit.up(0.15), speed=0.7)
