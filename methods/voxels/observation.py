"""What `detect` gives: an object as voxels of a grid."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from methods.voxels.grid import Grid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.protocols import Floats, Manipulation
    from methods.voxels.grid import Voxels

SURFACE_MARGIN = 0.1
"""Part of the workspace that is left out on each side of the supporting surface (fact page A2)."""


@dataclass(frozen=True)
class Observation:
    """An object at one moment. Voxel indices unless said otherwise."""

    name: str
    position: Voxels
    """(3,) of the mean point."""
    aabb: Voxels
    """(2, 3): lowest and highest voxel along each axis."""
    normal: Floats
    """(3,) unit vector, world frame: the mean of the surface's normals."""
    world_position: Floats
    """(3,) mean point, metres."""
    points: Floats
    """(N, 3) metres; empty for the end effector and the surface."""
    _grid: Grid = field(repr=False)
    """Not for programs: it is the one that plans are made on."""
    is_effector: bool = False

    @cached_property
    def occupancy_map(self) -> NDArray[np.bool_]:
        """(S, S, S): the voxels that hold a point of the object."""
        return self._grid.occupancy(self.points)


def observe(env: Manipulation, grid: Grid, name: str) -> Observation:
    """Look for an object by name. Raises `PerceptionFailure` when there is none or none is seen."""
    asked = " ".join(name.lower().split()) if isinstance(name, str) else name
    nothing = np.empty((0, 3))
    if asked in env.effector_names:
        pose = env.pose()
        voxel = grid.to_voxel(pose.position)
        towards = _pointing(pose.quaternion)
        return Observation(
            str(name),
            voxel,
            np.stack([voxel, voxel]),
            towards,
            pose.position.copy(),
            nothing,
            grid,
            is_effector=True,
        )
    if asked in env.surface_names:
        margin = SURFACE_MARGIN * (grid.high - grid.low)
        low, high = grid.low + margin, grid.high - margin
        low[2] = high[2] = grid.low[2]
        middle = (low + high) / 2
        up = np.array([0.0, 0.0, 1.0])
        return Observation(
            str(name), grid.to_voxel(middle), grid.to_voxel(np.stack([low, high])), up, middle, nothing, grid
        )
    cloud = env.cloud(name)
    voxels = grid.to_voxel(cloud.points)
    mean = cloud.points.mean(axis=0)
    normal = cloud.normals.mean(axis=0)
    length = float(np.linalg.norm(normal))
    normal = normal / length if length > 1e-9 else np.array([0.0, 0.0, 1.0])
    aabb = np.stack([voxels.min(axis=0), voxels.max(axis=0)])
    return Observation(name, grid.to_voxel(mean), aabb, normal, mean, cloud.points, grid)


def _pointing(quaternion: Floats) -> Floats:
    """(3,) the tool's z axis in the world."""
    w, x, y, z = quaternion
    return np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
