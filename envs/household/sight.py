"""The world at one control step, with what the wrist camera sees: what subtasks' predicates ask."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from envs.household.setting import WRIST
from envs.mujoco.rays import RayCamera

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from envs.mujoco.world import World

PIXELS = 64
"""Height and width of the look that predicates take; the pictures that methods get are finer."""
_REACH = 1.0
_STILL = 0.05
"""Things below this speed rest, metres per second."""


class Eye:
    """The wrist camera of one model."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._camera = RayCamera(world.model, WRIST, PIXELS, PIXELS)

    def look(self) -> NDArray[np.intp]:
        """(ngeom,), pixels that show each geom now."""
        geoms = self._camera.cast(self.world.data, _REACH).geoms
        return np.bincount(geoms[geoms >= 0].ravel(), minlength=self.world.model.ngeom)


class Moment:
    """One control step. It looks through the wrist camera at most once, and only when it is asked."""

    def __init__(self, world: World, eye: Eye) -> None:
        self.world = world
        self._eye = eye

    @cached_property
    def _pixels(self) -> NDArray[np.intp]:
        return self._eye.look()

    def pixels(self, body: str) -> int:
        """Pixels of the wrist camera that show a body."""
        return int(self._pixels[list(self.world.geoms(body))].sum())

    def above(self, body: str, within: float) -> bool:
        """Whether the tool is as near as this to a body, seen from above; metres."""
        offset = self.world.tool_position[:2] - self.world.position(body)[:2]
        return bool(np.abs(offset).max() < within)

    def resting(self, body: str) -> bool:
        """Whether a free body lies still and the robot has let go of it."""
        first = self.world.model.jnt_dofadr[self.world.model.body(body).jntadr[0]]
        velocity = self.world.data.qvel[first : first + 3]
        return bool(np.linalg.norm(velocity) < _STILL) and not self.world.touching("link0", body)
