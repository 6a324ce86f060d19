"""Exact Euclidean distances to a set of voxels, and Gaussian smoothing, in NumPy and at the speed that planning
at every step needs. Equal to `scipy.ndimage.distance_transform_edt` and `gaussian_filter` (tests compare)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FEW = 12
"""Up to so many voxels, distances to each of them are taken directly."""
TRUNCATE = 4.0
"""Standard deviations at which the Gaussian is cut, as in SciPy."""


def distance_to(targets: NDArray[np.bool_]) -> Floats:
    """(S, S, S) distances in voxels to the nearest true voxel. Raises `ValueError` when there is none."""
    return np.sqrt(squared_distance_to(targets))


def squared_distance_to(targets: NDArray[np.bool_]) -> Floats:
    """Squares of `distance_to`; whole numbers, so exact."""
    voxels = np.argwhere(targets)
    if len(voxels) == 0:
        raise ValueError("there is no voxel to measure distances to")
    size = targets.shape[0]
    if len(voxels) <= FEW:
        line = np.arange(size, dtype=np.float64)
        squares = (line - voxels[..., None]) ** 2  # (N, 3, S)
        nearest = np.full(targets.shape, np.inf)
        for x, y, z in squares:
            np.minimum(nearest, (x[:, None] + y)[..., None] + z, out=nearest)
        return nearest
    low, high = voxels.min(axis=0), voxels.max(axis=0) + 1
    box = targets[low[0] : high[0], low[1] : high[1], low[2] : high[2]]
    squares = _along_first(box, int(low[0]), size)
    for axis in (1, 2):  # separable: the nearest in each line, then in each plane, then anywhere
        squares = _spread(squares, axis, int(low[axis]), size)
    return squares


def _along_first(box: NDArray[np.bool_], low: int, size: int) -> Floats:
    """Squared distance along the first axis to the nearest true voxel of the same line; inf without one."""
    lines = np.zeros((size, *box.shape[1:]), dtype=bool)
    lines[low : low + len(box)] = box
    index = _column(np.arange(size), 3)
    before = np.maximum.accumulate(np.where(lines, index, -np.inf), axis=0)
    after = np.minimum.accumulate(np.where(lines, index, np.inf)[::-1], axis=0)[::-1]
    return np.minimum(index - before, after - index) ** 2


def _spread(squares: Floats, axis: int, low: int, size: int) -> Floats:
    """Widen one axis from the box to the grid: at i, the least of squares[j] + (i - j)^2. Lines along the axis
    that are the same everywhere need one j only, and neighbours in one line are worth a look only as far as
    the values differ."""
    lines = np.moveaxis(squares, axis, 0)
    count = len(lines)
    grid = np.arange(size)
    nearest = np.clip(grid - low, 0, count - 1)
    best = lines[nearest] + _column((grid - low - nearest) ** 2, lines.ndim)
    finite = np.isfinite(lines)
    reach = count
    if finite.all():
        reach = int(np.sqrt((lines.max(axis=0) - lines.min(axis=0)).max()))
    if 2 * reach + 1 > count:  # each source once, over the whole grid
        for one in range(count):
            np.minimum(best, lines[one] + _column((grid - low - one) ** 2, lines.ndim), out=best)
    else:
        for step in range(-reach, reach + 1):
            source = nearest + step
            valid = (source >= 0) & (source < count)
            away = _column((grid[valid] - low - source[valid]) ** 2, lines.ndim)
            best[valid] = np.minimum(best[valid], lines[source[valid]] + away)
    return np.moveaxis(best, 0, axis)


def _column(values: NDArray[np.int64], ndim: int) -> Floats:
    return values.astype(np.float64).reshape(-1, *(1,) * (ndim - 1))


def smooth(values: NDArray[np.float64], sigma: float) -> Floats:
    """Gaussian smoothing of (S, S, S), mirrored at the borders: along each axis a product with one small
    matrix, which starts from the box that holds anything."""
    filled = np.argwhere(values)
    if len(filled) == 0:
        return np.zeros(values.shape)
    low, high = filled.min(axis=0), filled.max(axis=0) + 1
    box = values[low[0] : high[0], low[1] : high[1], low[2] : high[2]].astype(np.float64)
    for axis in range(3):
        matrix = _smoothing_matrix(values.shape[axis], sigma)[:, low[axis] : high[axis]]
        moved = np.moveaxis(box, axis, 0)
        product = matrix @ np.ascontiguousarray(moved).reshape(len(moved), -1)
        box = np.moveaxis(product.reshape(len(matrix), *moved.shape[1:]), 0, axis)
    return np.ascontiguousarray(box)


@cache
def _smoothing_matrix(size: int, sigma: float) -> Floats:
    """(size, size): smoothing along one axis as a linear map, mirrored at the border as (d c b a | a b c d)."""
    radius = int(TRUNCATE * sigma + 0.5)
    weights = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    weights /= weights.sum()
    matrix = np.zeros((size, size))
    for offset, weight in zip(range(-radius, radius + 1), weights, strict=True):
        source = (np.arange(size) + offset) % (2 * size)
        source = np.where(source >= size, 2 * size - 1 - source, source)
        np.add.at(matrix, (np.arange(size), source), weight)
    return matrix
