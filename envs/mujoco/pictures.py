"""RGB pictures of a model's cameras drawn with rays: the model's colours and lights, hard shadows, no textures.

Slower than `gl` at high resolutions, and the same on every machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from envs.mujoco.rays import Bundles, Caster, Hits, RayCamera

Floats = NDArray[np.float64]
_REACH = 20.0
_BIAS = 0.004
"""Metres by which something has to be nearer to the light than a point to keep the light from it."""
_CONVEX = [
    mujoco.mjtGeom.mjGEOM_PLANE,
    mujoco.mjtGeom.mjGEOM_SPHERE,
    mujoco.mjtGeom.mjGEOM_CAPSULE,
    mujoco.mjtGeom.mjGEOM_ELLIPSOID,
    mujoco.mjtGeom.mjGEOM_CYLINDER,
    mujoco.mjtGeom.mjGEOM_BOX,
]
_FAR = 50.0
"""Distance at which a directional light is put, metres: its rays come from one point, too."""


@dataclass(frozen=True)
class _Surface:
    """N points that a camera sees, world frame."""

    points: Floats
    """(3, N)"""
    normals: Floats
    """(3, N), unit, towards the camera."""
    facing: Floats
    """(N,), cosine between the normal and the direction to the camera."""
    geoms: NDArray[np.int32]
    """(N,), the geom that is seen from outside, -1 where the camera is inside of it."""
    counts: NDArray[np.intp]
    """(B,), sizes of the groups of neighbours in which the points come."""


class RayPictures:
    """Draws the cameras of one model."""

    def __init__(self, model: Any, width: int, height: int) -> None:
        self._model = model
        self._size = (width, height)
        self._caster = Caster(model)
        self._convex = np.isin(model.geom_type, _CONVEX)
        self._cameras: dict[str, RayCamera] = {}

    def render(self, data: Any, camera: str) -> NDArray[np.uint8]:
        """RGB (H, W, 3)."""
        return self.view(data, camera)[0]

    def view(self, data: Any, camera: str) -> tuple[NDArray[np.uint8], Hits]:
        """RGB (H, W, 3), and what is where in it."""
        if camera not in self._cameras:
            self._cameras[camera] = RayCamera(self._model, camera, *self._size)
        eye = self._cameras[camera]
        hits = eye.cast(data, _REACH, normals=True)
        assert hits.normals is not None
        # Neighbours stay together, for the rays that ask for shadows; coordinates are (3, N), which is faster.
        seen = hits.geoms.ravel()[eye.order] >= 0
        pixels = eye.order[seen]
        counts = np.add.reduceat(seen, np.cumsum(eye.counts) - eye.counts, dtype=np.intp)
        geoms = hits.geoms.ravel()[pixels]
        depth = np.where(hits.geoms >= 0, hits.depth, 0.0)
        points = np.ascontiguousarray(eye.points(data, depth).reshape(-1, 3)[pixels].T)
        normals = np.ascontiguousarray(hits.normals.reshape(-1, 3)[pixels].T)
        outwards = eye.position(data)[:, None] - points
        outwards /= np.sqrt(_dot(outwards, outwards))
        facing = _dot(normals, outwards)
        # Inside a closed shape the surface is seen from behind; light it as the side that is seen.
        behind = facing < 0
        normals[:, np.flatnonzero(behind)] *= -1
        surface = _Surface(points, normals, np.abs(facing), np.where(behind, -1, geoms), counts)
        shades = self._colours()[:, geoms] * self._light(data, surface)
        picture = np.zeros((*eye.shape, 3), np.uint8)
        picture.reshape(-1, 3)[pixels] = (np.clip(shades, 0, 1) * 255 + 0.5).astype(np.uint8).T
        return picture, hits

    def close(self) -> None:
        self._cameras.clear()

    def _colours(self) -> Floats:
        """(3, ngeom), read anew because a task may paint."""
        model = self._model
        colours = np.array(model.geom_rgba[:, :3], dtype=np.float64)
        made = model.geom_matid >= 0
        colours[made] = model.mat_rgba[model.geom_matid[made], :3]
        return colours.T

    def _light(self, data: Any, surface: _Surface) -> Floats:
        """Light (3, N) that each point sends back, by the rules of fixed-function OpenGL without highlights."""
        model = self._model
        head = model.vis.headlight
        total = np.zeros(surface.points.shape)
        if head.active:
            facing = np.clip(surface.facing, 0, 1)
            total += np.array(head.ambient)[:, None] + facing * np.array(head.diffuse)[:, None]
        for index in np.flatnonzero(model.light_active).tolist():
            position, axis = np.array(data.light_xpos[index]), np.array(data.light_xdir[index])
            directional = model.light_type[index] == mujoco.mjtLightType.mjLIGHT_DIRECTIONAL
            if directional:
                position = np.array(model.stat.center) - _FAR * axis
            away = surface.points - position[:, None]
            distance = np.maximum(np.sqrt(_dot(away, away)), 1e-9)
            away /= distance
            strength = np.clip(-_dot(surface.normals, away), 0, 1)
            if not directional:
                strength *= self._cone(index, _dot(axis, away), distance)
            if model.light_castshadow[index]:
                self._shade(data, position, axis, away, distance, strength, surface)
            total += model.light_ambient[index][:, None] + strength * model.light_diffuse[index][:, None]
        return total

    def _shade(
        self,
        data: Any,
        position: Floats,
        axis: Floats,
        away: Floats,
        distance: Floats,
        strength: Floats,
        surface: _Surface,
    ) -> None:
        """Take the strength (N,) of a light from the points that lie in a shadow, by casting rays from the light."""
        lit = np.flatnonzero(strength > 0)
        bundle = np.repeat(np.arange(len(surface.counts)), surface.counts)[lit]
        counts = np.bincount(bundle, minlength=len(surface.counts))
        full = counts > 0
        counts = counts[full]
        if not len(counts):
            return
        rays, distance, geoms = np.ascontiguousarray(away[:, lit].T), distance[lit], surface.geoms[lit]
        frame = _facing(axis)
        bundles = Bundles.of(rays @ frame, counts)
        starts = bundles.ends - counts
        ends = surface.points[:, lit]
        lower = np.minimum(np.minimum.reduceat(ends, starts, axis=1).T, position)
        upper = np.maximum(np.maximum.reduceat(ends, starts, axis=1).T, position)
        met = self._caster.met(data, position, frame, bundles, lower, upper)
        # No convex thing casts a shadow on the side of it that faces the light.
        least, most = np.minimum.reduceat(geoms, starts), np.maximum.reduceat(geoms, starts)
        alone = np.flatnonzero((least == most) & (least >= 0) & self._convex[least])
        met[alone, least[alone]] = False
        _, reached, _ = self._caster.cast(data, position, rays, bundles.ends, met, 2 * _FAR)
        strength[lit[reached < distance - _BIAS]] = 0

    def _cone(self, index: int, cosine: Floats, distance: Floats) -> Floats:
        """How much of a spot's or a point light's strength arrives (N,)."""
        model = self._model
        constant, linear, square = model.light_attenuation[index]
        arriving: Floats = 1 / np.maximum(constant + linear * distance + square * distance**2, 1e-9)
        if model.light_type[index] == mujoco.mjtLightType.mjLIGHT_SPOT:
            inside = cosine >= np.cos(np.radians(model.light_cutoff[index]))
            arriving *= np.where(inside, np.clip(cosine, 0, 1) ** model.light_exponent[index], 0.0)
        return arriving


def _dot(first: Floats, second: Floats) -> Floats:
    """(N,) of vectors (3, N)."""
    product: Floats = first[0] * second[0] + first[1] * second[1] + first[2] * second[2]
    return product


def _facing(axis: Floats) -> Floats:
    """Rotation matrix of some frame whose z axis is against `axis` (3,), unit."""
    quaternion, matrix = np.empty(4), np.empty(9)
    mujoco.mju_quatZ2Vec(quaternion, -axis)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)
