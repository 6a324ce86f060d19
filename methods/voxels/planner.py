"""VoxPoser's greedy planner over value maps (fact page A4), from a start voxel to a target region. The costs are
those of the specified algorithm; what is saved is work on voxels that the path never meets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from harness.failures import CodeFailure
from methods.voxels.distance import distance_to, smooth, squared_distance_to

if TYPE_CHECKING:
    from numpy.typing import NDArray

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


def obstacles(
    scene: NDArray[np.bool_],
    targets: NDArray[np.bool_],
    start: Voxels,
    movable: NDArray[np.bool_] | None,
    avoidance: NDArray[np.float32] | None,
    config: PlannerConfig,
) -> Floats:
    """(S, S, S) in 0 to 1: what is in the way (fact page A3). `scene` is what is seen without the robot,
    `movable` the voxels of the object that moves, None for the end effector."""
    size = scene.shape[0]
    free = squared_distance_to(targets) < config.target_clearance**2
    if movable is not None and movable.any():
        free |= squared_distance_to(movable) < config.start_clearance**2
    else:
        low = np.clip(start - config.effector_clearance, 0, size)
        high = np.clip(start + config.effector_clearance + 1, 0, size)
        free[low[0] : high[0], low[1] : high[1], low[2] : high[2]] = True
    blocked = (scene & ~free).astype(np.float64)
    return blocked if avoidance is None else np.clip(blocked + np.asarray(avoidance), 0, 1)


def plan(
    start: Voxels,
    targets: NDArray[np.bool_],
    obstacle: Floats,
    planar: bool = False,
    config: PlannerConfig | None = None,
) -> Floats:
    """A path (N, 3) in voxels, fractions allowed, from `start` to the region of true `targets`; with `planar` it
    keeps the height of the start (pushing). A start in the region gives that one point.

    Raises `CodeFailure` for an empty region: the program that made the map set no target."""
    config = config or PlannerConfig()
    if not targets.any():
        raise CodeFailure("the affordance map has no target: no voxel of it is above 0")
    walked = _walk(np.asarray(start, int), targets, obstacle, planar, config)
    return finish(walked.astype(np.float64), targets, planar, config)


def _walk(
    start: Voxels, targets: NDArray[np.bool_], obstacle: Floats, planar: bool, config: PlannerConfig
) -> Voxels:
    """(N, 3): step to the cheapest neighbour until a target is reached or no neighbour is cheaper."""
    cost = _unit(
        config.target_weight * _unit(distance_to(targets))
        + config.obstacle_weight * _unit(smooth(obstacle, config.sigma))
    )
    around = _neighbours(planar)
    here = start
    path = [here]
    for _ in range(config.max_steps):
        if targets[tuple(here)]:
            break
        options = here + around
        inside = ((options >= 0) & (options < cost.shape[0])).all(axis=1)
        options = options[inside]
        costs = np.round(cost[tuple(options.T)], DECIMALS)
        best = int(costs.argmin())
        if costs[best] >= round(float(cost[tuple(here)]), DECIMALS) + config.stop:
            break
        cost[tuple(here)] += 1  # not to come back
        here = options[best]
        path.append(here)
    return np.array(path)


@cache
def _neighbours(planar: bool) -> Voxels:
    """Offsets (124, 3) within two voxels, or (24, 3) in the plane, in index order."""
    reach = np.arange(-2, 3)
    offsets: Voxels = np.stack(
        np.meshgrid(reach, reach, [0] if planar else reach, indexing="ij"), axis=-1
    ).reshape(-1, 3)
    around: Voxels = offsets[(offsets != 0).any(axis=1)]
    return around


def finish(path: Floats, targets: NDArray[np.bool_], planar: bool, config: PlannerConfig) -> Floats:
    """Smooth the walked path, cut it where it bends too sharply, thin it and end it in the target region."""
    path = savitzky_golay(path, config.window, config.order)
    bends = np.flatnonzero(curvature(path) > config.max_curvature)
    bends = bends[bends >= 5]
    if len(bends):
        path = path[: max(1, int(0.9 * bends[0]))]
    if len(path) > 1:
        step = float(np.linalg.norm(np.diff(path, axis=0), axis=1).mean())
        skip = round(config.spacing / step) if step > 0 else 1
        path = path[:: max(1, skip)]
    size = targets.shape[0]
    path = np.clip(path, 0, size - 1)
    if not targets[tuple(np.rint(path[-1]).astype(int))]:
        voxels = np.argwhere(targets)
        end = voxels[((voxels - path[-1]) ** 2).sum(axis=1).argmin()].astype(np.float64)
        if planar:
            end[2] = path[-1, 2]
        path = np.vstack([path, end])
    if planar:
        path = np.vstack([path[: -1 : config.push_skip], path[-1]])
    return path


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


def _unit(values: Floats) -> Floats:
    """Scaled to 0 to 1; all 0 when they are all equal."""
    low, high = float(values.min()), float(values.max())
    if high == low:
        return np.zeros_like(values)
    values = values - low
    values /= high - low
    return values
