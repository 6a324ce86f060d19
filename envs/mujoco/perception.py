"""What the cameras of a model measure now: depth, segmentation, point clouds of geoms and of the surroundings.

It looks when it is asked and keeps what it saw until the simulated time moves on. It draws no pictures."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from envs.mujoco import clouds
from envs.mujoco.noise import Noise
from envs.mujoco.rays import RayCamera

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.protocols import Floats, PointCloud

REACH = 4.0
"""Metres that the depth cameras see."""


@dataclass(frozen=True)
class Observation:
    """One look through all cameras; C cameras, world frame, metres."""

    depth: Floats
    """(C, H, W), with noise; infinite where nothing is within reach."""
    geoms: NDArray[np.int32]
    """(C, H, W), ids of geoms; -1 where nothing is."""
    points: Floats
    """(C, H, W, 3), from the depth and the camera poses that are believed, which differ from the true ones."""
    rotations: Floats
    """(C, 3, 3), the believed orientations of the cameras."""
    eyes: Floats
    """(C, 3), their believed positions."""
    rays: Floats
    """(C, H, W, 3), camera frame, per metre of depth."""
    moment: int
    """When, in simulation steps."""

    @cached_property
    def normals(self) -> Floats:
        """(C, H, W, 3), unit, towards the cameras."""
        even = clouds.smooth(np.where(self.geoms >= 0, self.depth, REACH))
        return _turned(clouds.normals(even, self.rays), self.rotations)


class Perception:
    """The depth cameras of one model. `start` first, at every reset."""

    def __init__(self, model: Any, data: Any, cameras: Sequence[str], pixels: int, workspace: Floats) -> None:
        """All cameras are square with `pixels` a side; clouds end at `workspace` (2, 3), metres."""
        self._model, self._data = model, data
        self._cameras = {name: RayCamera(model, name, pixels, pixels) for name in cameras}
        self._rays = np.stack([camera.rays for camera in self._cameras.values()])
        self._workspace = workspace
        self._noise: Noise | None = None
        self._last: Observation | None = None
        self._seen_at = -1.0

    @property
    def noise(self) -> Noise:
        """The trial's errors. Raises `RuntimeError` before the first trial."""
        if self._noise is None:
            raise RuntimeError("perception has no trial yet: call start first")
        return self._noise

    def start(self, noise: Noise) -> None:
        """Begin a trial with its own errors."""
        self._noise, self._last = noise, None

    def look(self) -> Observation:
        """The newest observation; casts rays only if the simulation has moved on."""
        now = float(self._data.time)
        if self._last is None or now != self._seen_at:
            self._last, self._seen_at = self._observe(self.noise), now
        return self._last

    def depth(self, camera: str) -> Floats:
        """(H, W), metres along the optical axis with noise, infinite where nothing is within reach."""
        depth: Floats = self.look().depth[list(self._cameras).index(camera)]
        return depth

    def segmentation(self, camera: str) -> NDArray[np.int32]:
        """(H, W), true ids of geoms; -1 where nothing is."""
        geoms: NDArray[np.int32] = self.look().geoms[list(self._cameras).index(camera)]
        return geoms

    def cloud(self, geoms: Collection[int], shift: Floats | None = None) -> PointCloud:
        """What is seen of some geoms, displaced by `shift` (3,); empty when no camera sees any of them."""
        seen = self.look()
        mask = self.noise.mask(self._marked(geoms)[seen.geoms], seen.moment)
        points = seen.points[mask]
        return clouds.thin(points if shift is None else points + shift, seen.normals[mask])

    def surroundings(self, without: Collection[int] = ()) -> PointCloud:
        """Everything that is seen within the workspace, but for some geoms."""
        seen = self.look()
        lower, upper = self._workspace
        mask = ~self._marked({*without, -1})[seen.geoms]
        mask &= ((seen.points >= lower) & (seen.points <= upper)).all(axis=-1)
        return clouds.thin(seen.points[mask], seen.normals[mask])

    def _marked(self, geoms: Collection[int]) -> NDArray[np.bool_]:
        """(ngeom + 1,), a table to look ids up in; the last entry is that of -1."""
        table = np.zeros(self._model.ngeom + 1, bool)
        table[list(geoms)] = True
        return table

    def _observe(self, noise: Noise) -> Observation:
        hits = [camera.cast(self._data, REACH) for camera in self._cameras.values()]
        moment = round(float(self._data.time) / float(self._model.opt.timestep))
        depth = noise.depth(np.stack([hit.depth for hit in hits]), moment)
        geoms = np.stack([hit.geoms for hit in hits])
        rotations = np.stack([camera.rotation(self._data) for camera in self._cameras.values()])
        eyes = np.stack([camera.position(self._data) for camera in self._cameras.values()])
        if noise.scale:
            eyes = eyes + np.einsum("cij,cj->ci", rotations, noise.camera_shift)
            rotations = np.stack([r @ _turn(t) for r, t in zip(rotations, noise.camera_turn, strict=True)])
        points = _placed(self._rays, np.where(geoms >= 0, depth, REACH), rotations, eyes)
        return Observation(depth, geoms, points, rotations, eyes, self._rays, moment)


def _placed(rays: Floats, depth: Floats, rotations: Floats, eyes: Floats) -> Floats:
    """World points (C, H, W, 3) of depth images (C, H, W)."""
    return _turned(rays * depth[..., None], rotations) + eyes[:, None, None]


def _turned(vectors: Floats, rotations: Floats) -> Floats:
    """Vectors (C, H, W, 3) of the cameras' frames in the world's."""
    turned: Floats = (vectors.reshape(len(vectors), -1, 3) @ rotations.transpose(0, 2, 1)).reshape(
        vectors.shape
    )
    return turned


def _turn(vector: Floats) -> Floats:
    """Rotation matrix of a rotation vector, radians."""
    angle = float(np.linalg.norm(vector))
    quaternion, matrix = np.empty(4), np.empty(9)
    mujoco.mju_axisAngle2Quat(quaternion, vector / max(angle, 1e-12), angle)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)
