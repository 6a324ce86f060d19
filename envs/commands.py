"""Commands to a robot, checked and in numbers, for every environment alike."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.failures import MotionFailure
from harness.protocols import Pose

if TYPE_CHECKING:
    from harness.protocols import Floats

_NOT_NUMBERS = (TypeError, ValueError, OverflowError)
"""What is raised where numbers were wanted; the last for an integer that is beyond a float."""


def checked_pose(pose: Pose) -> Pose:
    """With arrays of its own and a unit quaternion. Raises `MotionFailure` for a wrong shape, a number that is not
    finite, and a quaternion of zero length."""
    try:
        position = np.array(pose.position, dtype=np.float64)
        quaternion = np.array(pose.quaternion, dtype=np.float64)
    except _NOT_NUMBERS as error:
        raise MotionFailure(f"a pose is a position (3,) and a quaternion (4,) of numbers: {error}") from None
    if position.shape != (3,) or quaternion.shape != (4,):
        raise MotionFailure(
            f"a pose is a position (3,) and a quaternion (4,), not {position.shape} and {quaternion.shape}"
        )
    if not (np.isfinite(position).all() and np.isfinite(quaternion).all()):
        raise MotionFailure(f"the pose is not finite: position {position}, quaternion {quaternion}")
    length = float(np.linalg.norm(quaternion))
    if length < 1e-6:
        raise MotionFailure("the quaternion has zero length")
    return Pose(position, quaternion / length)


def checked_action(action: Any) -> Floats:
    """(7,) float64, an array of its own; raises `MotionFailure` for another shape or a number that is not finite."""
    try:
        numbers = np.array(action, dtype=np.float64)
    except _NOT_NUMBERS as error:
        raise MotionFailure(f"an action is seven numbers: {error}") from None
    if numbers.shape != (7,):
        raise MotionFailure(f"an action is (7,): translation, rotation vector, gripper; not {numbers.shape}")
    if not np.isfinite(numbers).all():
        raise MotionFailure(f"the action is not finite: {numbers}")
    return numbers


def checked_speed(speed: Any, slowest: float, fastest: float) -> float:
    """A factor on the usual speed, cut to its limits; raises `MotionFailure` for what is no number above 0."""
    try:
        factor = float(speed)
    except _NOT_NUMBERS:
        raise MotionFailure(f"the speed is a positive number, not {speed!r}") from None
    if not (math.isfinite(factor) and factor > 0):
        raise MotionFailure(f"the speed is a positive number, not {factor}")
    return min(fastest, max(slowest, factor))


def checked_opening(opening: Any) -> float:
    """Of a gripper that opens or closes: 1 above 0.5, else 0. Raises `MotionFailure` for what is no number from 0 to 1."""
    try:
        value = float(opening)
    except _NOT_NUMBERS:
        value = math.nan
    if not 0.0 <= value <= 1.0:
        raise MotionFailure(f"the gripper's opening is a number from 0 to 1, not {opening!r}")
    return 1.0 if value > 0.5 else 0.0


def shortened(vector: Floats, limit: float) -> tuple[Floats, bool]:
    """The vector, no longer than `limit`, and whether it was."""
    length = float(np.linalg.norm(vector))
    return (vector * (limit / length), True) if length > limit * (1 + 1e-9) else (vector, False)
