"""Carry a wand, whose ring encloses a wire, from one stand to the other without touching the wire."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from envs.mujoco import parts
from envs.mujoco.task import PandaTask

if TYPE_CHECKING:
    import numpy as np

    from envs.mujoco.world import World

_HEIGHT = 0.198
"""Height of wire and wand above the table, metres."""
_REST = 0.11
"""The stands are this far to the left (+y) and the right (-y) of the middle."""
_HANDLE = 0.008
"""Half the thickness of the handle."""


class BeatTheBuzz(PandaTask):
    name = "beat_the_buzz"
    instructions = (
        "beat the buzz: bring the wand to the right stand without touching the wire",
        "take the wand along the wire to the right stand, and keep its ring off the wire",
        "win the wire game by carrying the wand over to the right stand",
        "move the wand from the left stand to the right stand and let go of it there",
    )
    step_limit = 2500
    objects: ClassVar = {
        "wand": ("wand",),
        "wire": ("wire",),
        "left stand": ("left_stand",),
        "right stand": ("right_stand",),
    }

    def build(self, spec: Any) -> None:
        base = parts.fixed_body(spec, "buzz")
        parts.box(base, (-0.07, 0, 0.006), (0.11, 0.22, 0.006), "dark wood")
        wire = base.add_body(name="wire")
        bend = 0.17
        for side in (-1, 1):
            parts.cylinder(wire, (0, side * 0.20, 0.012), (0, side * 0.20, 0.03), 0.012, "black")
            parts.capsule(wire, (0, side * 0.20, 0.02), (0, side * 0.20, _HEIGHT - 0.03), 0.004, "steel")
            parts.capsule(wire, (0, side * 0.20, _HEIGHT - 0.03), (0, side * bend, _HEIGHT), 0.004, "steel")
        parts.capsule(wire, (0, -bend, _HEIGHT), (0, bend, _HEIGHT), 0.004, "steel")
        for name, side in (("left_stand", 1), ("right_stand", -1)):
            _add_stand(base, name, side * _REST)
        parts.sensor(base, "middle_sensor", (0, 0, _HEIGHT), (0.005, 0.07, 0.005))
        parts.sensor(base, "right_sensor", (0, -_REST, _HEIGHT), (0.06, 0.035, 0.06))
        _add_wand(spec)

    def place(self, world: World, rng: np.random.Generator) -> Mapping[str, str]:
        from envs.tabletop.setting import TABLE_TOP

        x, y = world.spot(rng, 0.0, x=(0.20, 0.30), y=(-0.08, 0.08))
        yaw = float(rng.uniform(-math.pi, math.pi))
        world.put("buzz", x, y, TABLE_TOP, yaw)
        x, y = x - math.sin(yaw) * _REST, y + math.cos(yaw) * _REST
        world.put("wand", x, y, TABLE_TOP + _HEIGHT + 0.001, yaw)
        return {}

    def success(self, world: World) -> bool:
        return world.sees("right_sensor", "wand") and not world.grasping()

    def failed(self, world: World) -> bool:
        return world.sees("middle_sensor", "wand")


def _add_stand(base: Any, name: str, y: float) -> None:
    """Two posts with flat tops and low lips, on which the handle lies along x."""
    stand = base.add_body(name=name)
    colour = "blue" if y > 0 else "green"
    top = _HEIGHT - _HANDLE
    for x in (-0.085, -0.165):
        parts.cylinder(stand, (x, y, 0.012), (x, y, top - 0.008), 0.006, colour)
        parts.box(stand, (x, y, top - 0.004), (0.008, 0.022, 0.004), colour)
        for side in (-1, 1):
            parts.box(stand, (x, y + side * 0.02, top + 0.002), (0.008, 0.002, 0.004), colour)


def _add_wand(spec: Any) -> None:
    wand = parts.free_body(spec, "wand")
    radius = 0.042
    parts.ring(wand, (0, 0, 0), 1, radius, 0.0045, "yellow", segments=12, mass=0.0015)
    parts.box(wand, (-0.15, 0, 0), (0.10, _HANDLE, _HANDLE), "red", mass=0.06)
    parts.cylinder(wand, (-0.05, 0, 0), (-radius, 0, 0), 0.005, "yellow", mass=0.002)


TASK = BeatTheBuzz()
