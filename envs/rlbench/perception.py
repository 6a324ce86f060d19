"""From what RLBench observes to point clouds of named parts and of the surroundings. Its cameras measure without noise,
and none is added."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from envs.mujoco import clouds
from envs.rlbench.exposed import Box
from envs.rlbench.simulator import BACKGROUND, Observation, Picture
from envs.rlbench.ttm.poses import rotated
from harness.protocols import PointCloud, Pose

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.protocols import Floats

_SURFACE = 0.005
"""What lies within this height of the table's top is the table, metres."""


def part(
    seen: Observation, handles: Collection[int], box: Box | None = None, frame: Pose | None = None
) -> PointCloud:
    """What all cameras see of some shapes and, if a box is given, of what lies in it in a frame."""
    points, normals = _gathered(seen, [mask_of(picture, handles) for picture in seen.pictures.values()])
    if box is not None and frame is not None:
        inside = within(points, box, frame)
        points, normals = points[inside], normals[inside]
    return clouds.thin(points, normals)


def mask_of(
    picture: Picture, handles: Collection[int], box: Box | None = None, frame: Pose | None = None
) -> NDArray[np.bool_]:
    """(H, W): where a picture shows some shapes or, if a box is given, what of them lies in it."""
    mask: NDArray[np.bool_] = np.isin(picture.handles, list(handles))
    if box is not None and frame is not None:
        mask[mask] = within(picture.points[mask], box, frame)
    return mask


def surroundings(seen: Observation, without: Collection[int], workspace: Floats) -> PointCloud:
    """Everything that is seen within the workspace (2, 3), but for some shapes."""
    hidden = [*without, BACKGROUND]
    masks = []
    for picture in seen.pictures.values():
        inside = np.asarray(
            ((picture.points >= workspace[0]) & (picture.points <= workspace[1])).all(axis=-1)
        )
        masks.append(~mask_of(picture, hidden) & inside)
    return clouds.thin(*_gathered(seen, masks))


def surface(seen: Observation, without: Collection[int], workspace: Floats) -> PointCloud:
    """The table's top: what is seen at the height of the workspace's floor."""
    slab = workspace.copy()
    slab[:, 2] = workspace[0, 2] - _SURFACE, workspace[0, 2] + _SURFACE
    return surroundings(seen, without, slab)


def within(points: Floats, box: Box, frame: Pose) -> NDArray[np.bool_]:
    """(N,): which of points (N, 3) lie in a box in a frame."""
    back = frame.quaternion * np.array([1.0, -1.0, -1.0, -1.0])
    local = rotated(back, points - frame.position)
    return np.asarray(((local >= box[0]) & (local <= box[1])).all(axis=1))


def normals(picture: Picture) -> Floats:
    """(H, W, 3), unit, towards the camera: across the neighbours that are nearest, which are on the same surface."""
    facing = np.cross(_slope(picture.points, 0), _slope(picture.points, 1))
    towards = picture.eye - picture.points
    length = np.linalg.norm(facing, axis=-1, keepdims=True)
    facing = np.where(length > 1e-15, facing / np.maximum(length, 1e-15), towards)
    facing *= np.where((facing * towards).sum(axis=-1, keepdims=True) < 0, -1.0, 1.0)
    unit: Floats = facing / np.maximum(np.linalg.norm(facing, axis=-1, keepdims=True), 1e-15)
    return unit


def _gathered(seen: Observation, masks: Collection[NDArray[np.bool_]]) -> tuple[Floats, Floats]:
    """Points (N, 3) and normals (N, 3) of what the masks of all pictures choose."""
    chosen = [
        (picture.points[mask], normals(picture)[mask])
        for picture, mask in zip(seen.pictures.values(), masks, strict=True)
        if mask.any()
    ]
    nothing = [(np.zeros((0, 3)), np.zeros((0, 3)))]
    points, facing = zip(*(chosen or nothing), strict=True)
    return np.concatenate(points), np.concatenate(facing)


def _slope(points: Floats, axis: int) -> Floats:
    """(H, W, 3): from each point to the nearer one of its two neighbours along an axis."""
    step = np.diff(points, axis=axis)
    edge = np.full_like(points.take([0], axis=axis), np.inf)
    before, after = np.concatenate([edge, step], axis=axis), np.concatenate([step, edge], axis=axis)
    nearer = np.linalg.norm(before, axis=-1) < np.linalg.norm(after, axis=-1)
    slope: Floats = np.where(nearer[..., None], before, after)
    return slope
