"""Take the lid off a cup. The cup stays where it is and stands; where the lid ends does not matter, and it may still be
held. An operator would not count a lid that was put back; here it counts as soon as it is off."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from envs.mujoco import parts
from envs.ur5_sim.task import Ur5Task, X, Y, add_wall, on_table, upright

if TYPE_CHECKING:
    import numpy as np

    from envs.mujoco.world import World

_RADIUS, _WALL, _RIM = 0.036, 0.0025, 0.095
"""Outer radius and height of the cup; its wall is twice as thick as `_WALL`."""
_OFF = 0.04
"""Metres that the lid has to be away from where it lay on the cup."""


class RemoveLid(Ur5Task):
    name = "remove_lid"
    instructions = (
        "remove the lid from the cup",
        "take the lid off the cup",
        "lift the lid off the cup",
        "uncover the cup by raising its lid",
        "pick up the lid of the cup",
        "get the lid off the cup",
        "the lid has to come off the cup",
    )
    objects: ClassVar = {"cup": ("cup",), "lid": ("lid",)}

    def build(self, spec: Any) -> None:
        cup = parts.free_body(spec, "cup")
        parts.cylinder(cup, (0, 0, 0), (0, 0, 0.006), _RADIUS, "teal", mass=0.25)
        add_wall(cup, _RADIUS, _WALL, (0, _RIM), "teal", mass=0.002)
        lid = parts.free_body(spec, "lid")
        parts.cylinder(lid, (0, 0, 0), (0, 0, 0.005), _RADIUS + 0.001, "white", mass=0.02)
        # Reaches into the cup, so that the lid cannot slide off.
        parts.cylinder(lid, (0, 0, -0.005), (0, 0, 0), _RADIUS - 3.2 * _WALL, "white", mass=0.01)
        parts.cylinder(lid, (0, 0, 0.005), (0, 0, 0.033), 0.013, "black", mass=0.01)

    def place(self, world: World, rng: np.random.Generator) -> Mapping[str, str]:
        x, y = world.spot(rng, 0.06, X, Y)
        yaw = float(rng.uniform(-math.pi, math.pi))
        world.put("cup", x, y, 0.0005, yaw)
        world.put("lid", x, y, _RIM + 0.001, yaw)
        return {}

    def success(self, world: World) -> bool:
        if not on_table(world, "cup") or not upright(world, "cup"):
            return False
        seat = world.position("cup") + _RIM * world.rotation("cup")[:, 2]
        return math.dist(world.position("lid"), seat) > _OFF


TASK = RemoveLid()
