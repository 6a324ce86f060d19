"""A hand-written expert that does a household task subtask by subtask. It is told the oracle's subtasks and reads true
poses from `env.world`; it moves the robot by `act` alone, with small delta poses at 10 Hz."""

from __future__ import annotations

import re

import numpy as np

from envs.mujoco.kinematics import multiply, turned_by
from harness.failures import StepLimit

DOWN = np.array([0.0, 0.0, 1.0, 0.0])
CARRY = 0.19
"""Height of the tool above the table while it travels: what it holds clears the boxes' walls."""
LOOK = 0.17
"""The same for looking into a box."""
PICKING = re.compile(r"pick up (?P<thing>.+) from (?P<source>.+) and place it to (?P<target>.+)")
ACROSS = np.pi / 2
"""Yaw at which the fingers open along x."""
SPOTS = {
    "box": [(0.0, 0.035), (0.0, -0.035)],
    "tray": [(0.0, 0.0)],
    "chest": [(0.0, -0.07), (0.0, 0.0), (0.0, 0.07)],
    "pot": [(x, y) for x in (-0.02, 0.02) for y in (-0.036, 0.0, 0.036)],
}
"""Where to put things down, offsets along x and y; metres."""
HEIGHTS = {"tray": 0.024, "left mat": 0.024, "middle mat": 0.024, "right mat": 0.024, "pot": 0.06}
"""How high the tool lets go; above the pot's wall, so that nothing but the fingers is inside."""
_GAIN = 0.7


def down(yaw):
    """Gripper straight down; at yaw 0 the fingers open along y."""
    return turned_by(DOWN, np.array([0.0, 0.0, yaw]))


class Expert:
    def __init__(self, env):
        self.env, self.world = env, env.world
        self.closed = False

    def solve(self):
        """Do one subtask after the other until all are done or the steps are spent; returns whether they are."""
        try:
            for _ in range(3 * len(self.env.subtasks())):
                current = self.env.current_subtask()
                if current is None:
                    self.rest()
                    current = self.env.current_subtask()
                if current is None:
                    break
                self.do(self.env.subtasks()[current].text)
        except StepLimit:
            pass
        return self.env.verdict().success

    def do(self, text):
        if text.startswith("inspect "):
            self.inspect(text.removeprefix("inspect "))
            return
        found = PICKING.fullmatch(text)
        self.pick(self.instance(found["thing"], found["source"]))
        self.place(found["target"])

    def inspect(self, place):
        here = self.world.position(place)
        self.go([*here[:2], LOOK], 0.0)
        self.wait(6)

    def instance(self, thing, source):
        """The body that is meant: for an ingredient, a portion of it that is still at the source."""
        names = [name for name in self.world.parts if re.fullmatch(rf"{thing}( \d+)?", name)]
        free = [name for name in names if self.world.position(name)[0] > 0.27] if len(names) > 1 else names
        return free[0]

    def pick(self, thing):
        self.open()
        here, rotation = self.world.position(thing), self.world.rotation(thing)
        yaw = float(np.arctan2(rotation[1, 0], rotation[0, 0]))
        # By the pair of sides for which the fingers open most nearly along x, away from a box's side walls.
        yaw = ACROSS + (yaw + np.pi / 4) % (np.pi / 2) - np.pi / 4
        self.go([*here[:2], CARRY], yaw)
        self.go([*here[:2], here[2] + 0.005], yaw)
        self.close()
        self.go([*here[:2], CARRY], yaw)

    def place(self, target):
        x, y, height, yaw = self.spot(target)
        self.go([x, y, CARRY], yaw)
        self.go([x, y, height], yaw)
        self.open()
        self.go([x, y, CARRY], yaw)

    def spot(self, target):
        """Where to let go: x, y, height of the tool, yaw."""
        here, height = self.world.position(target), HEIGHTS.get(target, 0.04)
        spots = [here[:2] + offset for offset in SPOTS.get(target, SPOTS["box"])]
        x, y = max(spots, key=lambda place: min(self.room(place), 0.04))
        return x, y, height, ACROSS

    def room(self, place):
        """Metres to the nearest other thing on the table."""
        others = [
            self.world.position(name)
            for name in self.world.parts
            if self.world.model.body(name).jntnum[0] and not self.world.touching("link0", name)
        ]
        return min(np.linalg.norm(other[:2] - place) for other in others if other[2] > -0.1)

    def go(self, position, yaw, tolerance=0.004, patience=80):
        """By delta poses, until the tool is there."""
        position = np.asarray(position, float)
        # The gripper looks the same after half a turn: of the two, the one that leaves the wrist most room.
        roll = (yaw - azimuth(position) + np.pi / 2) % np.pi - np.pi / 2
        for _ in range(patience):
            pose = self.env.pose()
            now = wrapped(yaw_of(pose.quaternion) - azimuth(pose.position))
            # Towards that roll step by step, never the shorter way round beyond the wrist's end.
            part = roll if abs(roll - now) < 1 else now + np.sign(roll - now)
            off = position - pose.position
            if self.step(off, pose.quaternion, down(part + azimuth(pose.position)), tolerance):
                return

    def reach(self, position, quaternion, tolerance=0.004, patience=80):
        for _ in range(patience):
            pose = self.env.pose()
            if self.step(position - pose.position, pose.quaternion, quaternion, tolerance):
                return

    def step(self, off, facing, quaternion, tolerance):
        """One action towards a pose; whether the tool was there already."""
        turn = rotation_vector(facing, quaternion)
        if np.linalg.norm(off) < tolerance and np.linalg.norm(turn) < 0.05:
            return True
        self.act(_GAIN * off if np.linalg.norm(off) < 0.03 else off, _GAIN * turn)
        return False

    def rest(self):
        self.reach(self.env.rest.position, self.env.rest.quaternion, 0.01)

    def open(self):
        self.closed = False
        self.wait(3)

    def close(self):
        self.closed = True
        self.wait(4)

    def wait(self, steps):
        for _ in range(steps):
            self.act(np.zeros(3), np.zeros(3))

    def act(self, shift, turn):
        limits = self.env.action_limits
        self.env.act(
            np.concatenate(
                [capped(shift, limits[0]), capped(turn, limits[1]), [-1.0 if self.closed else 1.0]]
            )
        )


def azimuth(position):
    """Direction of a place as seen from the arm's base, radians."""
    return np.arctan2(position[1], position[0])


def yaw_of(quaternion):
    """Of a gripper that points down, so that `down` of it is the orientation again; radians."""
    w, x, y, z = quaternion
    return np.arctan2(-2 * (x * y - w * z), 1 - 2 * (x * x + z * z))


def wrapped(angle):
    """In -pi to pi."""
    return (angle + np.pi) % (2 * np.pi) - np.pi


def capped(vector, limit):
    """No longer than the limit."""
    length = np.linalg.norm(vector)
    return vector * (limit / length) if length > limit else vector


def rotation_vector(first, second):
    """(3,), of the shortest turn from one orientation to the other."""
    difference = multiply(second, first * [1, -1, -1, -1])
    if difference[0] < 0:
        difference = -difference
    axis, length = difference[1:], np.linalg.norm(difference[1:])
    angle = 2 * np.arctan2(length, difference[0])
    return axis * (angle / length) if length > 1e-9 else np.zeros(3)
