"""Throw a crumpled piece of paper, which lies among tomatoes, into a bin."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from envs.mujoco import parts
from envs.mujoco.task import PandaTask

if TYPE_CHECKING:
    import numpy as np

    from envs.mujoco.world import World

_HALF = 0.075
"""Half the inner width of the bin, metres."""
_HEIGHT = 0.13
_WALL = 0.003
_LYING = ("rubbish", "red_tomato", "yellow_tomato")


class PutRubbishInBin(PandaTask):
    name = "put_rubbish_in_bin"
    instructions = (
        "throw the rubbish into the bin",
        "put the piece of rubbish in the bin",
        "pick up the rubbish, carry it over to the bin and let it drop in",
        "the rubbish belongs in the bin and the tomatoes stay where they are",
    )
    step_limit = 2000
    objects: ClassVar = {
        "bin": ("bin",),
        "rubbish": ("rubbish",),
        "red tomato": ("red_tomato",),
        "yellow tomato": ("yellow_tomato",),
    }

    def build(self, spec: Any) -> None:
        bin_body = parts.fixed_body(spec, "bin")
        _add_bin(bin_body)
        parts.sensor(bin_body, "bin_sensor", (0, 0, 0.035), (0.06, 0.06, 0.03))
        _add_rubbish(parts.free_body(spec, "rubbish"))
        for name, colour in (("red_tomato", "red"), ("yellow_tomato", "yellow")):
            tomato = parts.free_body(spec, name)
            parts.ball(tomato, (0, 0, 0.020), 0.020, colour, mass=0.03)
            # A flat foot: a tomato does not roll away.
            parts.cylinder(tomato, (0, 0, 0), (0, 0, 0.005), 0.012, colour, mass=0.01)
            parts.cylinder(tomato, (0, 0, 0.038), (0, 0, 0.044), 0.003, "green", mass=0.001)

    def place(self, world: World, rng: np.random.Generator) -> Mapping[str, str]:
        from envs.tabletop.setting import TABLE_TOP

        yaw = float(rng.uniform(-math.pi, math.pi))
        x, y = world.spot(rng, 0.12, x=(0.20, 0.36), y=(-0.28, -0.18))
        world.put("bin", x, y, TABLE_TOP, yaw)
        # Three places in a row; what lies where is drawn.
        x, y = world.spot(rng, 0.02, x=(0.16, 0.34), y=(0.08, 0.16))
        row = float(rng.uniform(-math.pi, math.pi))
        for place, name in zip((-0.085, 0.0, 0.085), rng.permutation(_LYING).tolist(), strict=True):
            at = x + place * math.cos(row), y + place * math.sin(row)
            world.put(name, *at, TABLE_TOP + 0.001, float(rng.uniform(-math.pi, math.pi)))
        return {}

    def success(self, world: World) -> bool:
        return world.sees("bin_sensor", "rubbish")


def _add_bin(body: Any) -> None:
    parts.box(body, (0, 0, 0.003), (_HALF, _HALF, 0.003), "grey")
    for side in (-1, 1):
        centre = side * (_HALF + _WALL)
        parts.box(body, (centre, 0, _HEIGHT / 2), (_WALL, _HALF + 2 * _WALL, _HEIGHT / 2), "grey")
        parts.box(body, (0, centre, _HEIGHT / 2), (_HALF, _WALL, _HEIGHT / 2), "grey")


def _add_rubbish(body: Any) -> None:
    """A crumpled ball of paper: boxes through each other, each turned differently."""
    turns = ((1, 0, 0, 0), (0.8, 0.4, 0.2, 0.4), (0.7, -0.3, 0.6, 0.2), (0.6, 0.5, -0.5, 0.4))
    for index, turn in enumerate(turns):
        length = math.hypot(*turn)
        shade = "white" if index % 2 else "silver"
        quat = [part / length for part in turn]
        parts.box(body, (0, 0, 0.018), (0.018, 0.013, 0.014), shade, quat=quat, mass=0.008)


TASK = PutRubbishInBin()
