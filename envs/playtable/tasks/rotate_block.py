"""Turn a block by more than 60 degrees, to the right (clockwise from above) or to the left, and set it down; it may
still be held."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envs.playtable.desk import BLOCKS
from envs.playtable.task import PlaytableTask, body, touched

if TYPE_CHECKING:
    from envs.mujoco.world import World

_LEAST, _MOST = 60.0, 180.0
_UPRIGHT = 30.0
_FARTHEST = 0.1


class RotateBlock(PlaytableTask):
    def __init__(self, colour: str, side: str) -> None:
        way = "clockwise" if side == "right" else "counterclockwise"
        super().__init__(
            f"rotate_{colour}_block_{side}",
            (
                f"rotate the {colour} block to the {side}",
                f"grab the {colour} block and turn it {way}",
                f"take hold of the {colour} block and give it a turn to the {side}",
                f"spin the {colour} block 90 degrees {way}",
                f"the {colour} block should be turned to the {side}",
                f"twist the {colour} block {way} by a quarter turn",
            ),
        )
        self._colour, self._sign = colour, -1.0 if side == "right" else 1.0

    def note(self, world: World) -> Any:
        return world.position(body(self._colour)), world.rotation(body(self._colour))

    def success(self, world: World) -> bool:
        import numpy as np

        position, rotation = world.memo["start"]
        if np.linalg.norm(world.position(body(self._colour)) - position) > _FARTHEST:
            return False
        if touched(world, self._colour) <= world.robot_geoms:
            return False
        now = world.rotation(body(self._colour))
        turn = now @ rotation.T
        if now[2, 2] < np.cos(np.radians(_UPRIGHT)) or turn[2, 2] < np.cos(np.radians(_UPRIGHT)):
            return False
        angle = self._sign * np.degrees(np.arctan2(turn[1, 0], turn[0, 0]))
        return bool(_LEAST < angle < _MOST)


TASKS = tuple(RotateBlock(colour, side) for colour in BLOCKS for side in ("right", "left"))
