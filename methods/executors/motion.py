"""Chunks of small actions towards a pose of the tool, planned from where it is now. Nothing here sees an object.

Metres, radians, world frame. A gripper that points straight down is described by its yaw: at 0 its fingers open along y
and its camera is on the side of +x, at a quarter turn along x, and its camera is on the side of +y."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from methods.lmp.rotations import qinverse, qmult

if TYPE_CHECKING:
    from harness.protocols import Floats

OPEN, CLOSED = 1.0, -1.0
_GAIN = 0.55
"""Part of what is left that one action takes, so that the tool is slow where it ends."""
_ROLL_LIMIT = 2.7
"""The wrist's last joint ends at half a turn against the arm's direction; this is how far we go."""
_DOWN = np.array([0.0, 0.0, 1.0, 0.0])


class Planner:
    """Plans from one pose, (3,) and (4,) wxyz; `limits` are those of `Actuation.action_limits`."""

    def __init__(
        self, position: Floats, quaternion: Floats, limits: tuple[float, float], horizon: int
    ) -> None:
        self._start, self._facing = position, quaternion
        self._limits, self._horizon = limits, horizon

    def towards(self, position: Floats, yaw: float, fingers: float, speed: float = 1.0) -> Floats:
        """Straight to a place, pointing down; `speed` is a factor on the limit of translation. The wrist turns within its
        range, which may be the longer way round."""
        roll = _roll(yaw, position)
        at, facing, actions = self._start, self._facing, []
        for _ in range(self._horizon):
            shift = shortened(_GAIN * (position - at), speed * self._limits[0])
            after = at + shift
            now = _wrapped(yaw_of(facing) - _azimuth(at))
            # Step by step, so that the turn never goes the shorter way round, beyond the wrist's end.
            part = roll if abs(roll - now) < 1 else now + np.sign(roll - now)
            turning = shortened(0.7 * turn(facing, down(part + _azimuth(after))), self._limits[1])
            actions.append([*shift, *turning, fingers])
            at, facing = after, _turned(facing, turning)
        return np.array(actions)

    def reach(self, position: Floats, quaternion: Floats, fingers: float) -> Floats:
        """Straight to a pose, the shortest way round."""
        at, facing, actions = self._start, self._facing, []
        for _ in range(self._horizon):
            shift = shortened(_GAIN * (position - at), self._limits[0])
            turning = shortened(0.7 * turn(facing, quaternion), self._limits[1])
            actions.append([*shift, *turning, fingers])
            at, facing = at + shift, _turned(facing, turning)
        return np.array(actions)

    def still(self, fingers: float) -> Floats:
        return np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, fingers], (self._horizon, 1))


def down(yaw: float) -> Floats:
    """(4,), a gripper straight down."""
    return qmult([np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)], _DOWN)


def yaw_of(quaternion: Floats) -> float:
    """Of a gripper that points down, so that `down` of it is the orientation again; radians."""
    w, x, y, z = quaternion
    return float(np.arctan2(-2 * (x * y - w * z), 1 - 2 * (x * x + z * z)))


def nearest_yaw(yaw: float, now: float, position: Floats) -> float:
    """Of a yaw and the one half a turn from it, which look the same to what is grasped, the one within the wrist's range
    that is nearer to how the gripper stands."""
    options = [option for option in (yaw, yaw + np.pi) if abs(_roll(option, position)) < _ROLL_LIMIT]
    return min(options, key=lambda option: abs(_roll(option, position) - _wrapped(now - _azimuth(position))))


def possible(yaw: float, position: Floats) -> bool:
    """Whether the wrist turns as far as that there."""
    return abs(_roll(yaw, position)) < _ROLL_LIMIT


def shortened(vector: Floats, limit: float) -> Floats:
    """No longer than the limit."""
    length = float(np.linalg.norm(vector))
    return vector * (limit / length) if length > limit else vector


def angle_off(quaternion: Floats, other: Floats) -> float:
    """Angle between two orientations, radians."""
    return float(np.linalg.norm(turn(quaternion, other)))


def _roll(yaw: float, position: Floats) -> float:
    """Of the wrist against the arm's direction, in -pi to pi."""
    return _wrapped(yaw - _azimuth(position))


def _azimuth(position: Floats) -> float:
    """Direction of a place as seen from the arm's base, which is the world's origin."""
    return float(np.arctan2(position[1], position[0]))


def _wrapped(angle: float) -> float:
    return float((angle + np.pi) % (2 * np.pi) - np.pi)


def from_vector(vector: Floats) -> Floats:
    """(4,), the rotation of a rotation vector (3,)."""
    angle = float(np.linalg.norm(vector))
    axis = vector / angle if angle > 0 else vector
    return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis)])


def _turned(quaternion: Floats, vector: Floats) -> Floats:
    """The orientation after a rotation vector in world axes."""
    return qmult(from_vector(vector), quaternion)


def turn(first: Floats, second: Floats) -> Floats:
    """(3,), rotation vector of the shortest turn from one orientation to another."""
    w, *rest = qmult(second, qinverse(first))
    axis = np.array(rest)
    if w < 0:
        w, axis = -w, -axis
    length = float(np.linalg.norm(axis))
    if length < 1e-9:
        return np.zeros(3)
    vector: Floats = axis * (2 * np.arctan2(length, w) / length)
    return vector
