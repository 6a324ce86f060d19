"""Lift the lid off a saucepan by the knob on it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from envs.mujoco import parts
from envs.mujoco.task import PandaTask

if TYPE_CHECKING:
    import numpy as np

    from envs.mujoco.world import World

_RIM = 0.068
"""Height of the pan's rim above the table, metres."""
_RADIUS = 0.082
_WALL = 0.003
_SENSED = 0.216
"""Height at which the lid is sensed, metres above the table: to reach it, it has to rise by 8 cm."""


class TakeLidOffSaucepan(PandaTask):
    name = "take_lid_off_saucepan"
    instructions = (
        "take the lid off the saucepan",
        "lift the lid from the saucepan and keep hold of it",
        "uncover the saucepan by raising its lid",
        "I want to look into the saucepan, so pick up its lid",
    )
    step_limit = 2000
    objects: ClassVar = {"saucepan": ("saucepan",), "lid": ("lid",), "lid handle": ("knob",)}

    def build(self, spec: Any) -> None:
        pan = parts.fixed_body(spec, "saucepan")
        _add_pan(pan)
        parts.sensor(pan, "lid_sensor", (0, 0, _SENSED), (0.06, 0.06, 0.02))

        lid = parts.free_body(spec, "lid")
        parts.cylinder(lid, (0, 0, 0), (0, 0, 0.005), _RADIUS + 0.001, "steel", mass=0.05)
        # Reaches into the pan, so that the lid cannot slide off.
        parts.cylinder(lid, (0, 0, -0.006), (0, 0, 0), _RADIUS - 4 * _WALL, "steel", mass=0.02)
        parts.cylinder(lid, (0, 0, 0.005), (0, 0, 0.008), 0.6 * _RADIUS, "steel", mass=0.01)
        knob = lid.add_body(name="knob")
        parts.cylinder(knob, (0, 0, 0.006), (0, 0, 0.016), 0.012, "black", mass=0.005)
        parts.cylinder(knob, (0, 0, 0.016), (0, 0, 0.048), 0.018, "black", mass=0.02)

    def place(self, world: World, rng: np.random.Generator) -> Mapping[str, str]:
        from envs.tabletop.setting import TABLE_TOP

        x, y = world.spot(rng, 0.12, x=(0.14, 0.36), y=(-0.22, 0.22))
        yaw = float(rng.uniform(-math.pi, math.pi))
        world.put("saucepan", x, y, TABLE_TOP, yaw)
        world.put("lid", x, y, TABLE_TOP + _RIM + 0.001, yaw)
        return {}

    def success(self, world: World) -> bool:
        return world.grasped("lid") and world.sees("lid_sensor", "lid")


def _add_pan(pan: Any) -> None:
    """A bottom, a wall of flat pieces, and a long handle."""
    pieces = 24
    parts.cylinder(pan, (0, 0, 0), (0, 0, 0.006), _RADIUS, "red")
    half = _RADIUS * math.tan(math.pi / pieces)
    for piece in range(pieces):
        angle = 2 * math.pi * piece / pieces
        centre = ((_RADIUS - _WALL) * math.cos(angle), (_RADIUS - _WALL) * math.sin(angle), _RIM / 2)
        turned = [math.cos(angle / 2), 0, 0, math.sin(angle / 2)]
        parts.box(pan, centre, (_WALL, half, _RIM / 2), "red", quat=turned)
    parts.capsule(pan, (_RADIUS, 0, 0.05), (_RADIUS + 0.03, 0, 0.054), 0.007, "steel")
    parts.capsule(pan, (_RADIUS + 0.03, 0, 0.054), (_RADIUS + 0.14, 0, 0.062), 0.010, "black")


TASK = TakeLidOffSaucepan()
