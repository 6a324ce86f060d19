"""Press a button on a box, as those that stop machines."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from envs.mujoco import parts
from envs.ur5_sim.task import BLOCK, Ur5Task, X, Y, add_block, put_block

if TYPE_CHECKING:
    import numpy as np

    from envs.mujoco.world import World

_PRESSED = 0.004
"""Travel that counts, metres."""


class PushButton(Ur5Task):
    name = "push_button"
    instructions = (
        "push down the red button",
        "press the red button",
        "push the red button",
        "give the red button a push from above",
        "the red button has to be pressed",
        "hit the red button",
        "press down on the red button",
    )
    objects: ClassVar = {"red button": ("red button",), "button base": ("button base",), BLOCK: (BLOCK,)}

    def build(self, spec: Any) -> None:
        base = parts.fixed_body(spec, "button base")
        parts.box(base, (0, 0, 0.02), (0.036, 0.036, 0.02), "yellow")
        parts.cylinder(base, (0, 0, 0.04), (0, 0, 0.044), 0.026, "black")
        parts.spring_button(spec, base, "red button", top=0.062, radius=0.02, colour="red", travel=0.010)
        add_block(spec)

    def place(self, world: World, rng: np.random.Generator) -> Mapping[str, str]:
        x, y = world.spot(rng, 0.08, X, Y)
        world.put("button base", x, y, 0.0, float(rng.uniform(-math.pi, math.pi)))
        put_block(world, rng)
        return {}

    def success(self, world: World) -> bool:
        return world.joint("red button") > _PRESSED


TASK = PushButton()
