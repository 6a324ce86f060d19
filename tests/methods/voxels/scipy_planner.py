"""The planner of fact page A3 and A4 with SciPy, written plainly and apart from `methods.voxels.planner`: what its
paths are compared to, and what the benchmark times. It shares no code with it and takes no short cuts."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import distance_transform_edt, gaussian_filter
from scipy.signal import savgol_filter

CLEARANCE = 15
BOX = 10
STOP = 0.001
STEPS = 300
WINDOW, ORDER = 20, 3
MAX_CURVATURE = 3.0
PUSH_SKIP = 5


def preprocess(scene, targets, start, movable=None, avoidance=None):
    """Obstacles in 0 to 1: the scene without what is near a target or the start, plus the avoidance map."""
    free = distance_transform_edt(~targets) < CLEARANCE
    if movable is not None and movable.any():
        free |= distance_transform_edt(~movable) < CLEARANCE
    else:
        x, y, z = (int(v) for v in start)
        free[
            max(x - BOX, 0) : x + BOX + 1,
            max(y - BOX, 0) : y + BOX + 1,
            max(z - BOX, 0) : z + BOX + 1,
        ] = True
    obstacle = np.where(free, 0.0, scene.astype(float))
    if avoidance is not None:
        obstacle = obstacle + avoidance.astype(float)
    return np.clip(obstacle, 0, 1)


def minmax(values):
    """Scaled to 0 to 1, all 0 if they are equal."""
    spread = values.max() - values.min()
    return (values - values.min()) / spread if spread > 0 else np.zeros_like(values)


def cost_map(targets, obstacle):
    distance = distance_transform_edt(~targets)
    return minmax(2 * minmax(distance) + minmax(gaussian_filter(obstacle, sigma=10, mode="reflect")))


def walk(start, targets, obstacle, planar=False):
    """(N, 3) voxels from the start to where the greedy steps end."""
    cost = cost_map(targets, obstacle)
    here = tuple(int(v) for v in start)
    path = [here]
    for _ in range(STEPS):
        if targets[here]:
            break
        low = [max(v - 2, 0) for v in here]
        high = [min(v + 2, size - 1) for v, size in zip(here, cost.shape, strict=True)]
        if planar:
            low[2] = high[2] = here[2]
        window = np.round(cost[tuple(slice(a, b + 1) for a, b in zip(low, high, strict=True))], 9)
        current = window[tuple(v - a for v, a in zip(here, low, strict=True))]
        window[tuple(v - a for v, a in zip(here, low, strict=True))] = np.inf
        if not window.min() < current + STOP:
            break
        offset = np.unravel_index(window.argmin(), window.shape)
        cost[here] += 1
        here = tuple(int(a + o) for a, o in zip(low, offset, strict=True))
        path.append(here)
    return np.array(path)


def curvature(path):
    if len(path) < 3:
        return np.zeros(len(path))
    bends = []
    first = np.gradient(path, axis=0)
    second = np.gradient(first, axis=0)
    for velocity, acceleration in zip(first, second, strict=True):
        speed = np.linalg.norm(velocity)
        still = speed**3 <= 1e-9
        bends.append(0.0 if still else np.linalg.norm(np.cross(velocity, acceleration)) / speed**3)
    return np.array(bends)


def finish(path, targets, planar=False):
    """Smoothed, cut where it bends, thinned to about one voxel a step, ended at a target, clipped."""
    path = path.astype(float)
    window = min(WINDOW, len(path))
    if window % 2 == 0:
        window -= 1
    if window > ORDER:
        path = savgol_filter(path, window, ORDER, axis=0, mode="interp")
    for index, bend in enumerate(curvature(path)):
        if index >= 5 and bend > MAX_CURVATURE:
            path = path[: int(0.9 * index)]
            break
    if len(path) > 1:
        step = np.linalg.norm(path[1:] - path[:-1], axis=1).mean()
        skip = max(1, round(1 / step)) if step > 0 else 1
        path = path[::skip]
    path = np.clip(path, 0, targets.shape[0] - 1)
    if not targets[tuple(np.rint(path[-1]).astype(int))]:
        voxels = np.argwhere(targets)
        nearest = voxels[np.argmin(np.round(np.linalg.norm(voxels - path[-1], axis=1), 9))].astype(float)
        if planar:
            nearest[2] = path[-1][2]
        path = np.concatenate([path, [nearest]])
    if planar:
        path = np.concatenate([path[:-1][::PUSH_SKIP], path[-1:]])
    return path


def plan(start, targets, obstacle, planar=False):
    return finish(walk(start, targets, obstacle, planar), targets, planar)
