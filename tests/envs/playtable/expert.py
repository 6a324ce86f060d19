"""A hand-written expert for each family of tasks. It may read true poses from `env.world`; it acts only through
`move`, `set_gripper` and `home`, the motion interface that methods use."""

from __future__ import annotations

import numpy as np

from envs.playtable import desk
from envs.playtable.setting import DESK_TOP
from harness.protocols import Pose


class Expert:
    def __init__(self, env):
        self.env, self.world = env, env.world

    def go(self, position, yaw=None, speed=1.0):
        down = np.array([0.0, np.cos(yaw / 2), np.sin(yaw / 2), 0.0]) if yaw is not None else None
        quaternion = self.env.pose().quaternion if down is None else down
        return self.env.move(Pose(np.asarray(position, float), quaternion), speed)

    def block(self, colour):
        return self.world.position(f"{colour}_block")

    def yaw(self, colour):
        rotation = self.world.rotation(f"{colour}_block")
        yaw = np.arctan2(rotation[1, 0], rotation[0, 0])
        if desk.BLOCKS[colour][0] < 0.06 and abs(np.cos(yaw)) > 0.7:
            # Short enough to be held either way: with the hand along the desk it clears the door's grip.
            yaw += np.pi / 2
        return float((yaw + np.pi / 2) % np.pi - np.pi / 2)

    def take(self, colour):
        here, yaw = self.block(colour), self.yaw(colour)
        self.go(here + up(0.12), yaw)
        self.go(here, yaw, speed=0.6)
        self.env.set_gripper(0.0)
        return here

    def put(self, place, yaw=0.0):
        self.go(place + up(0.12), yaw)
        self.go(place, yaw, speed=0.6)
        self.env.set_gripper(1.0)
        self.go(place + up(0.12), yaw)

    def drag(self, grip, way, yaw):
        """Take a handle from above and move it."""
        self.go(grip + up(0.10), yaw)
        self.go(grip, yaw, speed=0.6)
        self.env.set_gripper(0.0)
        self.go(grip + way, yaw, speed=0.5)
        self.env.set_gripper(1.0)


def up(height):
    return np.array([0.0, 0.0, height])


def solve(env, task):
    expert = Expert(env)
    for family, play in FAMILIES.items():
        if task.startswith(family):
            play(expert, *filter(None, task.removeprefix(family).split("_")))
            return
    raise ValueError(f"no expert for {task}")


def rotate(expert, colour, _block, side):
    here = expert.take(colour)
    yaw = expert.yaw(colour)
    expert.go(here + up(0.03), yaw)
    # From wherever the joints leave more room, 80 degrees on.
    for part in (0.25, 0.5, 0.75, 1.0):
        expert.go(here + up(0.03), yaw + np.radians(-80 if side == "right" else 80) * part)
    expert.go(here + up(0.002), speed=0.6)
    expert.env.set_gripper(1.0)


def push(expert, colour, _block, side):
    way = np.array([1.0 if side == "right" else -1.0, 0.0, 0.0])
    here = expert.block(colour)
    expert.env.set_gripper(0.0)
    behind = here - 0.085 * way
    expert.go(behind + up(0.12), np.pi / 2 - 0.001)
    expert.go(behind)
    expert.go(here + 0.11 * way, speed=0.5)


def lift(expert, colour, _block, _place):
    here = expert.take(colour)
    expert.go(here + up(0.12), speed=0.6)


def place_slider(expert):
    x = float(np.mean(desk.SHELF[desk.open_half(expert.world)]))
    expert.put(np.array([x, 0.105, desk.SHELF_TOP + desk.HALF + 0.004]), 0.0)


def place_drawer(expert):
    expert.put(np.array([0.18, -0.33, desk.DRAWER_FLOOR + desk.HALF + 0.01]), 0.0)


def into_drawer(expert):
    block = expert.block(expert.world.memo["block"])
    expert.env.set_gripper(0.0)
    behind = block + np.array([0.0, 0.075, 0.0])
    expert.go(behind + up(0.10), 0.0)
    expert.go(behind)
    expert.go(block - np.array([0.0, 0.075, 0.0]), speed=0.5)


def stack(expert, _block):
    held = expert.world.memo["held"]
    others = [colour for colour in desk.BLOCKS if colour != held]
    base = max(others, key=lambda colour: desk.BLOCKS[colour][0])
    expert.put(expert.block(base) + up(2 * desk.HALF + 0.003), expert.yaw(base))


def unstack(expert, _block):
    upper = max(desk.BLOCKS, key=lambda colour: expert.block(colour)[2])
    here = expert.take(upper)
    expert.go(here + up(0.10), speed=0.6)


def slider(expert, side):
    grip = expert.world.position("door_grip") + np.array([0.04, 0.012, 0.545])
    expert.drag(grip, np.array([-0.24 if side == "left" else 0.24, 0.0, 0.0]), 0.0)


def open_drawer(expert):
    bar = expert.world.position("drawer_bar") + np.array([0.18, -0.295, 0.356])
    expert.drag(bar, np.array([0.0, -0.18, 0.0]), 0.0)


def close_drawer(expert):
    bar = expert.world.position("drawer_bar") + np.array([0.18, -0.295, 0.356])
    expert.drag(bar, np.array([0.0, 0.20, 0.0]), 0.0)


def bulb(expert):
    rising = not desk.bulb(expert.world)
    lever = expert.world.position("lever") + np.array([0.30, 0.019, 0.526])
    way = np.array([0.0, 0.5, 0.866]) * (0.075 if rising else -0.075)
    expert.drag(lever, way, np.pi / 2 - 0.001)


def led(expert):
    top = np.array([*desk.BUTTON, DESK_TOP + 0.047])
    expert.env.set_gripper(0.0)
    expert.go(top + up(0.08), 0.0)
    expert.go(top - up(0.016), speed=0.5)
    expert.go(top + up(0.08))


FAMILIES = {
    "rotate": rotate,
    "push_into_drawer": into_drawer,
    "push": push,
    "lift": lift,
    "place_in_slider": place_slider,
    "place_in_drawer": place_drawer,
    "stack": stack,
    "unstack": unstack,
    "move_slider": slider,
    "open_drawer": open_drawer,
    "close_drawer": close_drawer,
    "turn_on_lightbulb": bulb,
    "turn_off_lightbulb": bulb,
    "turn_on_led": led,
    "turn_off_led": led,
}
