"""Move a roll of tape to the right along the table, by pushing it or by carrying it there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from envs.mujoco import parts
from envs.ur5_sim.task import BLOCK, Ur5Task, add_block, add_wall, put_block, put_down

if TYPE_CHECKING:
    import numpy as np

    from envs.mujoco.world import World

_RADIUS, _WALL, _HALF_HEIGHT = 0.032, 0.005, 0.012
"""Outer radius of the roll; its wall is twice as thick as `_WALL`."""
_FAR = 0.04
"""Metres to the right that count: the plan that worked in the paper moves by 5 cm."""


class MoveObject(Ur5Task):
    name = "move_object"
    instructions = (
        "push the tape to the right",
        "slide the tape over to the right",
        "move the tape a little to the right",
        "give the tape a push to the right",
        "shove the tape to the right along the table",
        "the tape has to go to the right, so push it there",
        "nudge the tape to the right",
    )
    objects: ClassVar = {"tape": ("tape",), BLOCK: (BLOCK,)}

    def build(self, spec: Any) -> None:
        tape = parts.free_body(spec, "tape")
        add_wall(tape, _RADIUS, _WALL, (-_HALF_HEIGHT, _HALF_HEIGHT), "orange", mass=0.002)
        add_block(spec)

    def place(self, world: World, rng: np.random.Generator) -> Mapping[str, str]:
        x, y = world.spot(rng, 0.07, (0.38, 0.55), (-0.08, 0.22))
        world.put("tape", x, y, _HALF_HEIGHT, float(rng.uniform(-3.1, 3.1)))
        # The way is free.
        world.reserve(x, y - 0.10, 0.07)
        world.reserve(x, y - 0.20, 0.07)
        put_block(world, rng)
        return {}

    def begin(self, world: World) -> None:
        world.memo["start"] = world.position("tape")

    def success(self, world: World) -> bool:
        ahead, left, _ = world.position("tape") - world.memo["start"]
        return bool(-left > _FAR and abs(ahead) < -left and put_down(world, "tape"))


TASK = MoveObject()
