"""Drop a ball through a hoop, below which a tray catches it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from envs.tabletop import parts
from envs.tabletop.task import TabletopTask

if TYPE_CHECKING:
    import numpy as np

    from envs.tabletop.world import World

_BALL = 0.03
_RING = 0.20
"""Height of the hoop above the table, metres."""
_RADIUS = 0.06
"""From the middle of the hoop to the middle of its tube; the hole is 1 cm narrower."""
_SENSED = 0.034


class BasketballInHoop(TabletopTask):
    name = "basketball_in_hoop"
    instructions = (
        "drop the basketball into the hoop",
        "put the basketball through the hoop",
        "score by letting the basketball fall through the hoop",
        "take the basketball and release it above the hoop",
    )
    step_limit = 2000
    objects: ClassVar = {
        "basketball": ("basketball",),
        "hoop": ("hoop",),
        "backboard": ("backboard",),
    }

    def build(self, spec: Any) -> None:
        base = parts.fixed_body(spec, "basket")
        parts.box(base, (0, 0, 0.003), (0.075, 0.075, 0.003), "dark wood")
        # The tray's walls keep a ball that rolls on the table out of the sensor's sight.
        for side in (-0.072, 0.072):
            parts.box(base, (side, 0, 0.026), (0.003, 0.075, 0.020), "dark wood")
            parts.box(base, (0, side, 0.026), (0.075, 0.003, 0.020), "dark wood")
        parts.capsule(base, (0.10, 0, 0.0), (0.10, 0, 0.30), 0.008, "steel")
        parts.box(base, (0.088, 0, 0.003), (0.02, 0.03, 0.003), "dark wood")
        board = base.add_body(name="backboard")
        parts.box(board, (0.085, 0, 0.26), (0.004, 0.08, 0.055), "white")
        hoop = base.add_body(name="hoop")
        parts.ring(hoop, (0, 0, _RING), 2, _RADIUS, 0.005, "red", segments=16)
        parts.capsule(hoop, (_RADIUS, 0, _RING), (0.081, 0, _RING), 0.005, "red")
        parts.sensor(base, "success", (0, 0, _SENSED), (0.025, 0.025, 0.025))

        holder = parts.fixed_body(spec, "holder")
        parts.ring(holder, (0, 0, 0.003), 2, 0.014, 0.003, "grey", segments=8)
        ball = parts.free_body(spec, "basketball")
        # Rolling friction, so that a ball comes to rest.
        parts.ball(ball, (0, 0, 0), _BALL, "orange", mass=0.05, condim=6, friction=[0.9, 0.01, 0.002])

    def place(self, world: World, rng: np.random.Generator) -> Mapping[str, str]:
        from envs.tabletop.world import TABLE_TOP

        yaw = float(rng.uniform(-math.pi / 4, math.pi / 4))
        x, y = world.spot(rng, 0.14, x=(0.24, 0.34), y=(-0.20, 0.20))
        world.put("basket", x, y, TABLE_TOP, yaw)
        x, y = world.spot(rng, 0.05, x=(0.08, 0.30), y=(-0.28, 0.28))
        world.put("holder", x, y, TABLE_TOP)
        world.put("basketball", x, y, TABLE_TOP + _BALL + 0.003)
        return {}

    def success(self, world: World) -> bool:
        return world.sees("success", "basketball")


TASK = BasketballInHoop()
