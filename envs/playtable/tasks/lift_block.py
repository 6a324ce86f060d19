"""Lift a block off the desk, out of the drawer or from the shelf, so that only the gripper touches it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envs.playtable import desk
from envs.playtable.task import PlaytableTask, body, in_hand, rests_on, touched

if TYPE_CHECKING:
    import numpy as np

    from envs.mujoco.world import World

_HEIGHT = {"desk": 0.05, "shelf": 0.03, "drawer": 0.05}
"""How far the block has to rise, metres."""
_WHERE = {
    "desk": ("table", "on the desk"),
    "shelf": ("slider", "on the shelf"),
    "drawer": ("drawer", "in the drawer"),
}
_FROM = {"desk": "from the desk", "shelf": "from the shelf", "drawer": "out of the drawer"}


class LiftBlock(PlaytableTask):
    def __init__(self, colour: str, surface: str) -> None:
        place, lying = _WHERE[surface]
        super().__init__(
            f"lift_{colour}_block_{place}",
            (
                f"lift the {colour} block {_FROM[surface]}",
                f"pick up the {colour} block {_FROM[surface]}",
                f"grasp the {colour} block that lies {lying} and raise it",
                f"take the {colour} block {_FROM[surface]} and hold it in the air",
                f"the {colour} block {lying} should be picked up",
                f"get hold of the {colour} block {lying} and lift it up",
            ),
        )
        self._colour, self._surface = colour, surface

    def arrange(self, world: World, rng: np.random.Generator) -> None:
        if self._surface == "shelf":
            desk.put_on_shelf(world, rng, self._colour)
        if self._surface == "drawer":
            desk.put_in_drawer(world, rng, self._colour)

    def note(self, world: World) -> Any:
        return float(world.position(body(self._colour))[2]), rests_on(world, self._colour)

    def success(self, world: World) -> bool:
        height, surface = world.memo["start"]
        risen = float(world.position(body(self._colour))[2]) - height
        if surface != self._surface or risen < _HEIGHT[self._surface] or not in_hand(world, self._colour):
            return False
        return touched(world, self._colour) <= world.robot_geoms


TASKS = tuple(LiftBlock(colour, surface) for colour in desk.BLOCKS for surface in _HEIGHT)
