"""Lift the wand off its stand by less than its ring is wide, carry it over level, set it down."""

import numpy as np


def solve(arm, kit):
    world = arm.world
    frame = world.rotation("buzz")
    grip = kit.down(kit.nearest(kit.yaw_of(frame)))
    handle = world.position("wand") + frame @ [-0.125, 0, 0]
    arm.go(handle + [0, 0, 0.12], grip)
    arm.go(handle, grip, speed=0.6)
    arm.close()
    lift = np.array([0, 0, 0.018])
    arm.go(handle + lift, grip, speed=0.4)
    over = frame @ [0, -0.22, 0]
    arm.go(handle + over + lift, grip, speed=0.5)
    arm.go(handle + over + [0, 0, 0.003], grip, speed=0.4)
    arm.open()
    arm.go(handle + over + [0, 0, 0.1], grip)
