"""What the camera sees: point clouds of things that a detector finds by their names, and of the surroundings.

One depth camera that stands still. The robot is left out of the surroundings roughly: what is in a cylinder around the
hand is taken for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from envs.mujoco import clouds
from envs.robots.rotations import rotate
from harness.protocols import PointCloud, Pose

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from envs.robots.camera import Camera, Shot
    from harness.protocols import Floats, Image

    Mask = NDArray[np.bool_]

_BEYOND = 4.0
"""Metres; what is further away, or was not measured, is not there."""
_HAND = 0.11
"""Radius of the cylinder around the tool's axis that is taken for the robot, metres."""
_HELD = 0.06
"""What is nearer to the tool's point than this is taken for what a closed gripper holds, metres."""


class Detector(Protocol):
    def find(self, image: Image, name: str) -> Mask:
        """(H, W): the pixels that show a thing of that name; none where it is not seen."""
        ...


class Perception:
    """`forget` whenever something may have moved."""

    def __init__(self, camera: Camera, detector: Detector, pose: Sequence[float], workspace: Floats) -> None:
        """`pose` is that of the camera's optical frame: xyz in metres and wxyz; clouds end at `workspace` (2, 3)."""
        self._camera, self._detector, self._workspace = camera, detector, workspace
        self._eye = np.array(pose[:3], dtype=np.float64)
        quaternion = np.array(pose[3:], dtype=np.float64)
        quaternion /= np.linalg.norm(quaternion)
        # `clouds` has cameras look along -z with y up.
        self._axes = np.stack([rotate(quaternion, axis) for axis in np.diag([1.0, -1.0, -1.0])], axis=1)
        self._shot: Shot | None = None
        self._masks: dict[str, Mask] = {}

    def forget(self) -> None:
        self._shot = None
        self._masks.clear()

    def shot(self) -> Shot:
        if self._shot is None:
            self._shot = self._camera.shoot()
        return self._shot

    def mask(self, name: str) -> Mask:
        """(H, W): where a thing is seen."""
        if name not in self._masks:
            self._masks[name] = np.asarray(self._detector.find(self.shot().rgb, name), dtype=bool)
        return self._masks[name]

    def cloud(self, name: str) -> PointCloud:
        """What is seen of a thing within the workspace; empty for nothing."""
        return self._cloud(self.mask(name))

    def surroundings(self, tool: Pose, ignore_robot: bool, ignore_held: bool) -> PointCloud:
        """Everything within the workspace."""
        points, _ = self._placed()
        offset = points - tool.position
        keep = np.ones(points.shape[:2], dtype=bool)
        if ignore_robot:
            axis = rotate(tool.quaternion, np.array([0.0, 0.0, 1.0]))
            along = offset @ axis
            away = np.linalg.norm(offset - along[..., None] * axis, axis=-1)
            keep &= (along > 0.0) | (away > _HAND)
        if ignore_held:
            keep &= np.linalg.norm(offset, axis=-1) > _HELD
        return self._cloud(keep)

    def close(self) -> None:
        self._camera.close()

    def _cloud(self, mask: Mask) -> PointCloud:
        points, normals = self._placed()
        lower, upper = self._workspace
        kept = mask & self._measured() & ((points >= lower) & (points <= upper)).all(axis=-1)
        return clouds.thin(points[kept], normals[kept])

    def _measured(self) -> Mask:
        depth = self.shot().depth
        seen: Mask = np.isfinite(depth) & (depth > 0) & (depth < _BEYOND)
        return seen

    def _placed(self) -> tuple[Floats, Floats]:
        """Points and normals (H, W, 3) in the world."""
        shot = self.shot()
        depth = np.where(self._measured(), shot.depth, _BEYOND)
        height, width = depth.shape
        across = (np.arange(width) - shot.centre[0]) / shot.focal[0]
        up = -(np.arange(height) - shot.centre[1]) / shot.focal[1]
        rays = np.stack([*np.meshgrid(across, up), np.full(depth.shape, -1.0)], axis=-1)
        normals = clouds.normals(clouds.smooth(depth), rays)
        return rays * depth[..., None] @ self._axes.T + self._eye, normals @ self._axes.T
