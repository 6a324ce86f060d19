"""Turn off a desk lamp by the button on its foot; the bulb goes dark."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from envs.mujoco import parts
from envs.mujoco.task import PandaTask

if TYPE_CHECKING:
    import numpy as np

    from envs.mujoco.world import World

_PRESSED = 0.003
"""Travel of the button that switches, metres."""
_DARK = (0.35, 0.35, 0.33)


class LampOff(PandaTask):
    name = "lamp_off"
    instructions = (
        "turn off the lamp",
        "switch the light off",
        "press the button so that the lamp goes dark",
        "the lamp should not be on any more",
    )
    step_limit = 1500
    objects: ClassVar = {"lamp": ("lamp",), "button": ("button",), "block": ("block",)}

    def build(self, spec: Any) -> None:
        lamp = parts.fixed_body(spec, "lamp")
        parts.cylinder(lamp, (-0.17, 0, 0), (-0.17, 0, 0.014), 0.06, "navy")
        parts.box(lamp, (-0.06, 0, 0.005), (0.085, 0.024, 0.005), "navy")
        parts.capsule(lamp, (-0.17, 0, 0.014), (-0.225, 0, 0.13), 0.007, "steel")
        parts.capsule(lamp, (-0.225, 0, 0.13), (-0.20, 0, 0.24), 0.007, "steel")
        parts.ball(lamp, (-0.225, 0, 0.13), 0.011, "navy")
        # The shade widens downwards, in rings; the bulb shows below it.
        for step in range(6):
            top = 0.25 - 0.011 * step
            parts.cylinder(lamp, (-0.20, 0, top), (-0.20, 0, top - 0.011), 0.024 + 0.005 * step, "navy")
        parts.ball(lamp, (-0.20, 0, 0.178), 0.03, "yellow", name="bulb")
        parts.cylinder(lamp, (0, 0, 0), (0, 0, 0.008), 0.03, "silver")
        parts.spring_button(spec, lamp, "button", top=0.018, radius=0.0175, colour="red", travel=0.008)
        block = parts.free_body(spec, "block")
        parts.box(block, (0, 0, 0), (0.02, 0.02, 0.02), "wood", name="block", mass=0.05)

    def place(self, world: World, rng: np.random.Generator) -> Mapping[str, str]:
        from envs.tabletop.setting import TABLE_TOP

        world.paint("bulb", (1.0, 0.93, 0.45))
        x, y = world.spot(rng, 0.26, x=(0.16, 0.36), y=(-0.18, 0.18))
        world.put("lamp", x, y, TABLE_TOP, rng.uniform(-math.pi, math.pi))
        x, y = world.spot(rng, 0.04, x=(0.05, 0.45), y=(-0.4, 0.4))
        world.put("block", x, y, TABLE_TOP + 0.02, rng.uniform(-math.pi, math.pi))
        return {}

    def after_step(self, world: World) -> None:
        if "off" not in world.memo and world.joint("button") > _PRESSED:
            world.memo["off"] = True
            world.paint("bulb", _DARK)

    def success(self, world: World) -> bool:
        return world.joint("button") > _PRESSED


TASK = LampOff()
