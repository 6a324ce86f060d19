"""Depth, segmentation and surface normals of a camera by casting one ray a pixel (`mj_multiRay`); no OpenGL.

Whatever a method measures comes from here, so that it does not depend on the machine's graphics driver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.protocols import Floats

VISIBLE = np.array([1, 1, 1, 0, 0, 0], dtype=np.uint8)
"""Geom groups that cameras see, as in MuJoCo's own renderer."""


@dataclass(frozen=True)
class Hits:
    """What the rays met, row 0 at the top of the picture."""

    depth: Floats
    """(H, W), metres along the optical axis; infinite where nothing was met."""
    geoms: NDArray[np.int32]
    """(H, W), ids of geoms; -1 where nothing was met."""
    normals: Floats | None = None
    """(H, W, 3), unit, world frame; only when they were asked for."""


class RayCamera:
    """One camera of a model at one resolution, with square pixels."""

    def __init__(self, model: Any, name: str, width: int, height: int) -> None:
        self._model = model
        self._id = model.camera(name).id
        self.shape = (height, width)
        focal = 0.5 * height / np.tan(np.radians(model.cam_fovy[self._id]) / 2)
        across, down = np.meshgrid(np.arange(width) + 0.5 - width / 2, np.arange(height) + 0.5 - height / 2)
        self.rays: Floats = np.stack([across / focal, -down / focal, np.full(self.shape, -1.0)], axis=-1)
        """(H, W, 3), camera frame, as long as they are when the depth is one metre."""
        self._lengths = np.linalg.norm(self.rays, axis=-1)
        self._units = (self.rays / self._lengths[..., None]).reshape(-1, 3)

    def position(self, data: Any) -> Floats:
        """(3,), world frame."""
        return np.array(data.cam_xpos[self._id])

    def rotation(self, data: Any) -> Floats:
        """(3, 3), columns are the camera's right, up and backward directions."""
        return np.array(data.cam_xmat[self._id].reshape(3, 3))

    def cast(self, data: Any, reach: float, normals: bool = False) -> Hits:
        """Look once. Geoms further than `reach` metres are not seen."""
        count = self._units.shape[0]
        directions = np.ascontiguousarray(self._units @ self.rotation(data).T)
        geoms, distance = np.empty(count, np.int32), np.empty(count)
        surface = np.empty(3 * count) if normals else None
        _cast(self._model, data, self.position(data), directions, geoms, distance, surface, reach)
        geoms, distance = geoms.reshape(self.shape), distance.reshape(self.shape)
        depth = np.where(geoms >= 0, distance / self._lengths, np.inf)
        return Hits(depth, geoms, None if surface is None else surface.reshape(*self.shape, 3))

    def points(self, data: Any, depth: Floats) -> Floats:
        """World positions (H, W, 3) of the pixels of a depth image (H, W)."""
        local = self.rays * depth[..., None]
        world: Floats = local @ self.rotation(data).T + self.position(data)
        return world


def distances(model: Any, data: Any, origin: Floats, directions: Floats, reach: float) -> Floats:
    """How far (N,) rays from one point along unit `directions` (N, 3) go before they meet something; infinite
    where they meet nothing within `reach`."""
    count = directions.shape[0]
    geoms, distance = np.empty(count, np.int32), np.empty(count)
    _cast(model, data, origin, np.ascontiguousarray(directions), geoms, distance, None, reach)
    return np.where(geoms >= 0, distance, np.inf)


def _cast(
    model: Any,
    data: Any,
    origin: Floats,
    directions: Floats,
    geoms: NDArray[np.int32],
    distance: Floats,
    normals: Floats | None,
    reach: float,
) -> None:
    mujoco.mj_multiRay(
        model,
        data,
        origin,
        directions.reshape(-1),
        VISIBLE,
        True,
        -1,
        geoms,
        distance,
        normals,
        len(geoms),
        reach,
    )
    # MuJoCo skips what lies wholly beyond the reach; a plane or a wall that begins within it is still met further on.
    geoms[distance > reach] = -1
