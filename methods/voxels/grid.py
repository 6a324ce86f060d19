"""Between the world and a cubic grid of voxels laid over the workspace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Voxels = NDArray[np.int64]

AXES = {"x": 0, "y": 1, "z": 2}


@dataclass(frozen=True)
class Grid:
    """`size` voxels a side between the corners `low` and `high` (3,), metres. Voxel 0 is centred on `low`, the
    last one on `high`, so one voxel is extent / (size - 1) wide: for positions and for `cm2index` alike."""

    low: Floats
    high: Floats
    size: int = 100

    @classmethod
    def over(cls, workspace: Floats, size: int = 100) -> Grid:
        """The grid over a workspace (2, 3)."""
        return cls(np.asarray(workspace[0], float), np.asarray(workspace[1], float), size)

    @property
    def voxel(self) -> Floats:
        """(3,) edge lengths of a voxel, metres."""
        return (self.high - self.low) / (self.size - 1)

    def to_voxel(self, points: ArrayLike) -> Voxels:
        """Points (..., 3) in metres to voxel indices, clipped to the grid."""
        inside = np.clip(np.asarray(points, float), self.low, self.high)
        voxels: Voxels = np.rint((inside - self.low) / self.voxel).astype(np.int64)
        return voxels

    def to_world(self, voxels: ArrayLike) -> Floats:
        """Voxel positions (..., 3), fractions allowed, to metres."""
        return self.low + np.asarray(voxels, float) * self.voxel

    def occupancy(self, points: Floats) -> NDArray[np.bool_]:
        """(S, S, S): the voxels that hold a point. Points outside of the workspace are left out."""
        filled = np.zeros((self.size,) * 3, dtype=bool)
        inside = ((points >= self.low) & (points <= self.high)).all(axis=1)
        x, y, z = self.to_voxel(points[inside]).T
        filled[x, y, z] = True
        return filled

    def cm2index(self, cm: float, axis: Any) -> Any:
        """A distance in centimetres as a number of voxels along "x", "y", "z" or 0, 1, 2 (int), or along a
        direction (3,) (three ints). To the nearest voxel, but a distance other than 0 is at least one voxel:
        truncation turns 1 cm into nothing where a voxel is a little larger. Raises `ValueError` for another
        axis or a direction of zero length."""
        along = _axis(axis)
        if isinstance(along, int):
            return _count(float(cm), self.voxel[along])
        length = float(np.linalg.norm(along))
        if length == 0:
            raise ValueError("cm2index needs a direction that is not zero")
        parts = float(cm) * along / length
        return np.array([_count(part, width) for part, width in zip(parts, self.voxel, strict=True)])

    def index2cm(self, index: float, axis: Any = None) -> float:
        """A number of voxels in centimetres along an axis; along the mean of the axes without one."""
        if axis is None:
            return float(index * self.voxel.mean() * 100)
        along = _axis(axis)
        if not isinstance(along, int):
            raise ValueError("index2cm takes the axis x, y or z")
        return float(index * self.voxel[along] * 100)


def _axis(axis: Any) -> int | Floats:
    if isinstance(axis, str):
        if axis not in AXES:
            raise ValueError(f"the axis is {axis!r}; it can be x, y or z, or a direction of three numbers")
        return AXES[axis]
    if isinstance(axis, int | np.integer):
        if axis not in (0, 1, 2):
            raise ValueError(f"the axis is {axis}; it can be 0, 1 or 2")
        return int(axis)
    direction = np.asarray(axis, float)
    if direction.shape != (3,) or not np.isfinite(direction).all():
        raise ValueError("the axis can be x, y or z, or a direction of three numbers")
    return direction


def _count(cm: float, voxel: float) -> int:
    """Voxels in a length; parts under a tenth of a millimetre are nothing."""
    if abs(cm) < 0.01:
        return 0
    nearest = round(cm / 100 / voxel)
    return int(nearest) if nearest else int(np.sign(cm))
