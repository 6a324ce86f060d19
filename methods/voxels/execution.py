"""`execute`: from value maps to motions (fact page A3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.failures import CodeFailure
from harness.protocols import Motion, Pose
from methods.voxels import controller
from methods.voxels.controller import Waypoint
from methods.voxels.grid import Grid
from methods.voxels.maps import Count, RotationMap, orientation
from methods.voxels.observation import Observation
from methods.voxels.planner import PlannerConfig, plan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.protocols import Floats, Manipulation

MapSource = Callable[[], Any]
"""Gives a value map of the newest observation; evaluated when a plan is made."""

REACHED = 0.01
"""Metres from the last waypoint at which the movable has arrived."""
MARGIN = 0.004
"""Metres that waypoints keep from the border of the workspace, beyond which motions are refused (A6.6)."""
NEAR_END = 3.0
"""Voxels from the end of the path within which the gripper map's rarer value is meant for the end."""
STRAIGHT = 0.5
"""Voxels by which a path may deviate from the straight line that replaces part of it."""


@dataclass(frozen=True)
class Maps:
    """The maps of one call; None is the default: obstacles none, speed 1, the gripper's last command, the
    current orientation. Without affordance the end effector stays where it is."""

    affordance: MapSource | None = None
    avoidance: MapSource | None = None
    rotation: MapSource | None = None
    velocity: MapSource | None = None
    gripper: MapSource | None = None


@dataclass
class Execution:
    """What one call did."""

    movable: str
    waypoints: list[list[float]] = field(default_factory=list)
    """[x, y, z] metres of the planned path."""
    motions: int = 0
    missed: list[str] = field(default_factory=list)
    """Reasons of motions that did not reach their target."""


def execute(
    env: Manipulation,
    grid: Grid,
    look: Callable[[], Observation],
    maps: Maps,
    count: Count,
    config: PlannerConfig | None = None,
) -> Execution:
    """Move what `look` observes as the maps say. Missed motions are counted and go on: what they led to is for
    the oracle to judge. Raises `PerceptionFailure`, `CodeFailure` for maps that are no maps, `StepLimit`."""
    config = config or PlannerConfig()
    movable = look()
    done = Execution(movable.name)

    def report(purpose: str, motion: Motion) -> None:
        done.motions += 1
        if not motion.reached:
            count("motion: not reached")
            done.missed.append(f"{purpose}: {motion.reason}")

    call = _Call(env, grid, maps, config)
    path = call.path(movable) if maps.affordance is not None else None
    if path is None:
        if movable.is_effector:
            controller.go(env, call.waypoint(grid.to_voxel(env.pose().position), env.pose().position), report)
        return done
    waypoints = call.waypoints(path, every=not movable.is_effector)
    done.waypoints = [[round(float(v), 4) for v in w.pose.position] for w in waypoints]
    final = waypoints[-1]
    for index, waypoint in enumerate(waypoints):
        here = movable.world_position
        if np.linalg.norm(here - final.pose.position) < REACHED:
            break
        ahead = round(float((waypoint.pose.position - here) @ (final.pose.position - here)), 6)
        if index < len(waypoints) - 1 and ahead <= 0:
            continue
        if movable.is_effector:
            controller.go(env, waypoint, report)
        else:
            controller.push(env, movable.points, waypoint.pose.position, waypoint, report)
        movable = look()
    if movable.is_effector:
        controller.go(env, final, report)
    return done


class _Call:
    """The maps of one call, evaluated now."""

    def __init__(self, env: Manipulation, grid: Grid, maps: Maps, config: PlannerConfig) -> None:
        self._env, self._grid, self._config = env, grid, config
        self._pose = env.pose()
        self._affordance = _values(maps.affordance, "affordance", grid)
        self._avoidance = _values(maps.avoidance, "avoidance", grid)
        self._velocity = _values(maps.velocity, "velocity", grid)
        self._gripper = _values(maps.gripper, "gripper", grid)
        self._rotation = None if maps.rotation is None else maps.rotation()
        if self._rotation is not None and not isinstance(self._rotation, RotationMap):
            raise CodeFailure("rotation_map has to come from get_empty_rotation_map()")

    def path(self, movable: Observation) -> Floats:
        """(N, 3) voxels."""
        assert self._affordance is not None
        points = self._env.scene_cloud(ignore_robot=True).points
        return plan(
            movable.position,
            self._affordance > 0,
            self._grid.occupancy(points),
            None if movable.is_effector else movable.occupancy_map,
            self._avoidance,
            self._config,
        )

    def waypoints(self, path: Floats, every: bool) -> list[Waypoint]:
        """Waypoints along the path: all of them (a push goes a few centimetres only), or without those that a
        straight line replaces."""
        voxels = np.rint(path).astype(int)
        openings = [self._opening(voxel) for voxel in voxels]
        openings[-1] = self._last_opening(voxels[-1], openings[-1])
        made = [
            self._made(voxel, self._grid.to_world(point), opening)
            for voxel, point, opening in zip(voxels, path, openings, strict=True)
        ]
        made[-1] = self._made(voxels[-1], self._grid.to_world(voxels[-1]), openings[-1])
        if every:
            return made[1:] or made  # the start is where the object is, but for rounding
        return [made[index] for index in straightened(path, made)]

    def waypoint(self, voxel: Any, position: Floats) -> Waypoint:
        """What the maps say at a voxel, for the end effector at a position."""
        return self._made(voxel, position, self._opening(voxel))

    def _made(self, voxel: Any, position: Floats, opening: float) -> Waypoint:
        quaternion = self._pose.quaternion if self._rotation is None else orientation(self._rotation, voxel)
        speed = 1.0 if self._velocity is None else float(self._velocity[tuple(voxel)])
        inside = np.clip(position, self._grid.low + MARGIN, self._grid.high - MARGIN)
        return Waypoint(Pose(inside, quaternion), speed if speed > 0 else 1.0, opening)

    def _opening(self, voxel: Any) -> float:
        return self._env.gripper() if self._gripper is None else float(self._gripper[tuple(voxel)])

    def _last_opening(self, voxel: Any, opening: float) -> float:
        """The rarer command of a gripper map that holds both, if it lies near the end of the path: "closed 1 cm
        around the handle" is meant for a path that ends a little beside it."""
        if self._gripper is None:
            return opening
        opened = self._gripper > 0.5
        opens = np.count_nonzero(opened)
        if opens in (0, opened.size):
            return opening
        rarer = 2 * opens < opened.size
        reach = int(NEAR_END)
        box = tuple(slice(max(int(v) - reach, 0), int(v) + reach + 1) for v in voxel)
        found = np.argwhere(opened[box] == rarer) + [part.start for part in box]
        near = bool((np.linalg.norm(found - voxel, axis=1) <= NEAR_END).any())
        return float(rarer) if near else opening


def straightened(path: Floats, waypoints: list[Waypoint]) -> list[int]:
    """Indices of the waypoints to keep: those where speed, gripper or orientation change, and those without
    which the path would deviate by more than `STRAIGHT`."""
    kept, anchor = [], 0
    for index in range(1, len(path)):
        last = index == len(path) - 1
        if (
            not last
            and _alike(waypoints[index], waypoints[index + 1])
            and _straight(path[anchor : index + 2])
        ):
            continue
        kept.append(index)
        anchor = index
    return kept or [len(path) - 1]


def _alike(one: Waypoint, other: Waypoint) -> bool:
    same = one.speed == other.speed and one.opening == other.opening
    return same and bool(np.array_equal(one.pose.quaternion, other.pose.quaternion))


def _straight(points: Floats) -> bool:
    """Whether all points lie near the line from the first to the last."""
    line = points[-1] - points[0]
    length = float(np.linalg.norm(line))
    if length < 1e-9:
        return False
    offsets = np.cross(points - points[0], line / length)
    return bool(np.linalg.norm(offsets, axis=1).max() <= STRAIGHT)


def _values(source: MapSource | None, name: str, grid: Grid) -> NDArray[np.float32] | None:
    """The map as a plain array. Raises `CodeFailure` for what is none."""
    if source is None:
        return None
    value = source()
    if not isinstance(value, np.ndarray) or value.shape != (grid.size,) * 3:
        raise CodeFailure(
            f"{name}_map has to come from get_empty_{name}_map(); it is a {type(value).__name__}"
        )
    try:
        array = np.asarray(value, dtype=np.float32)
    except (TypeError, ValueError, OverflowError) as error:
        raise CodeFailure(f"{name}_map holds what is no number: {error}") from None
    if not np.isfinite(array).all():
        raise CodeFailure(f"{name}_map holds numbers that are not finite")
    return array
