"""RGB pictures of a model's cameras drawn with rays: the model's colours and lights, hard shadows, no textures.

Slower than `gl` at high resolutions, and the same on every machine."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from envs.mujoco.rays import Bundles, Caster, Hits, RayCamera

Floats = NDArray[np.float64]
_REACH = 20.0
_BIAS = 0.004
"""Metres by which something has to be nearer to the light than a point to keep the light from it."""
_FAR = 50.0
"""Distance at which a directional light is put, metres: its rays come from one point, too."""


class RayPictures:
    """Draws the cameras of one model."""

    def __init__(self, model: Any, width: int, height: int) -> None:
        self._model = model
        self._size = (width, height)
        self._caster = Caster(model)
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
        # What is near in the picture stays together, for the rays that ask for shadows.
        seen = hits.geoms.ravel()[eye.order] >= 0
        pixels = eye.order[seen]
        counts = np.add.reduceat(seen, np.cumsum(eye.counts) - eye.counts, dtype=np.intp)
        points = eye.points(data, np.where(hits.geoms >= 0, hits.depth, 0.0)).reshape(-1, 3)[pixels]
        normals = hits.normals.reshape(-1, 3)[pixels]
        outwards = eye.position(data) - points
        outwards /= np.linalg.norm(outwards, axis=1)[:, None]
        # Inside a closed shape the surface is seen from behind; light it as the side that is seen.
        normals = np.where((normals * outwards).sum(axis=1)[:, None] < 0, -normals, normals)
        light = self._light(data, points, normals, outwards, counts)
        picture = np.zeros((*eye.shape, 3))
        picture.reshape(-1, 3)[pixels] = self._colours()[hits.geoms.ravel()[pixels]] * light
        return (np.clip(picture, 0, 1) * 255 + 0.5).astype(np.uint8), hits

    def close(self) -> None:
        self._cameras.clear()

    def _colours(self) -> Floats:
        """(ngeom, 3), read anew because a task may paint."""
        model = self._model
        colours = np.array(model.geom_rgba[:, :3], dtype=np.float64)
        made = model.geom_matid >= 0
        colours[made] = model.mat_rgba[model.geom_matid[made], :3]
        return colours

    def _light(
        self, data: Any, points: Floats, normals: Floats, outwards: Floats, counts: NDArray[np.intp]
    ) -> Floats:
        """Light (N, 3) that each point sends back, by the rules of fixed-function OpenGL without highlights. `counts`
        (B,) are how many points there are in each bundle of neighbours."""
        model = self._model
        head = model.vis.headlight
        total = np.zeros((len(points), 3))
        if head.active:
            facing = np.clip((normals * outwards).sum(axis=1), 0, 1)
            total += np.array(head.ambient) + facing[:, None] * np.array(head.diffuse)
        for index in np.flatnonzero(model.light_active).tolist():
            position, axis = np.array(data.light_xpos[index]), np.array(data.light_xdir[index])
            directional = model.light_type[index] == mujoco.mjtLightType.mjLIGHT_DIRECTIONAL
            if directional:
                position = np.array(model.stat.center) - _FAR * axis
            away = points - position
            distance = np.maximum(np.linalg.norm(away, axis=1), 1e-9)
            away /= distance[:, None]
            strength = np.clip(-(normals * away).sum(axis=1), 0, 1)
            if not directional:
                strength *= self._cone(index, away @ axis, distance)
            if model.light_castshadow[index]:
                self._shade(data, position, axis, away, distance, strength, counts)
            total += model.light_ambient[index] + strength[:, None] * model.light_diffuse[index]
        return total

    def _shade(
        self,
        data: Any,
        position: Floats,
        axis: Floats,
        away: Floats,
        distance: Floats,
        strength: Floats,
        counts: NDArray[np.intp],
    ) -> None:
        """Take the strength (N,) of a light from the points that lie in a shadow, by casting rays from the light."""
        lit = strength > 0
        bundle = np.repeat(np.arange(len(counts)), counts)
        frame = _facing(axis)
        rays = away[lit]
        bundles = Bundles.of(rays @ frame, np.bincount(bundle[lit], minlength=len(counts)))
        _, reached, _ = self._caster.cast(data, position, frame, rays, bundles, 2 * _FAR)
        strength[np.flatnonzero(lit)[reached < distance[lit] - _BIAS]] = 0

    def _cone(self, index: int, cosine: Floats, distance: Floats) -> Floats:
        """How much of a spot's or a point light's strength arrives (N,)."""
        model = self._model
        constant, linear, square = model.light_attenuation[index]
        arriving: Floats = 1 / np.maximum(constant + linear * distance + square * distance**2, 1e-9)
        if model.light_type[index] == mujoco.mjtLightType.mjLIGHT_SPOT:
            inside = cosine >= np.cos(np.radians(model.light_cutoff[index]))
            arriving *= np.where(inside, np.clip(cosine, 0, 1) ** model.light_exponent[index], 0.0)
        return arriving


def _facing(axis: Floats) -> Floats:
    """Rotation matrix of some frame whose z axis is against `axis` (3,), unit."""
    quaternion, matrix = np.empty(4), np.empty(9)
    mujoco.mju_quatZ2Vec(quaternion, -axis)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)
