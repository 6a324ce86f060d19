"""Exact Euclidean distances to a set of voxels, and Gaussian smoothing, in NumPy and at the speed that planning
at every step needs. Equal to `scipy.ndimage.distance_transform_edt` and `gaussian_filter` (tests compare)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Squares = NDArray[np.integer[Any]]
    Box = tuple[slice, slice, slice]

TRUNCATE = 4.0
"""Standard deviations at which the Gaussian is cut, as in SciPy."""


def squared_distance_to(targets: NDArray[np.bool_]) -> Squares:
    """Squared distances in voxels to the nearest true voxel of `targets` (X, Y, Z), in its shape; whole numbers,
    so exact, and in 16 bits where they fit. Raises `ValueError` when there is no true voxel."""
    box = bounding_box(targets)
    if box is None:
        raise ValueError("there is no voxel to measure distances to")
    inside = targets[box]
    longest = max(targets.shape)
    kind = np.dtype(np.uint16 if 5 * longest**2 < 2**16 else np.int64)
    if inside.all():  # the usual target: a voxel, a box, a slab
        x, y, z = (
            _to_interval(part, size).astype(kind) for part, size in zip(box, targets.shape, strict=True)
        )
        return (x[:, None] + y)[..., None] + z
    nothing = 3 * longest**2
    squares = _along_lines(inside, box[0], targets.shape[0], nothing).astype(kind)
    for axis in (1, 2):  # separable: the nearest in each line, then in each plane, then anywhere
        squares = _spread(squares, axis, box[axis].start, targets.shape[axis], nothing)
    return np.ascontiguousarray(squares)


def bounding_box(mask: NDArray[Any]) -> Box | None:
    """The smallest box that holds all that is not zero in `mask` (X, Y, Z); None when nothing is there."""
    filled: NDArray[np.bool_] = np.asarray(mask, dtype=bool)
    plane = np.asarray(filled.any(axis=0))
    slices = filled.reshape(len(filled), -1).any(axis=1)
    sides = [np.flatnonzero(side) for side in (slices, plane.any(axis=1), plane.any(axis=0))]
    if len(sides[0]) == 0:
        return None
    x, y, z = (slice(int(side[0]), int(side[-1]) + 1) for side in sides)
    return x, y, z


def _to_interval(part: slice, size: int) -> NDArray[np.int64]:
    """Squared distances from each of `size` places on a line to an interval."""
    places = np.arange(size)
    away: NDArray[np.int64] = np.maximum(part.start - places, places - (part.stop - 1))
    return np.maximum(away, 0) ** 2


def _along_lines(inside: NDArray[np.bool_], part: slice, size: int, nothing: int) -> NDArray[np.int64]:
    """Squared distances along the first axis, widened to `size`; `nothing` on lines without a true voxel."""
    lines = np.zeros((size, *inside.shape[1:]), dtype=bool)
    lines[part] = inside
    place = np.arange(size)[:, None, None]
    before = np.maximum.accumulate(np.where(lines, place, -2 * size), axis=0)
    after = np.minimum.accumulate(np.where(lines, place, 3 * size)[::-1], axis=0)[::-1]
    nearest: NDArray[np.int64] = np.minimum(np.minimum(place - before, after - place) ** 2, nothing)
    return nearest


def _spread(squares: Squares, axis: int, low: int, size: int, nothing: int) -> Squares:
    """Widen one axis from the box to the grid: at i, the least of squares[j] + (i - j)^2, each j in turn over the
    whole grid. The axis is first in memory meanwhile, so that each pass runs over long rows."""
    sources = np.ascontiguousarray(np.moveaxis(squares, axis, 0))
    best = np.full((size, *sources.shape[1:]), nothing, dtype=squares.dtype)
    candidate = np.empty_like(best)
    places = np.arange(size)
    for place, source in enumerate(sources, start=low):
        if source.min() < nothing:
            away = ((places - place) ** 2).astype(squares.dtype)
            np.add(source, away[:, None, None], out=candidate)
            np.minimum(best, candidate, out=best)
    return np.moveaxis(best, 0, axis)


def smooth(values: NDArray[Any], sigma: float) -> Floats | None:
    """Gaussian smoothing of (X, Y, Z) numbers or truth values, mirrored at the borders: along each axis a product
    with one small matrix, which starts from the box that holds anything. None when nothing is there."""
    box = bounding_box(values)
    if box is None:
        return None
    along_x, along_y, along_z = (
        _smoothing_matrix(size, sigma)[:, part] for size, part in zip(values.shape, box, strict=True)
    )
    held = values[box].astype(np.float64)
    smoothed = (along_x @ held.reshape(len(held), -1)).reshape(-1, *held.shape[1:])
    smoothed = along_y @ smoothed
    smoothed = smoothed.reshape(-1, smoothed.shape[-1]) @ along_z.T
    return smoothed.reshape(values.shape)


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
