"""Pushes: the closed form against trying everything, and the motions that a push is made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness.protocols import Motion, Pose
from methods.voxels.controller import (
    AS_GOOD,
    BEHIND,
    LONGEST,
    RETREAT,
    SHORTEST,
    Waypoint,
    best_push,
    go,
    push,
)

DOWN = np.array([0.0, 1.0, 0.0, 0.0])


class Arm:
    """Notes what it is told."""

    def __init__(self, opening: float = 1.0) -> None:
        self.opening = opening
        self.told: list[tuple[str, Any]] = []

    def gripper(self) -> float:
        return self.opening

    def set_gripper(self, opening: float) -> Motion:
        self.opening = opening
        self.told.append(("gripper", opening))
        return Motion(True)

    def move(self, pose: Pose, speed: float = 1.0) -> Motion:
        self.told.append(("move", (*pose.position.round(9), speed)))
        return Motion(True)

    def home(self) -> Motion:
        self.told.append(("home", None))
        return Motion(False, "blocked")


def tried(points: np.ndarray, target: np.ndarray) -> float:
    """How near the centroid gets at best over all points and 2001 distances: the model of fact page A4."""
    centroid = points.mean(axis=0)
    least = np.inf
    for point in points:
        direction = (target - point) / np.linalg.norm(target - point)
        distances = np.linspace(SHORTEST, LONGEST, 2001)[:, None]
        moved = centroid + distances * direction * (direction @ (centroid - point) > 0)
        least = min(least, float(np.linalg.norm(moved - target, axis=1).min()))
    return least


@pytest.mark.parametrize("seed", range(20))
def test_no_push_of_a_grid_of_distances_is_better(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(60, 3)) * 0.03
    target = rng.normal(size=3) * rng.choice([0.01, 0.05, 0.3])
    chosen = best_push(points, target)
    reached = float(np.linalg.norm(chosen.predicted - target))
    best = tried(points, target)
    assert best - 6e-5 <= reached <= best + AS_GOOD  # less a step of the grid
    assert SHORTEST <= chosen.distance <= LONGEST
    assert (points == chosen.contact).all(axis=1).any()
    np.testing.assert_allclose(np.linalg.norm(chosen.direction), 1)


def test_a_push_comes_from_behind() -> None:
    points = np.array([[-0.02, 0, 0], [0.02, 0, 0], [0, 0.02, 0], [0, -0.02, 0]])
    chosen = best_push(points, np.array([0.05, 0, 0]))
    np.testing.assert_allclose(chosen.contact, [-0.02, 0, 0])
    np.testing.assert_allclose(chosen.direction, [1, 0, 0])
    assert chosen.distance == pytest.approx(0.05)
    np.testing.assert_allclose(chosen.predicted, [0.05, 0, 0], atol=1e-12)


def test_a_near_target_is_pushed_to_not_pulled() -> None:
    """From either end the model reaches it: from the near one by going back, which would touch nothing."""
    chosen = best_push(np.array([[0.0, 0, 0], [0.06, 0, 0]]), np.array([0.02, 0, 0]))
    np.testing.assert_array_equal(chosen.contact, [0.06, 0, 0])
    assert chosen.distance == pytest.approx(0.01)
    np.testing.assert_allclose(chosen.predicted, [0.02, 0, 0], atol=1e-12)


def test_a_far_target_is_approached_by_the_longest_push() -> None:
    points = np.array([[-0.02, 0, 0], [0.02, 0, 0]])
    chosen = best_push(points, np.array([1.0, 0, 0]))
    assert chosen.distance == pytest.approx(LONGEST)
    np.testing.assert_allclose(chosen.predicted, [LONGEST, 0, 0])


def test_a_point_on_the_target_and_a_single_point() -> None:
    """A direction of zero length pushes nothing, and is no division by zero."""
    with np.errstate(all="raise"):
        alone = best_push(np.array([[0.1, 0.2, 0.3]]), np.array([0.1, 0.2, 0.3]))
        np.testing.assert_array_equal(alone.predicted, [0.1, 0.2, 0.3])
        both = best_push(np.array([[0.0, 0, 0], [0.04, 0, 0]]), np.array([0.04, 0, 0]))
    np.testing.assert_allclose(both.predicted, [0.04, 0, 0])


def test_the_motions_of_a_push() -> None:
    arm, seen = Arm(), []
    points = np.array([[-0.02, 0.5, 0.1], [0.02, 0.5, 0.1]])
    waypoint = Waypoint(Pose(np.zeros(3), DOWN), speed=0.5)
    target = np.array([0.05, 0.5, 0.1])
    push(arm, points, target, waypoint, lambda purpose, motion: seen.append((purpose, motion.reached)))  # type: ignore[arg-type]
    end = -0.02 + 0.05
    assert arm.told == [
        ("gripper", 0.0),
        ("move", (pytest.approx(-0.02 - BEHIND), 0.5, 0.1, 0.5)),
        ("move", (pytest.approx(end), 0.5, 0.1, 0.5)),
        ("move", (pytest.approx(end - RETREAT), 0.5, 0.1, 0.5)),
        ("home", None),
    ]
    assert [reached for _, reached in seen] == [True, True, True, True, False]
    assert [purpose for purpose, _ in seen] == ["gripper", "approach", "push", "retreat", "home"]


@pytest.mark.parametrize(
    ("before", "wanted", "commands"),
    [(1.0, 1.0, 0), (1.0, 0.2, 1), (0.0, 0.9, 1), (0.0, 0.0, 0), (1.0, 0.7, 0)],
)
def test_the_gripper_is_told_only_what_changes(before: float, wanted: float, commands: int) -> None:
    arm = Arm(before)
    waypoint = Waypoint(Pose(np.array([0.1, 0.2, 0.3]), DOWN), 2.0, wanted)
    go(arm, waypoint, lambda purpose, motion: None)  # type: ignore[arg-type]
    assert [what for what, _ in arm.told] == ["move"] + ["gripper"] * commands
    assert arm.told[0] == ("move", (0.1, 0.2, 0.3, 2.0))
