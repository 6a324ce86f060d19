"""Turn the bulb on or off by the switch, the led by the button."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envs.playtable import desk
from envs.playtable.task import PlaytableTask

if TYPE_CHECKING:
    import numpy as np

    from envs.mujoco.world import World

_HOW = {
    "on": ("push the switch lever up", "slide the switch lever upwards"),
    "off": ("push the switch lever down", "slide the switch lever downwards"),
}


class SwitchBulb(PlaytableTask):
    def __init__(self, state: str) -> None:
        first, second = _HOW[state]
        super().__init__(
            f"turn_{state}_lightbulb",
            (
                f"turn {state} the bulb with the switch lever",
                f"{first} to turn {state} the bulb",
                f"{second} so that the bulb goes {state}",
                f"switch the bulb {state}",
                f"the bulb should be {state}",
                f"use the switch lever to turn the bulb {state}",
            ),
        )
        self._on = state == "on"

    def arrange(self, world: World, rng: np.random.Generator) -> None:
        desk.start(world, "lever", 0.0 if self._on else desk.SWITCH_TRAVEL)

    def success(self, world: World) -> bool:
        return desk.bulb(world) is self._on


class SwitchLed(PlaytableTask):
    def __init__(self, state: str) -> None:
        super().__init__(
            f"turn_{state}_led",
            (
                f"press the led button to turn {state} the led",
                f"turn the led {state} by pushing its button",
                f"switch {state} the led",
                f"the led should be {state}",
                f"push down the led button so that the led goes {state}",
                f"use the button to switch the led {state}",
            ),
        )
        self._on = state == "on"

    def arrange(self, world: World, rng: np.random.Generator) -> None:
        world.memo["led"] = not self._on

    def success(self, world: World) -> bool:
        return bool(world.memo["led"]) is self._on


TASKS = (SwitchBulb("on"), SwitchBulb("off"), SwitchLed("on"), SwitchLed("off"))
