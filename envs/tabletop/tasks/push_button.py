"""Push a round button of some colour."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from envs.mujoco import parts
from envs.mujoco.task import PandaTask

if TYPE_CHECKING:
    import numpy as np

    from envs.mujoco.world import World


class PushButton(PandaTask):
    name = "push_button"
    instructions = (
        "push the {colour} button",
        "press down on the {colour} button",
        "give the button with the {colour} top a push",
        "the {colour} button has to be pressed",
    )
    step_limit = 1500
    objects: ClassVar = {"button": ("button",), "block": ("block",)}

    def build(self, spec: Any) -> None:
        base = parts.fixed_body(spec, "button_base")
        parts.box(base, (0, 0, 0.006), (0.05, 0.05, 0.006), "silver")
        parts.cylinder(base, (0, 0, 0.012), (0, 0, 0.018), 0.034, "steel")
        parts.spring_button(spec, base, "button", top=0.034, radius=0.025, colour="red", travel=0.012)
        block = parts.free_body(spec, "block")
        parts.box(block, (0, 0, 0), (0.02, 0.02, 0.02), "wood", name="block", mass=0.05)

    def place(self, world: World, rng: np.random.Generator) -> Mapping[str, str]:
        from envs.tabletop.setting import TABLE_TOP

        colour = parts.VARIATIONS[int(rng.integers(len(parts.VARIATIONS)))]
        world.paint("button", parts.COLOURS[colour])
        x, y = world.spot(rng, 0.08, x=(0.12, 0.40), y=(-0.25, 0.25))
        world.put("button_base", x, y, TABLE_TOP, rng.uniform(-math.pi, math.pi))
        x, y = world.spot(rng, 0.05)
        world.put("block", x, y, TABLE_TOP + 0.02, rng.uniform(-math.pi, math.pi))
        return {"colour": colour}

    def success(self, world: World) -> bool:
        return world.joint("button") > 0.003


TASK = PushButton()
