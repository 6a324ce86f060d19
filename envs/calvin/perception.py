"""What the depth cameras measure now: point clouds of named parts and of the surroundings, with noise.

It looks when it is asked and keeps what it saw until the simulation moves on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.transform import Rotation

from envs.calvin.cameras import Camera, Picture
from envs.calvin.parts import PARTS, Part
from envs.calvin.simulator import Simulator
from envs.mujoco import clouds
from envs.mujoco.noise import Noise
from harness.protocols import PointCloud

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from harness.protocols import Floats

_BEYOND = 4.0
"""Depth in metres of pixels that show nothing, when normals are made."""


@dataclass(frozen=True)
class Look:
    """One look through all cameras; C cameras, world frame, metres."""

    depth: Floats
    """(C, H, W), with noise; infinite where nothing is."""
    bodies: NDArray[np.int32]
    """(C, H, W), -1 where nothing is."""
    links: NDArray[np.int32]
    """(C, H, W)."""
    pictures: Sequence[Picture]
    """Without noise: a detector knows parts by their looks, not by the depth."""
    points: Floats
    """(C, H, W, 3): where the noisy depth and the believed camera poses put them."""
    rotations: Floats
    """(C, 3, 3), believed."""
    rays: Floats
    """(C, H, W, 3)."""

    @cached_property
    def normals(self) -> Floats:
        """(C, H, W, 3), unit, towards the cameras."""
        even = clouds.smooth(np.where(self.bodies >= 0, self.depth, _BEYOND))
        return _turned(clouds.normals(even, self.rays), self.rotations)


class Perception:
    """The depth cameras of one trial."""

    def __init__(
        self, simulator: Simulator, cameras: Mapping[str, Camera], noise: Noise, workspace: Floats
    ) -> None:
        """Clouds of the surroundings end at `workspace` (2, 3)."""
        self._simulator, self._cameras, self._noise = simulator, list(cameras.values()), noise
        self._workspace = workspace
        self._rays = np.stack([camera.rays(camera.pixels) for camera in self._cameras])
        self._last: tuple[int, Look] | None = None

    def look(self, moment: int) -> Look:
        """What is seen at a moment, counted in control steps; rendered anew only at another one."""
        if self._last is None or self._last[0] != moment:
            self._last = moment, self._observe(moment)
        return self._last[1]

    def part(self, name: str, moment: int) -> PointCloud:
        """What is seen of a part; empty when no camera sees any of it."""
        look = self.look(moment)
        masks = [mask_of(self._simulator, PARTS[name], picture) for picture in look.pictures]
        return self._cloud(look, np.stack(masks), moment, self._noise.object_shift[name])

    def body(self, body: int, moment: int) -> PointCloud:
        """What is seen of a whole body."""
        look = self.look(moment)
        return self._cloud(look, look.bodies == body, moment, np.zeros(3))

    def surroundings(self, without: Collection[tuple[int, int | None]], moment: int) -> PointCloud:
        """Everything within the workspace, but for some (body, link); None is a body with all its links."""
        look = self.look(moment)
        lower, upper = self._workspace
        mask = (look.bodies >= 0) & ((look.points >= lower) & (look.points <= upper)).all(axis=-1)
        for body, link in without:
            mask &= ~((look.bodies == body) & (True if link is None else look.links == link))
        return clouds.thin(look.points[mask], look.normals[mask])

    def _cloud(self, look: Look, mask: NDArray[np.bool_], moment: int, shift: Floats) -> PointCloud:
        kept = self._noise.mask(mask, moment)
        return clouds.thin(look.points[kept] + shift, look.normals[kept])

    def _observe(self, moment: int) -> Look:
        pictures = [camera.render(self._simulator) for camera in self._cameras]
        placed = [camera.place(self._simulator) for camera in self._cameras]
        rotations = np.stack([place.rotation() for place in placed])
        eyes = np.stack([place.eye for place in placed])
        true_depth = np.stack([picture.depth for picture in pictures])
        depth = self._noise.depth(true_depth, moment)
        if self._noise.scale:
            eyes = eyes + np.einsum("cij,cj->ci", rotations, self._noise.camera_shift)
            rotations = rotations @ Rotation.from_rotvec(self._noise.camera_turn).as_matrix()
        seen = np.isfinite(true_depth)
        points = _turned(self._rays * np.where(seen, depth, 0.0)[..., None], rotations) + eyes[:, None, None]
        bodies, links = (np.stack([getattr(p, what) for p in pictures]) for what in ("bodies", "links"))
        return Look(depth, bodies, links, pictures, points, rotations, self._rays)


def mask_of(simulator: Simulator, part: Part, picture: Picture) -> NDArray[np.bool_]:
    """(H, W): the pixels in which a picture shows a part."""
    if part.block:
        body, link = simulator.blocks[part.block], -1
    else:
        body, link = simulator.table, simulator.links[part.link]
    mask: NDArray[np.bool_] = (picture.bodies == body) & (picture.links == link)
    if part.box is not None:
        origin, axes = simulator.link_pose(body, link)
        local = (picture.points[mask] - origin) @ axes
        lower, upper = part.box
        mask[mask] = ((local >= lower) & (local <= upper)).all(axis=-1)
    return mask


def _turned(vectors: Floats, rotations: Floats) -> Floats:
    """Vectors (C, H, W, 3) of the cameras' frames in the world's."""
    flat = vectors.reshape(len(vectors), -1, 3)
    turned: Floats = (flat @ rotations.transpose(0, 2, 1)).reshape(vectors.shape)
    return turned
