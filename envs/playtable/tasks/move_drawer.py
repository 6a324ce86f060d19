"""Open or close the drawer by 12 cm or more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envs.playtable import desk
from envs.playtable.task import PlaytableTask

if TYPE_CHECKING:
    import numpy as np

    from envs.mujoco.world import World

_FAR = 0.12
_WORDS = {
    "open": (
        "open the drawer",
        "pull the drawer open by its bar",
        "grasp the drawer bar and draw it towards the front",
        "the drawer should be open",
        "slide the drawer out",
        "pull on the drawer bar until the drawer is open",
    ),
    "close": (
        "close the drawer",
        "push the drawer shut",
        "shove the drawer bar back in",
        "the drawer should be closed",
        "slide the drawer in until it is shut",
        "shut the drawer by pushing against its bar",
    ),
}


class MoveDrawer(PlaytableTask):
    def __init__(self, way: str) -> None:
        super().__init__(f"{way}_drawer", _WORDS[way])
        self._sign = 1.0 if way == "open" else -1.0

    def arrange(self, world: World, rng: np.random.Generator) -> None:
        desk.start(world, "drawer", 0.0 if self._sign > 0 else desk.DRAWER_TRAVEL)

    def note(self, world: World) -> Any:
        return world.joint("drawer")

    def success(self, world: World) -> bool:
        return self._sign * (world.joint("drawer") - float(world.memo["start"])) > _FAR


TASKS = (MoveDrawer("open"), MoveDrawer("close"))
