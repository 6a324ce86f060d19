"""VoxPoser's greedy planner over value maps (fact page A4), from a start voxel to a target region. The costs are
those of the specified algorithm; what is saved is work on voxels that the path never meets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.failures import CodeFailure
from methods.voxels.distance import bounding_box, smooth, squared_distance_to

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from methods.voxels.distance import Squares
    from methods.voxels.grid import Voxels

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PlannerConfig:
    """Fact page A4, in voxels. Costs are compared to nine decimals, so that what is equal in exact arithmetic is
    a tie, which the first voxel in index order wins."""

    stop: float = 0.001
    window: int = 20
    """Savitzky-Golay window; the next lower odd number is used, and less on shorter paths."""
    order: int = 3
    target_weight: float = 2.0
    obstacle_weight: float = 1.0
    max_steps: int = 300
    sigma: float = 10.0
    spacing: float = 1.0
    max_curvature: float = 3.0
    push_skip: int = 5
    target_clearance: float = 15.0
    """Obstacles this near to a target are left out."""
    start_clearance: float = 15.0
    """The same around what moves, if it is an object."""
    effector_clearance: int = 10
    """Half the side of the box around the end effector in which obstacles are left out."""


DECIMALS = 9
REACH = 2
"""Voxels along each axis that a step may go."""


def plan(
    start: Voxels,
    targets: NDArray[np.bool_],
    scene: NDArray[np.bool_],
    movable: NDArray[np.bool_] | None = None,
    avoidance: NDArray[np.float32] | None = None,
    config: PlannerConfig | None = None,
) -> Floats:
    """A path (N, 3) in voxels, fractions allowed, from `start` to the region of true `targets`. `scene` holds the
    voxels seen without the robot, `movable` those of the object that moves, None for the end effector; an object
    is pushed, so it keeps the height of the start. A start in the region gives that one point.

    Raises `CodeFailure` for an empty region: the program that made the map set no target."""
    config = config or PlannerConfig()
    if not targets.any():
        raise CodeFailure("the affordance map has no target: no voxel of it is above 0")
    start = np.asarray(start, int)
    squares = squared_distance_to(targets)
    obstacle = obstacles(scene, squares, start, movable, avoidance, config)
    planar = movable is not None
    walked = _walk(start, squares, obstacle, planar, config)
    return finish(walked.astype(np.float64), squares, planar, config)


def obstacles(
    scene: NDArray[np.bool_],
    squares: Squares,
    start: Voxels,
    movable: NDArray[np.bool_] | None,
    avoidance: NDArray[np.float32] | None,
    config: PlannerConfig,
) -> NDArray[np.bool_] | Floats:
    """(S, S, S), truth values or numbers in 0 to 1: what is in the way (fact page A3). `squares` are the squared
    distances to the target; the rest is as in `plan`."""
    blocked: NDArray[np.bool_] = scene & (squares >= config.target_clearance**2)
    moving = None if movable is None else bounding_box(movable)
    if movable is not None and moving is not None:
        around = _widened(moving, int(config.start_clearance), movable.shape[0])
        blocked[around] &= squared_distance_to(movable[around]) >= config.start_clearance**2
    else:
        at = [slice(int(v), int(v) + 1) for v in start]
        blocked[_widened(at, config.effector_clearance, scene.shape[0])] = False
    return blocked if avoidance is None else np.clip(blocked + avoidance.astype(np.float64), 0, 1)


def _widened(box: Sequence[slice], by: int, size: int) -> tuple[slice, ...]:
    """A box with a margin, cut at the borders of the grid."""
    return tuple(slice(max(part.start - by, 0), min(part.stop + by, size)) for part in box)


def _walk(
    start: Voxels,
    squares: Squares,
    obstacle: NDArray[np.bool_] | Floats,
    planar: bool,
    config: PlannerConfig,
) -> Voxels:
    """(N, 3): step to the cheapest neighbour until a target is reached or no neighbour is cheaper."""
    cost = _cost(squares, obstacle, config)
    low, high = float(cost.min()), float(cost.max())
    scale = high - low or 1.0
    size = cost.shape[0]
    x, y, z = (int(v) for v in start)
    path = [(x, y, z)]
    for _ in range(config.max_steps):
        if squares[x, y, z] == 0:
            break
        x_low, y_low, z_low = max(x - REACH, 0), max(y - REACH, 0), z if planar else max(z - REACH, 0)
        z_high = z if planar else min(z + REACH, size - 1)
        around = cost[x_low : x + REACH + 1, y_low : y + REACH + 1, z_low : z_high + 1]
        costs = np.round((around - low) / scale, DECIMALS)
        here = (x - x_low, y - y_low, z - z_low)
        current = costs[here]
        costs[here] = np.inf
        best = int(costs.argmin())
        if costs.flat[best] >= current + config.stop:
            break
        cost[x, y, z] += scale  # 1 after scaling: not to come back
        i, j, k = np.unravel_index(best, costs.shape)
        x, y, z = x_low + int(i), y_low + int(j), z_low + int(k)
        path.append((x, y, z))
    return np.array(path)


def _cost(squares: Squares, obstacle: NDArray[np.bool_] | Floats, config: PlannerConfig) -> Floats:
    """The weighted sum of both parts, each scaled to 1 but not moved to 0; whoever looks at a voxel scales the
    sum, which saves passes over the whole grid."""
    cost = np.sqrt(squares, dtype=np.float64)
    spread = float(cost.max())  # a target is 0
    if spread > 0:
        cost *= config.target_weight / spread
    blocked = smooth(obstacle, config.sigma)
    if blocked is not None:
        spread = float(blocked.max() - blocked.min())
        if spread > 0:
            blocked *= config.obstacle_weight / spread
            cost += blocked
    return cost


def finish(path: Floats, squares: Squares, planar: bool, config: PlannerConfig) -> Floats:
    """Smooth the walked path, cut it where it bends too sharply, thin it and end it in the target region."""
    path = savitzky_golay(path, config.window, config.order)
    bends = np.flatnonzero(curvature(path) > config.max_curvature)
    bends = bends[bends >= 5]
    if len(bends):
        path = path[: int(0.9 * bends[0])]
    if len(path) > 1:
        step = float(np.linalg.norm(np.diff(path, axis=0), axis=1).mean())
        skip = round(config.spacing / step) if step > 0 else 1
        path = path[:: max(1, skip)]
    path = np.clip(path, 0, squares.shape[0] - 1)
    if squares[tuple(np.rint(path[-1]).astype(int))] > 0:
        end = _nearest_target(path[-1], squares)
        if planar:
            end[2] = path[-1, 2]
        path = np.vstack([path, end])
    if planar:
        path = np.vstack([path[: -1 : config.push_skip], path[-1]])
    return path


def _nearest_target(point: Floats, squares: Squares) -> Floats:
    """(3,) the target voxel nearest to a point (3,) in voxels. How far to look is known from the point's voxel."""
    voxel = np.rint(point).astype(int)
    far = int(np.sqrt(squares[tuple(voxel)])) + 2
    box = _widened([slice(int(v), int(v) + 1) for v in voxel], far, squares.shape[0])
    found = np.argwhere(squares[box] == 0) + [part.start for part in box]
    away = np.round(np.linalg.norm(found - point, axis=1), DECIMALS)
    nearest: Floats = found[away.argmin()].astype(np.float64)
    return nearest


def savitzky_golay(path: Floats, window: int, order: int) -> Floats:
    """Least-squares polynomial smoothing of (N, D), the ends by the polynomial of the first and last window
    (SciPy's mode "interp"). The window is odd and no longer than the path; a path of two points stays."""
    window = min(window, len(path))
    window -= 1 - window % 2
    if window <= order:
        return path
    half = window // 2
    powers = np.vander(np.arange(window) - half, order + 1)
    fit = powers @ np.linalg.pinv(powers)
    windows = np.lib.stride_tricks.sliding_window_view(path, window, axis=0)
    middle = windows @ fit[half]
    return np.vstack([fit[:half] @ path[:window], middle, fit[-half:] @ path[-window:]])


def curvature(path: Floats) -> Floats:
    """(N,) curvature of a path in three dimensions, 0 where it stands still."""
    if len(path) < 3:
        return np.zeros(len(path))
    first = np.gradient(path, axis=0)
    second = np.gradient(first, axis=0)
    bend = np.linalg.norm(np.cross(first, second), axis=1)
    speed = np.linalg.norm(first, axis=1) ** 3
    bends: Floats = np.divide(bend, speed, out=np.zeros(len(path)), where=speed > 1e-9)
    return bends
