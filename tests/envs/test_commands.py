"""Commands are checked alike in every environment."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from envs.commands import checked_action, checked_opening, checked_pose, checked_speed, shortened
from harness.failures import MotionFailure
from harness.protocols import Pose

DOWN = np.array([0.0, 2.0, 0.0, 0.0])


def test_a_pose_gets_a_unit_quaternion_and_arrays_of_its_own() -> None:
    position = np.array([0.1, 0.2, 0.3])
    found = checked_pose(Pose(position, DOWN))
    position[0] = 9
    assert found.position.tolist() == [0.1, 0.2, 0.3]
    assert found.quaternion.tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize(
    ("position", "quaternion", "said"),
    [
        ("abc", DOWN, "of numbers"),
        (np.zeros(2), DOWN, r"not \(2,\) and \(4,\)"),
        (np.array([np.nan, 0, 0]), DOWN, "not finite"),
        (np.zeros(3), np.zeros(4), "zero length"),
        ([[1, 2], [3]], DOWN, "of numbers"),
        ([10**400, 0, 0], DOWN, "of numbers"),
    ],
)
def test_what_is_no_pose_is_the_methods_failure(position: Any, quaternion: Any, said: str) -> None:
    with pytest.raises(MotionFailure, match=said):
        checked_pose(Pose(position, quaternion))


@pytest.mark.parametrize(
    "action", [None, "no", np.zeros(6), np.full(7, np.inf), [[1], [2, 3]], [10**400] * 7]
)
def test_what_is_no_action_is_the_methods_failure(action: Any) -> None:
    with pytest.raises(MotionFailure):
        checked_action(action)


@pytest.mark.parametrize("speed", [0, -1.0, float("nan"), float("inf"), "fast", None, 10**400])
def test_a_speed_is_a_number_above_0(speed: Any) -> None:
    with pytest.raises(MotionFailure, match="positive number"):
        checked_speed(speed, 0.1, 3.0)


@pytest.mark.parametrize(
    "opening", [-0.01, 1.01, float("nan"), float("inf"), "open", None, [1.0, 0.0], 10**400]
)
def test_an_opening_is_a_number_from_0_to_1(opening: Any) -> None:
    with pytest.raises(MotionFailure, match="from 0 to 1, not"):
        checked_opening(opening)


def test_an_opening_above_a_half_opens() -> None:
    assert [checked_opening(opening) for opening in (0, 0.5, 0.51, True, "1", np.float32(1))] == [
        0,
        0,
        1,
        1,
        1,
        1,
    ]


def test_speeds_and_vectors_are_cut_to_their_limits() -> None:
    assert [checked_speed(speed, 0.1, 3.0) for speed in (0.01, 1, 9.0)] == [0.1, 1.0, 3.0]
    vector, cut = shortened(np.array([0.0, 3.0, 4.0]), 1.0)
    assert (vector.tolist(), cut) == (pytest.approx([0.0, 0.6, 0.8]), True)
    assert shortened(np.array([0.0, 0.6, 0.8]), 1.0)[1] is False
