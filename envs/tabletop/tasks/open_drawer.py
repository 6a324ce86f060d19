"""Open one of three drawers of a cabinet; the scene says which."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from envs.mujoco import parts
from envs.mujoco.task import PandaTask

if TYPE_CHECKING:
    import numpy as np

    from envs.mujoco.world import World

_DRAWERS = {"bottom": 0.163, "middle": 0.283, "top": 0.403}
"""Height of each handle above the table, metres."""
_TRAVEL = 0.30
_OPEN = 0.15
_DEPTH, _WIDTH = 0.15, 0.14
"""Half sizes of the cabinet, metres; its origin is on the table under the middle of its front."""


class OpenDrawer(PandaTask):
    name = "open_drawer"
    instructions = (
        "open the {drawer} drawer",
        "pull the {drawer} drawer of the cabinet open",
        "grip the {drawer} handle and slide that drawer out",
        "I need something from the {drawer} drawer, so open it",
    )
    step_limit = 2500
    objects: ClassVar = {
        "bottom drawer handle": ("bottom_handle",),
        "middle drawer handle": ("middle_handle",),
        "top drawer handle": ("top_handle",),
        "cabinet": ("cabinet",),
    }

    def build(self, spec: Any) -> None:
        cabinet = parts.fixed_body(spec, "cabinet")
        height, low, wall = 0.47, 0.095, 0.008
        middle = (height + low) / 2
        for side in (-1, 1):
            parts.box(
                cabinet,
                (_DEPTH, side * (_WIDTH - wall), height / 2),
                (_DEPTH, wall, height / 2),
                "dark wood",
            )
        parts.box(cabinet, (_DEPTH, 0, height), (_DEPTH + 0.006, _WIDTH + 0.006, wall), "dark wood")
        parts.box(cabinet, (_DEPTH, 0, low - wall), (_DEPTH, _WIDTH - 2 * wall, wall), "dark wood")
        parts.box(
            cabinet,
            (_DEPTH + 0.01, 0, low / 2 - wall),
            (_DEPTH - 0.01, _WIDTH - 2 * wall, low / 2 - wall),
            "black",
        )
        parts.box(
            cabinet,
            (2 * _DEPTH - wall, 0, middle),
            (wall, _WIDTH - 2 * wall, (height - low) / 2),
            "dark wood",
        )
        for name, z in _DRAWERS.items():
            _add_drawer(spec, cabinet, name, z)

    def place(self, world: World, rng: np.random.Generator) -> Mapping[str, str]:
        from envs.tabletop.setting import TABLE_TOP

        drawer = list(_DRAWERS)[int(rng.integers(len(_DRAWERS)))]
        x, y = world.spot(rng, 0.0, x=(0.38, 0.44), y=(-0.10, 0.10))
        world.put("cabinet", x, y, TABLE_TOP, rng.uniform(-math.pi / 8, math.pi / 8))
        return {"drawer": drawer}

    def success(self, world: World) -> bool:
        return world.joint(f"{world.variation['drawer']}_drawer") > _OPEN


def _add_drawer(spec: Any, cabinet: Any, name: str, z: float) -> None:
    drawer = cabinet.add_body(name=f"{name}_drawer", pos=[0, 0, z])
    parts.slide(drawer, f"{name}_drawer", [-1, 0, 0], _TRAVEL, damping=4.0, frictionloss=0.6, armature=0.05)
    half, deep = _WIDTH - 0.022, _DEPTH - 0.012
    parts.box(drawer, (-0.004, 0, 0), (0.009, half + 0.004, 0.056), "wood", mass=0.15)
    parts.box(drawer, (deep, 0, -0.048), (deep, half, 0.004), "wood", mass=0.15)
    parts.box(drawer, (2 * deep - 0.004, 0, -0.012), (0.004, half, 0.036), "wood", mass=0.05)
    for side in (-1, 1):
        parts.box(drawer, (deep, side * (half - 0.004), -0.012), (deep, 0.004, 0.036), "wood", mass=0.05)
    handle = drawer.add_body(name=f"{name}_handle", pos=[-0.058, 0, 0])
    parts.capsule(
        handle, (0, -0.022, 0), (0, 0.022, 0), 0.007, "steel", mass=0.03, friction=[1.0, 0.02, 0.0005]
    )
    for side in (-1, 1):
        parts.cylinder(handle, (0, side * 0.018, 0), (0.046, side * 0.018, 0), 0.005, "steel", mass=0.005)
    spec.add_exclude(bodyname1="cabinet", bodyname2=f"{name}_drawer")


TASK = OpenDrawer()
