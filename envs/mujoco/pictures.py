"""RGB pictures of a model's cameras drawn with rays: the model's colours and lights, hard shadows, no textures.

Slower than `gl` at high resolutions, and the same on every machine."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from envs.mujoco.rays import RayCamera, distances

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
        self._cameras: dict[str, RayCamera] = {}

    def render(self, data: Any, camera: str) -> NDArray[np.uint8]:
        """RGB (H, W, 3)."""
        if camera not in self._cameras:
            self._cameras[camera] = RayCamera(self._model, camera, *self._size)
        eye = self._cameras[camera]
        hits = eye.cast(data, _REACH, normals=True)
        assert hits.normals is not None
        seen = hits.geoms >= 0
        points = eye.points(data, np.where(seen, hits.depth, 0.0))[seen]
        normals = hits.normals[seen]
        outwards = eye.position(data) - points
        outwards /= np.linalg.norm(outwards, axis=1)[:, None]
        # Inside a closed shape the surface is seen from behind; light it as the side that is seen.
        normals = np.where((normals * outwards).sum(axis=1)[:, None] < 0, -normals, normals)
        light = self._light(data, points, normals, outwards)
        picture = np.zeros((*eye.shape, 3))
        picture[seen] = self._colours()[hits.geoms[seen]] * light
        return (np.clip(picture, 0, 1) * 255 + 0.5).astype(np.uint8)

    def close(self) -> None:
        self._cameras.clear()

    def _colours(self) -> Floats:
        """(ngeom, 3), read anew because a task may paint."""
        model = self._model
        colours = np.array(model.geom_rgba[:, :3], dtype=np.float64)
        made = model.geom_matid >= 0
        colours[made] = model.mat_rgba[model.geom_matid[made], :3]
        return colours

    def _light(self, data: Any, points: Floats, normals: Floats, outwards: Floats) -> Floats:
        """Light (N, 3) that each point sends back, by the rules of fixed-function OpenGL without highlights."""
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
                strength[distances(model, data, position, away, 2 * _FAR) < distance - _BIAS] = 0
            total += model.light_ambient[index] + strength[:, None] * model.light_diffuse[index]
        return total

    def _cone(self, index: int, cosine: Floats, distance: Floats) -> Floats:
        """How much of a spot's or a point light's strength arrives (N,)."""
        model = self._model
        constant, linear, square = model.light_attenuation[index]
        arriving: Floats = 1 / np.maximum(constant + linear * distance + square * distance**2, 1e-9)
        if model.light_type[index] == mujoco.mjtLightType.mjLIGHT_SPOT:
            inside = cosine >= np.cos(np.radians(model.light_cutoff[index]))
            arriving *= np.where(inside, np.clip(cosine, 0, 1) ** model.light_exponent[index], 0.0)
        return arriving
