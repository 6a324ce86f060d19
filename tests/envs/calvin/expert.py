"""A hand-written expert for each family of tasks. It may read true poses from the simulator; it acts only through
`move`, `set_gripper` and `home`, the motion interface that methods use."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from harness.protocols import Pose

SLIDE_HANDLE = np.array([0.04, 0.0, 0.545])
"""Where the sliding door's handle is pushed, at joint 0; it moves to -x."""
DRAWER_BAR = np.array([0.18, -0.246, 0.36])
SWITCH_BAR = np.array([0.30, 0.019, 0.524])
SWITCH_WAY = np.array([0.0, 0.5, 0.866])
BUTTON = np.array([-0.12, -0.12, 0.487])


def down(psi=np.pi / 2, tilt=0.0):
    """The tool points down, its fingers opening along the direction psi - 90 degrees; `tilt` turns its tip to the back."""
    rotation = Rotation.from_euler("x", tilt) * Rotation.from_euler("xyz", [np.pi, 0.0, psi])
    return np.roll(rotation.as_quat(), 1)


def up(height):
    return np.array([0.0, 0.0, height])


class Expert:
    def __init__(self, env):
        self.env, self.simulator = env, env.simulator

    def go(self, position, quaternion=None, speed=1.0):
        if quaternion is None:
            quaternion = down()
        return self.env.move(Pose(np.asarray(position, float), quaternion), speed)

    def block(self, colour):
        position, axes = self.simulator.link_pose(self.simulator.blocks[f"block_{colour}"], -1)
        yaw = float(np.arctan2(axes[1, 0], axes[0, 0])) % np.pi
        return position, yaw

    def joint(self, link):
        return self.simulator.physics.getJointState(self.simulator.table, self.simulator.links[link])[0]

    def take(self, colour):
        here, yaw = self.block(colour)
        self.go(here + up(0.10), down(yaw))
        self.go(here, down(yaw), speed=0.6)
        self.env.set_gripper(0.0)
        return here, yaw


def solve(env, task):
    expert = Expert(env)
    for family, play in FAMILIES.items():
        if task.startswith(family):
            play(expert, *filter(None, task.removeprefix(family).split("_")))
            return
    raise ValueError(f"no expert for {task}")


def rotate(expert, colour, _block, side):
    here, yaw = expert.take(colour)
    turn = np.radians(-75 if side == "right" else 75)
    expert.go(here + up(0.004), down(yaw))
    expert.go(here + up(0.004), down(yaw + turn / 2), speed=0.7)
    expert.go(here + up(0.004), down(yaw + turn), speed=0.7)
    expert.go(here, down(yaw + turn))
    expert.env.set_gripper(1.0)


def push(expert, colour, _block, side):
    way = np.array([1.0 if side == "right" else -1.0, 0.0, 0.0])
    here, _ = expert.block(colour)
    expert.env.set_gripper(0.0)
    behind = here - 0.075 * way
    expert.go(behind + up(0.10), down(0.0))
    expert.go(behind, down(0.0))
    expert.go(here + 0.11 * way, down(0.0), speed=0.6)


def lift(expert, colour, _block, _place):
    here, yaw = expert.take(colour)
    expert.go(here + up(0.10), down(yaw), speed=0.6)


def slider(expert, side):
    way = np.array([-1.0 if side == "left" else 1.0, 0.0, 0.0])
    handle = SLIDE_HANDLE - np.array([expert.joint("slide_link"), 0.0, 0.0])
    expert.env.set_gripper(0.0)
    beside = handle - 0.07 * way
    expert.go(beside + np.array([0.0, -0.08, 0.06]))
    expert.go(beside)
    expert.go(handle + 0.2 * way, speed=0.7)


def drawer(expert, way):
    bar = DRAWER_BAR - np.array([0.0, expert.joint("drawer_link"), 0.0])
    opens = way == "open"
    expert.env.set_gripper(0.0)
    beside = bar + np.array([0.0, 0.035 if opens else -0.05, 0.0])
    expert.go(beside + up(0.15))
    expert.go(beside)
    expert.go(bar + np.array([0.0, -0.17 if opens else 0.17, 0.0]), speed=0.7)


def bulb(expert, state):
    travel = expert.joint("switch_link")
    bar = SWITCH_BAR + travel * SWITCH_WAY
    expert.env.set_gripper(0.0)
    quaternion = down(tilt=0.7)
    if state == "on":
        expert.go(bar + np.array([0.0, -0.10, 0.0]), quaternion)
        expert.go(bar + np.array([0.0, -0.03, -0.02]), quaternion)
        expert.go(bar + 0.09 * SWITCH_WAY + np.array([0.0, 0.0, 0.01]), quaternion, speed=0.7)
    else:
        expert.go(bar + np.array([0.0, -0.06, 0.10]), quaternion)
        expert.go(bar + np.array([0.0, 0.0, 0.04]), quaternion)
        expert.go(bar - 0.09 * SWITCH_WAY, quaternion, speed=0.7)


def led(expert, _state):
    expert.env.set_gripper(0.0)
    expert.go(BUTTON + up(0.06))
    expert.go(BUTTON - up(0.017), speed=0.6)
    expert.go(BUTTON + up(0.06))


def open_drawer(expert):
    drawer(expert, "open")


def close_drawer(expert):
    drawer(expert, "close")


def on(expert):
    bulb(expert, "on")


def off(expert):
    bulb(expert, "off")


FAMILIES = {
    "rotate": rotate,
    "push": push,
    "lift": lift,
    "move_slider": slider,
    "open_drawer": open_drawer,
    "close_drawer": close_drawer,
    "turn_on_lightbulb": on,
    "turn_off_lightbulb": off,
    "turn_on_led": lambda expert: led(expert, "on"),
    "turn_off_led": lambda expert: led(expert, "off"),
}
