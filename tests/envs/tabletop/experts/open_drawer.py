"""Take the handle from the front, slightly from above, and pull along the drawer's rail."""

import numpy as np


def solve(arm, kit):
    world = arm.world
    drawer = world.variation["drawer"]
    handle = world.position(f"{drawer}_handle")
    inward = world.rotation("cabinet")[:, 0]
    approach = inward - kit.up(0.3)
    approach /= np.linalg.norm(approach)
    grip = kit.facing(approach, [0, 0, 1])
    arm.go(handle - 0.10 * approach, grip)
    arm.go(handle, grip, speed=0.5)
    arm.close()
    arm.go(handle - 0.20 * inward, grip, speed=0.7)
    arm.open()
    arm.home()
