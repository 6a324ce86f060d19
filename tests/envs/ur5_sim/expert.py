"""A hand-written expert for each of the UR5's tasks. It may read true poses from `env.world`; it acts only through
`move`, `set_gripper` and `home`, the motion interface that methods use."""

from __future__ import annotations

import numpy as np

from harness.protocols import Pose


def solve(env, task):
    globals()[task](env)


def rotate_box(env):
    here, yaw = env.world.position("red box"), yaw_of(env.world.rotation("red box"))
    grip = here + up(0.004)
    go(env, grip + up(0.12), yaw)
    go(env, grip, yaw, 0.6)
    env.set_gripper(0.0)
    go(env, grip + up(0.03), yaw, 0.5)
    go(env, grip + up(0.03), yaw + np.pi / 2, 0.5)
    go(env, grip + up(0.001), yaw + np.pi / 2, 0.4)
    env.set_gripper(1.0)
    go(env, grip + up(0.12), yaw + np.pi / 2)


def move_object(env):
    here = env.world.position("tape")
    env.set_gripper(0.0)
    beside = here + np.array([0.0, 0.075, 0.0])
    go(env, beside + up(0.10), 0.0)
    go(env, beside, 0.0)
    go(env, here + np.array([0.0, -0.03, 0.0]), 0.0, 0.5)
    go(env, here + np.array([0.0, -0.03, 0.12]), 0.0)


def remove_lid(env):
    knob = env.world.position("lid") + up(0.021)
    go(env, knob + up(0.10), 0.0)
    go(env, knob, 0.0, 0.6)
    env.set_gripper(0.0)
    go(env, knob + up(0.12), 0.0, 0.6)


def push_button(env):
    top = env.world.geom_position("red button")
    env.set_gripper(0.0)
    go(env, top + up(0.10), 0.0)
    go(env, top + up(0.004), 0.0, 0.5)
    go(env, top + up(0.10), 0.0)


def go(env, position, yaw, speed=1.0):
    """Straight there with the gripper down, its fingers opening along the horizontal direction `yaw` + 90 degrees."""
    down = np.array([0.0, np.cos(yaw / 2), np.sin(yaw / 2), 0.0])
    return env.move(Pose(np.asarray(position, float), down), speed)


def up(height):
    """(3,), `height` metres along z."""
    return np.array([0.0, 0.0, height])


def yaw_of(rotation):
    """Yaw of a body's x axis, radians."""
    return float(np.arctan2(rotation[1, 0], rotation[0, 0]))
