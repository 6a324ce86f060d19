"""Point clouds from depth images: normals from differences between neighbours, and thinning to a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from harness.protocols import PointCloud

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.protocols import Floats

CELL = 0.004
"""Width of a cell of the thinning grid, metres."""
_EDGE = 0.02
"""Neighbours further apart in depth than this (metres) are taken for two surfaces."""


def smooth(depth: Floats) -> Floats:
    """Depth (..., H, W) averaged over 3x3 pixels of the same surface: single pixels are too noisy for normals."""
    padded = np.pad(depth, [(0, 0)] * (depth.ndim - 2) + [(1, 1), (1, 1)], mode="edge")
    height, width = depth.shape[-2:]
    total, count = np.zeros_like(depth), np.zeros_like(depth)
    for down in range(3):
        for across in range(3):
            neighbour = padded[..., down : down + height, across : across + width]
            same = np.abs(neighbour - depth) < _EDGE
            total += np.where(same, neighbour, 0.0)
            count += same
    averaged: Floats = total / np.maximum(count, 1)
    return averaged


def normals(depth: Floats, rays: Floats) -> Floats:
    """Unit normals (..., H, W, 3) in the frame of the camera, towards it, of the surface that a depth image
    (..., H, W) shows; `rays` (..., H, W, 3) are its pixels' directions per metre of depth (`rays.RayCamera`).

    With pixel steps u to the right and v down, the surface is P = depth (a, b, -1) and its normal is the cross
    product of P's derivatives, divided by what does not change its direction."""
    right, down = _slope(depth, -1), _slope(depth, -2)
    a, b = rays[..., 0], rays[..., 1]
    pitch = a[..., :1, 1:2] - a[..., :1, :1]
    facing = np.stack([right, -down, a * right - b * down + depth * pitch], axis=-1)
    facing /= np.sqrt(np.einsum("...i,...i->...", facing, facing))[..., None]
    return facing


def thin(points: Floats, directions: Floats, cell: float = CELL) -> PointCloud:
    """One point for each cell of a grid: the mean of the points (N, 3) in it, with the mean of their normals."""
    if len(points) == 0:
        return PointCloud(np.zeros((0, 3)), np.zeros((0, 3)))
    cells = np.floor(points / cell).astype(np.int64)
    cells -= cells.min(axis=0)
    _, extent_y, extent_z = cells.max(axis=0) + 1
    keys = (cells[:, 0] * extent_y + cells[:, 1]) * extent_z + cells[:, 2]
    _, member, count = np.unique(keys, return_inverse=True, return_counts=True)
    centres = _mean(points, member, count)
    facing = _mean(directions, member, count)
    length = np.linalg.norm(facing, axis=1, keepdims=True)
    # Two sides of a thin sheet in one cell cancel; the first point's normal stands for both.
    first = np.empty(len(count), np.int64)
    first[member[::-1]] = np.arange(len(member))[::-1]
    facing = np.where(length > 1e-3, facing / np.maximum(length, 1e-12), directions[first])
    return PointCloud(centres, facing)


def _mean(values: Floats, member: NDArray[np.intp], count: NDArray[np.intp]) -> Floats:
    sums = [np.bincount(member, weights=column) for column in values.T]
    mean: Floats = np.stack(sums, axis=1) / count[:, None]
    return mean


def _slope(depth: Floats, axis: int) -> Floats:
    """Change of the depth from pixel to pixel along an axis: across both neighbours, and at the edge of a surface
    to the one that is on it."""
    step = np.diff(depth, axis=axis)
    edge = np.full_like(depth.take([0], axis=axis), np.inf)
    before, after = np.concatenate([edge, step], axis=axis), np.concatenate([step, edge], axis=axis)
    far_before, far_after = np.abs(before), np.abs(after)
    chosen = np.where(far_before < far_after, before, after)
    inside = np.maximum(far_before, far_after) < _EDGE
    chosen[inside] = 0.5 * (before[inside] + after[inside])
    return chosen
