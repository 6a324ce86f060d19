"""Depth, segmentation and surface normals of a camera by casting one ray a pixel (`mj_multiRay`); no OpenGL.

Whatever a method measures comes from here, so that it does not depend on the machine's graphics driver. Neighbouring
rays are cast together, without the geoms that none of them can meet: that changes no result and takes a third of
the time."""

from __future__ import annotations

import copy
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.protocols import Floats

VISIBLE = np.array([1, 1, 1, 0, 0, 0], dtype=np.uint8)
"""Geom groups that cameras see, as in MuJoCo's own renderer."""
_HIDDEN = 5
"""A group that they do not see."""
_SIDE = 28
"""Pixels along a bundle's side. Rays of smaller bundles meet fewer geoms, but each bundle costs as well."""
_MARGIN = 1e-9
"""Bundles are taken to be wider than their rays by this slope, so that rounding leaves nothing out."""

_LEAST = 1e-3
"""Rays that go less than this against z, as a share of their length, do not go that way."""


@dataclass(frozen=True)
class Hits:
    """What the rays met, row 0 at the top of the picture."""

    depth: Floats
    """(H, W), metres along the optical axis; infinite where nothing was met."""
    geoms: NDArray[np.int32]
    """(H, W), ids of geoms; -1 where nothing was met."""
    distance: Floats
    """(H, W), metres along the rays."""
    normals: Floats | None = None
    """(H, W, 3), unit, world frame; only when they were asked for."""

    def within(self, reach: float) -> NDArray[np.int32]:
        """(H, W), the geoms of a look that reaches no further than this; not further than this one."""
        return np.where(self.distance <= reach, self.geoms, np.int32(-1))


@dataclass(frozen=True)
class Bundles:
    """Rays from one point in B groups, one after the other, most of which go against the z axis of some frame."""

    ends: NDArray[np.intp]
    """(B,), how many rays there are up to the end of each."""
    low: Floats
    """(B, 2), the least that a bundle's rays go along x and y for each metre against z; NaN if one of them does not go
    that way."""
    high: Floats
    """(B, 2), the most."""

    @staticmethod
    def of(rays: Floats, counts: NDArray[np.intp]) -> Bundles:
        """`counts` (B,) are the sizes of the groups, `rays` (N, 3) are in the frame."""
        ends = np.cumsum(counts)
        low, high = np.zeros((len(counts), 2)), np.zeros((len(counts), 2))
        full = counts > 0
        if full.any():
            along, starts = -rays[:, 2:], (ends - counts)[full]
            slopes = np.divide(rays[:, :2], along, out=np.full((len(rays), 2), np.nan), where=along > _LEAST)
            low[full] = np.minimum.reduceat(slopes, starts) - _MARGIN
            high[full] = np.maximum.reduceat(slopes, starts) + _MARGIN
        return Bundles(ends, low, high)

    def corners(self) -> Floats:
        """(B, 4, 3), rays in the frame between which all of a bundle's are."""
        x, y = (np.stack([self.low[:, axis], self.high[:, axis]], axis=1) for axis in range(2))
        return np.stack([x[:, [0, 0, 1, 1]], y[:, [0, 1, 0, 1]], np.full((len(x), 4), -1.0)], axis=-1)


class Caster:
    """Casts rays at one model."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._visible = VISIBLE[np.clip(model.geom_group, 0, _HIDDEN)] > 0
        boxes = np.array(model.geom_aabb)
        planes = np.array(model.geom_type) == mujoco.mjtGeom.mjGEOM_PLANE
        boxes[planes, :3], boxes[planes, 3:] = 0.0, model.geom_size[planes] * [1.0, 1.0, 0.0]
        self._middles, self._halves = boxes[:, :3], boxes[:, 3:]
        self._unbounded = planes & (model.geom_size[:, :2] <= 0).any(axis=1)
        # MuJoCo's own bounds are coarser than the bundles', and it looks at them for every ray.
        self._reduced = copy.copy(model)
        self._reduced.body_bvhadr[:] = -1

    def met(
        self,
        data: Any,
        origin: Floats,
        frame: Floats,
        bundles: Bundles,
        lower: Floats | None = None,
        upper: Floats | None = None,
    ) -> NDArray[np.bool_]:
        """(B, ngeom), whether a bundle from a point can meet a geom: not, if the geom's bounding box is beside the
        bundle, or off the box from `lower` to `upper` (B, 3) in the world, where the rays end. `frame` (3, 3) is the
        bundles', its columns are the axes in the world."""
        axes = frame.T @ data.geom_xmat.reshape(-1, 3, 3)
        middle = (data.geom_xpos - origin) @ frame + (axes @ self._middles[..., None])[..., 0]
        half = axes * self._halves[:, None]
        # Rays that go away from the side of a bounding box that is nearest to the point miss the box.
        apart = np.einsum("gi,gij->gj", middle, axes)
        gaps = np.abs(apart) - self._halves
        nearest = np.arange(len(gaps)), gaps.argmax(axis=1)
        towards = axes[nearest[0], :, nearest[1]] * np.sign(apart[nearest])[:, None]
        beside = (gaps[nearest] > 0) & (bundles.corners() @ towards.T <= 0).all(axis=1)
        for slopes, side in ((bundles.low, -1), (bundles.high, 1)):
            for axis in range(2):
                # Of the plane through the origin that bounds the bundle on this side; NaN bounds nothing.
                tilt = slopes[:, axis, None]
                beyond = side * (middle[:, axis] + tilt * middle[:, 2])
                back = sum(np.abs(half[:, axis, own] + tilt * half[:, 2, own]) for own in range(3))
                beside |= beyond > back
        if lower is not None and upper is not None:
            turned = data.geom_xmat.reshape(-1, 3, 3)
            centre = data.geom_xpos + (turned @ self._middles[..., None])[..., 0]
            reach = np.abs(turned * self._halves[:, None]).sum(axis=-1)
            for axis in range(3):
                beside |= centre[:, axis] + reach[:, axis] < lower[:, axis, None]
                beside |= centre[:, axis] - reach[:, axis] > upper[:, axis, None]
        return np.asarray((~beside | self._unbounded) & self._visible)

    def cast(
        self,
        data: Any,
        origin: Floats,
        rays: Floats,
        ends: NDArray[np.intp],
        met: NDArray[np.bool_],
        reach: float,
        normals: bool = False,
    ) -> tuple[NDArray[np.int32], Floats, Floats | None]:
        """The geoms (N,) that unit `rays` (N, 3) from a point meet within `reach` metres, -1 for none, at which
        distance (N,), infinite for none, and the normals (N, 3) there; all in the world frame. Bundles of rays, which
        end at `ends` (B,), meet nothing but what `met` (B, ngeom) says."""
        model, reduced, count = self._model, self._reduced, len(rays)
        geoms, distance = np.full(count, -1, np.int32), np.full(count, np.inf)
        surface = np.zeros((count, 3)) if normals else None
        # Colours may have changed, and what is transparent is not met.
        reduced.geom_rgba[:], reduced.mat_rgba[:] = model.geom_rgba, model.mat_rgba
        groups = np.where(met, model.geom_group, _HIDDEN)
        kept = np.zeros((len(met), model.nbody), bool)
        bundle, geom = np.nonzero(met)
        kept[bundle, model.geom_bodyid[geom]] = True
        sizes = np.where(kept, model.body_geomnum, 0)
        starts = np.concatenate([[0], ends[:-1]])
        for index in np.flatnonzero(met.any(axis=1) & (ends > starts)).tolist():
            part = slice(starts[index], ends[index])
            reduced.geom_group[:], reduced.body_geomnum[:] = groups[index], sizes[index]
            mujoco.mj_multiRay(
                reduced,
                data,
                origin,
                rays[part].reshape(-1),
                VISIBLE,
                True,
                -1,
                geoms[part],
                distance[part],
                None if surface is None else surface[part].reshape(-1),
                int(ends[index] - starts[index]),
                reach,
            )
        # MuJoCo skips what lies wholly beyond the reach; a plane or a wall that begins within it is still met further on.
        geoms[distance > reach] = -1
        distance[geoms < 0] = np.inf
        return geoms, distance, surface


class RayCamera:
    """One camera of a model at one resolution, with square pixels."""

    def __init__(self, model: Any, name: str, width: int, height: int) -> None:
        self._id = model.camera(name).id
        self._caster = Caster(model)
        self.shape = (height, width)
        focal = 0.5 * height / np.tan(np.radians(model.cam_fovy[self._id]) / 2)
        across, down = np.meshgrid(np.arange(width) + 0.5 - width / 2, np.arange(height) + 0.5 - height / 2)
        self.rays: Floats = np.stack([across / focal, -down / focal, np.full(self.shape, -1.0)], axis=-1)
        """(H, W, 3), camera frame, as long as they are when the depth is one metre."""
        self._lengths = np.linalg.norm(self.rays, axis=-1)
        row, column = np.indices(self.shape) // _SIDE
        tile = (row * (column.max() + 1) + column).ravel()
        self.order = np.argsort(tile, kind="stable")
        """(H * W,), the pixels of the flattened picture, bundle by bundle."""
        self.counts = np.bincount(tile)
        """(B,), pixels of each bundle."""
        units = (self.rays / self._lengths[..., None]).reshape(-1, 3)
        self._units = units[self.order]
        self._bundles = Bundles.of(self._units, self.counts)

    def position(self, data: Any) -> Floats:
        """(3,), world frame."""
        return np.array(data.cam_xpos[self._id])

    def rotation(self, data: Any) -> Floats:
        """(3, 3), columns are the camera's right, up and backward directions."""
        return np.array(data.cam_xmat[self._id].reshape(3, 3))

    def cast(self, data: Any, reach: float, normals: bool = False, only: Collection[int] = ()) -> Hits:
        """Look once. Geoms further than `reach` metres are not seen. With `only`, what is seen is right where these geoms
        are; elsewhere nothing may be seen, which is faster."""
        frame, here = self.rotation(data), self.position(data)
        rays = np.ascontiguousarray(self._units @ frame.T)
        met = self._caster.met(data, here, frame, self._bundles)
        if only:
            met[~met[:, list(only)].any(axis=1)] = False
        geoms, distance, surface = self._caster.cast(
            data, here, rays, self._bundles.ends, met, reach, normals
        )
        far = self._picture(distance)
        return Hits(
            depth=far / self._lengths,
            geoms=self._picture(geoms),
            distance=far,
            normals=None if surface is None else self._picture(surface),
        )

    def points(self, data: Any, depth: Floats) -> Floats:
        """World positions (H, W, 3) of the pixels of a depth image (H, W)."""
        local = self.rays * depth[..., None]
        world: Floats = local @ self.rotation(data).T + self.position(data)
        return world

    def _picture(self, values: NDArray[Any]) -> NDArray[Any]:
        """(H, W, ...) of what there is for each ray in the order of the bundles."""
        picture = np.empty_like(values)
        picture[self.order] = values
        return picture.reshape(*self.shape, *values.shape[1:])
