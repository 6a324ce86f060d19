"""Push a block along the desk by more than 10 cm, to the right or to the left, without lifting it or running it
into another block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envs.playtable import desk
from envs.playtable.setting import DESK_TOP
from envs.playtable.task import PlaytableTask, body, neighbours, rests_on

if TYPE_CHECKING:
    import numpy as np

    from envs.mujoco.world import World

_FAR = 0.1
_START = {1.0: (0.03, 0.10), -1.0: (0.10, 0.18)}
"""Where the block lies along x, for pushes to the right and to the left."""


class PushBlock(PlaytableTask):
    def __init__(self, colour: str, side: str) -> None:
        super().__init__(
            f"push_{colour}_block_{side}",
            (
                f"push the {colour} block to the {side}",
                f"slide the {colour} block over to the {side}",
                f"shove the {colour} block to the {side} along the desk",
                f"the {colour} block has to go to the {side}, so push it there",
                f"move the {colour} block 15 cm to the {side} by pushing it",
                f"give the {colour} block a push to the {side}",
            ),
        )
        self._colour, self._sign = colour, 1.0 if side == "right" else -1.0

    def arrange(self, world: World, rng: np.random.Generator) -> None:
        """The block lies right of the button with room beside it, the other two left of the button."""
        x = float(rng.uniform(*_START[self._sign]))
        y, yaw = float(rng.uniform(-0.14, -0.06)), float(rng.uniform(-0.25, 0.25))
        desk.put_block(world, self._colour, x, y, DESK_TOP, yaw)
        others = [colour for colour in desk.BLOCKS if colour != self._colour]
        for other, row in zip(rng.permutation(others).tolist(), (-0.145, -0.045), strict=True):
            desk.put_block(
                world, other, float(rng.uniform(-0.30, -0.21)), row, DESK_TOP, float(rng.uniform(-0.3, 0.3))
            )

    def note(self, world: World) -> Any:
        return float(world.position(body(self._colour))[0]), self._contacts(world)

    def success(self, world: World) -> bool:
        start, contacts = world.memo["start"]
        moved = self._sign * (float(world.position(body(self._colour))[0]) - start)
        return bool(moved > _FAR) and self._contacts(world) == contacts

    def _contacts(self, world: World) -> tuple[str, set[str]]:
        return rests_on(world, self._colour), neighbours(world, self._colour)


TASKS = tuple(PushBlock(colour, side) for colour in desk.BLOCKS for side in ("right", "left"))
