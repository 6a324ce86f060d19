"""Rotations as generated code calls them: quaternions are wxyz, Euler angles are radians about the fixed
x, then y, then z axis of the world."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


def qmult(first: ArrayLike, second: ArrayLike) -> Floats:
    """The rotation `second` followed by `first`, both in world axes; (4,)."""
    w1, x1, y1, z1 = _numbers(first, 4, "quaternion")
    w2, x2, y2, z2 = _numbers(second, 4, "quaternion")
    return np.array(
        [
            w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2,
            w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2,
            w1 * y2 - x1 * z2 + y1 * w2 + z1 * x2,
            w1 * z2 + x1 * y2 - y1 * x2 + z1 * w2,
        ]
    )


def qinverse(quaternion: ArrayLike) -> Floats:
    """The rotation back; (4,). Raises `ValueError` for a quaternion of zero length."""
    w, x, y, z = _numbers(quaternion, 4, "quaternion")
    squared = w * w + x * x + y * y + z * z
    if squared == 0:
        raise ValueError("a quaternion of zero length has no inverse")
    inverse: Floats = np.array([w, -x, -y, -z]) / squared
    return inverse


def euler2quat(roll: float, pitch: float, yaw: float) -> Floats:
    """Turn by `roll` about x, then by `pitch` about y, then by `yaw` about z; (4,)."""
    halves = _numbers([roll, pitch, yaw], 3, "rotation") / 2
    (cr, cp, cy), (sr, sp, sy) = np.cos(halves), np.sin(halves)
    return np.array(
        [
            cr * cp * cy + sr * sp * sy,
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
        ]
    )


def quat2euler(quaternion: ArrayLike) -> Floats:
    """(3,): roll, pitch, yaw; the inverse of `euler2quat`. At a pitch of 90 degrees, where only the sum of
    roll and yaw is known, yaw takes all of it."""
    w, x, y, z = _unit(_numbers(quaternion, 4, "quaternion"), "quaternion")
    sine = float(2 * (w * y - z * x))
    up, across = 1 - 2 * (x * x + y * y), 2 * (w * x + y * z)
    cosine = float(np.hypot(up, across))
    if cosine < 1e-7:
        return np.array([0.0, np.copysign(np.pi / 2, sine), 2 * float(np.arctan2(z, w))])
    return np.array(
        [
            np.arctan2(across, up),
            np.arctan2(sine, cosine),
            np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)),
        ]
    )


def rotate(quaternion: ArrayLike, vector: ArrayLike) -> Floats:
    """`vector` (3,) turned by the rotation; (3,)."""
    unit = _unit(_numbers(quaternion, 4, "quaternion"), "quaternion")
    pure = np.concatenate([[0.0], _numbers(vector, 3, "vector")])
    return qmult(qmult(unit, pure), qinverse(unit))[1:]


def point_at(direction: ArrayLike, start: ArrayLike) -> Floats:
    """The orientation (4,) whose z axis, the way the gripper points, lies along `direction` (3,), reached
    from the orientation `start` (4,) by the smallest turn; of two opposite ways, about the gripper's x axis.
    Raises `ValueError` for a direction of zero length."""
    target = _unit(_numbers(direction, 3, "direction"), "direction")
    unit = _unit(_numbers(start, 4, "quaternion"), "quaternion")
    now = rotate(unit, [0, 0, 1])
    cosine = float(now @ target)
    turn = (
        np.concatenate([[0.0], rotate(unit, [1, 0, 0])])
        if cosine < -1 + 1e-9
        else np.concatenate([[1 + cosine], np.cross(now, target)])
    )
    return qmult(_unit(turn, "quaternion"), unit)


def _numbers(value: ArrayLike, count: int, what: str) -> Floats:
    numbers = np.asarray(value, dtype=np.float64).reshape(-1)
    if numbers.shape != (count,) or not np.isfinite(numbers).all():
        raise ValueError(f"a {what} has {count} finite numbers, not {value!r}")
    return numbers


def _unit(vector: Floats, what: str) -> Floats:
    length = float(np.linalg.norm(vector))
    if length == 0:
        raise ValueError(f"a {what} cannot have zero length")
    return vector / length
