"""From waypoints to motions: the end effector goes there; an object is pushed there (fact page A4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from harness.protocols import Motion, Pose

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.protocols import Floats, Manipulation

SHORTEST, LONGEST = -0.02, 0.09
"""Metres that one push may move along its direction."""
AS_GOOD = 0.001
"""Metres within which pushes are taken to be as good as each other."""
BEHIND, RETREAT = 0.08, 0.064
"""Metres behind the contact at which a push starts and ends."""

Report = Callable[[str, Motion], None]
"""Told of each motion: what it was for, and how it ended."""


@dataclass(frozen=True)
class Waypoint:
    """A pose (metres, wxyz), a factor on the usual speed and an opening of the gripper."""

    pose: Pose
    speed: float = 1.0
    opening: float = 1.0


@dataclass(frozen=True)
class Push:
    """Where to touch an object, in which direction (unit) and how far to push, metres."""

    contact: Floats
    direction: Floats
    distance: float
    predicted: Floats
    """(3,) the centroid afterwards, if it moves as a rigid body."""


def go(env: Manipulation, waypoint: Waypoint, report: Report) -> None:
    """Move the end effector to a waypoint, then open or close if that changes."""
    report("move", env.move(waypoint.pose, waypoint.speed))
    set_opening(env, waypoint.opening, report)


def set_opening(env: Manipulation, opening: float, report: Report) -> None:
    if (opening > 0.5) != (env.gripper() > 0.5):
        report("gripper", env.set_gripper(opening))


def best_push(points: Floats, target: Floats) -> Push:
    """The push that brings the centroid of `points` (N, 3) nearest to `target` (3,).

    The model of the fact page, whose random shooting this replaces by its optimum: touched at a point of the
    object, pushed from there towards the target by a distance between `SHORTEST` and `LONGEST`, the object is
    translated by that, and by nothing if the push points away from its centroid. Of pushes that are as good,
    the longest: to the model a negative distance pulls, in truth it touches nothing."""
    centroid = points.mean(axis=0)
    towards = target - points
    length = np.linalg.norm(towards, axis=1, keepdims=True)
    directions: NDArray[np.float64] = np.divide(
        towards, length, out=np.zeros_like(towards), where=length > 1e-9
    )
    pushes = ((centroid - points) * directions).sum(axis=1) > 0
    distances = np.clip(((target - centroid) * directions).sum(axis=1), SHORTEST, LONGEST)
    distances = np.where(pushes, distances, 0.0)
    moved = centroid + distances[:, None] * directions
    away = np.linalg.norm(moved - target, axis=1)
    best = int(np.where(away <= away.min() + AS_GOOD, distances, -np.inf).argmax())
    return Push(points[best], directions[best], float(distances[best]), moved[best])


def push(env: Manipulation, points: Floats, target: Floats, waypoint: Waypoint, report: Report) -> None:
    """Close the gripper, go behind the contact, push, retreat, go home."""
    chosen = best_push(points, target)
    set_opening(env, 0.0, report)
    end = chosen.contact + chosen.distance * chosen.direction
    for purpose, position in (
        ("approach", chosen.contact - BEHIND * chosen.direction),
        ("push", end),
        ("retreat", end - RETREAT * chosen.direction),
    ):
        report(purpose, env.move(replace(waypoint.pose, position=position), waypoint.speed))
    report("home", env.home())
