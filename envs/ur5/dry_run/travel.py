"""Motions of the arm as a UR's controller makes them: along a straight line of the tool or through joint space, with
bounded speed and acceleration, and brought to a halt where it stands. Not what moves: that is `twin`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from envs.mujoco.kinematics import angle_between, interpolate

if TYPE_CHECKING:
    from harness.protocols import Floats

_TURN = 0.1
"""Metres that a radian of turning counts on a line: a turn on the spot at 0.1 m/s is one of 1 rad/s."""


class Unreachable(Exception):
    """The joints cannot follow the motion; a real controller stops itself."""


class Travel:
    """A way, given by the joint angles at each distance along it, that is travelled with bounded speed."""

    def __init__(
        self, length: float, joints_at: Callable[[float], Floats], speed: float, acceleration: float
    ) -> None:
        """`length`, `speed` and `acceleration` in the same unit: metres for a line, radians for joints."""
        self.ended = length < 1e-9
        self._length, self._joints_at = length, joints_at
        self._speed, self._acceleration = speed, acceleration
        self._travelled = self._rate = 0.0
        self._braking = False

    def brake(self, deceleration: float) -> None:
        """Come to a halt; a motion that stands has ended."""
        self._braking, self._acceleration = True, deceleration
        self.ended = self.ended or self._rate == 0.0

    def step(self, period: float) -> Floats:
        """Joint angles a `period` (seconds) later. Raises `Unreachable`."""
        change = self._acceleration * period
        left = self._length - self._travelled
        if self._braking:
            self._rate = max(0.0, self._rate - change)
        else:
            # So fast that it can still stop in time, after this period.
            stoppable = -change / 2 + float(np.sqrt(change**2 / 4 + 2 * self._acceleration * left))
            self._rate = min(self._rate + change, self._speed, max(stoppable, change / 2))
        self._travelled = min(self._length, self._travelled + self._rate * period)
        self.ended = self._travelled >= self._length or (self._braking and self._rate == 0.0)
        return self._joints_at(self._travelled)


def through_joints(start: Floats, target: Sequence[float], speed: float, acceleration: float) -> Travel:
    """To joint angles (6,): radians per second of the joint that turns most, and per second squared."""
    difference = np.asarray(target) - start
    length = float(np.abs(difference).max())

    def joints_at(travelled: float) -> Floats:
        return start + difference * (travelled / length if length else 1.0)

    return Travel(length, joints_at, speed, acceleration)


def along_line(
    start: tuple[Floats, Floats],
    target: tuple[Floats, Floats],
    joints_for: Callable[[tuple[Floats, Floats]], Floats],
    speed: float,
    acceleration: float,
) -> Travel:
    """From one pose to the other, each a position (3,) and a quaternion (4,) wxyz: metres per second, and per second
    squared. `joints_for` is the arm's inverse kinematics, which may raise `Unreachable`."""
    shift = target[0] - start[0]
    length = max(float(np.linalg.norm(shift)), _TURN * angle_between(start[1], target[1]))

    def joints_at(travelled: float) -> Floats:
        part = travelled / length if length else 1.0
        return joints_for((start[0] + part * shift, interpolate(start[1], target[1], part)))

    return Travel(length, joints_at, speed, acceleration)
