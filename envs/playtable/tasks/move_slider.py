"""Slide the door by 15 cm or more, to the left or to the right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envs.playtable import desk
from envs.playtable.task import PlaytableTask

if TYPE_CHECKING:
    import numpy as np

    from envs.mujoco.world import World

_FAR = 0.15


class MoveSlider(PlaytableTask):
    def __init__(self, side: str) -> None:
        super().__init__(
            f"move_slider_{side}",
            (
                f"slide the door to the {side}",
                f"push the sliding door to the {side} side",
                f"move the door grip all the way to the {side}",
                f"grasp the door grip and shift the door to the {side}",
                f"the sliding door should be on the {side}",
                f"take the sliding door by its grip and bring it to the {side}",
            ),
        )
        # The joint counts from right to left.
        self._sign = 1.0 if side == "left" else -1.0

    def arrange(self, world: World, rng: np.random.Generator) -> None:
        desk.start(world, "door", 0.0 if self._sign > 0 else desk.DOOR_TRAVEL)

    def note(self, world: World) -> Any:
        return world.joint("door")

    def success(self, world: World) -> bool:
        return self._sign * (world.joint("door") - float(world.memo["start"])) > _FAR


TASKS = (MoveSlider("left"), MoveSlider("right"))
