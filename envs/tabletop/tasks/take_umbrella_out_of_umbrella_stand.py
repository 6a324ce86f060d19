"""Pull a folded umbrella up out of the stand in which it leans."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from envs.mujoco import parts
from envs.mujoco.task import PandaTask

if TYPE_CHECKING:
    import numpy as np

    from envs.mujoco.world import World

_TUBE = 0.15
"""Height of the stand, metres."""
_RADIUS = 0.045
_WALL = 0.003
_FLOOR = 0.006
_SENSED = 0.04
"""Height of the sensor, which ends at the rim: the tip has to rise above the rim to be out of its sight."""
_GRIP = (0.19, 0.27)
"""Where the handle begins and ends above the umbrella's tip."""


class TakeUmbrellaOutOfUmbrellaStand(PandaTask):
    name = "take_umbrella_out_of_umbrella_stand"
    instructions = (
        "lift the umbrella out of the umbrella stand",
        "pull the umbrella up until it has left its stand",
        "remove the umbrella from the umbrella stand by its handle",
        "it is raining, so get the umbrella out of the stand",
    )
    step_limit = 2000
    objects: ClassVar = {
        "umbrella": ("umbrella",),
        "umbrella handle": ("grip",),
        "umbrella stand": ("stand",),
    }

    def build(self, spec: Any) -> None:
        stand = parts.fixed_body(spec, "stand")
        _add_tube(stand)
        # So wide that the thin tip cannot pass beside it, its corners in the wall.
        parts.sensor(stand, "stand_sensor", (0, 0, _TUBE - _SENSED / 2), (0.034, 0.034, _SENSED / 2))

        umbrella = parts.free_body(spec, "umbrella")
        parts.capsule(umbrella, (0, 0, 0.006), (0, 0, 0.03), 0.006, "steel", mass=0.005)
        # The folded cloth hangs to one side, so that the umbrella leans and does not stand on its tip.
        parts.cylinder(umbrella, (0.003, 0, 0.03), (0.003, 0, 0.09), 0.014, "navy", mass=0.015)
        parts.cylinder(umbrella, (0.005, 0, 0.09), (0.005, 0, 0.16), 0.019, "navy", mass=0.015)
        parts.cylinder(umbrella, (0, 0, 0.16), (0, 0, _GRIP[0]), 0.006, "steel", mass=0.005)
        grip = umbrella.add_body(name="grip")
        low, high = _GRIP
        parts.cylinder(grip, (0, 0, low), (0, 0, high), 0.013, "dark wood", mass=0.02)

    def place(self, world: World, rng: np.random.Generator) -> Mapping[str, str]:
        from envs.tabletop.setting import TABLE_TOP

        x, y = world.spot(rng, _RADIUS, x=(0.14, 0.38), y=(-0.25, 0.25))
        world.put("stand", x, y, TABLE_TOP, float(rng.uniform(-math.pi, math.pi)))
        # Its yaw decides which way it leans.
        world.put("umbrella", x, y, TABLE_TOP + _FLOOR + 0.001, float(rng.uniform(-math.pi, math.pi)))
        return {}

    def success(self, world: World) -> bool:
        return not world.sees("stand_sensor", "umbrella")


def _add_tube(stand: Any) -> None:
    """A bottom and a wall of flat pieces."""
    pieces = 16
    parts.cylinder(stand, (0, 0, 0), (0, 0, _FLOOR), _RADIUS + _WALL, "black")
    middle = _RADIUS + _WALL
    half = middle * math.tan(math.pi / pieces)
    for piece in range(pieces):
        angle = 2 * math.pi * piece / pieces
        centre = (middle * math.cos(angle), middle * math.sin(angle), _TUBE / 2)
        turned = [math.cos(angle / 2), 0, 0, math.sin(angle / 2)]
        parts.box(stand, centre, (_WALL, half, _TUBE / 2), "teal", quat=turned)


TASK = TakeUmbrellaOutOfUmbrellaStand()
