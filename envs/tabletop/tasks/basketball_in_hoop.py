"""Drop a basketball through a hoop that stands 26 cm above the table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from envs.mujoco import parts
from envs.mujoco.task import PandaTask

if TYPE_CHECKING:
    import numpy as np

    from envs.mujoco.world import World

_BALL = 0.03
_RIM = 0.26
"""Height of the hoop above the table, metres."""
_RIM_RADIUS, _TUBE = 0.066, 0.005
"""To the middle of the hoop's tube, and of the tube itself: 6 cm are free inside."""
_NET_RADIUS, _NET = 0.048, 0.085
"""The net is as wide as this at its lower end, and as long as that."""
_BOARD = 0.105
"""From the middle of the hoop to the front of the backboard, metres."""
_SENSED = 0.06
"""The middle of the sensor is this far below the hoop, so that a ball held in the hoop is not yet in it."""
_APART = 0.22
"""From the ball to the hoop, metres."""
_TEE, _TEE_TUBE = 0.018, 0.005
"""Radius and thickness of the ring in which the ball lies."""
_BALL_HEIGHT = _TEE_TUBE + math.sqrt((_BALL + _TEE_TUBE) ** 2 - _TEE**2)


class BasketballInHoop(PandaTask):
    name = "basketball_in_hoop"
    instructions = (
        "drop the basketball into the hoop",
        "hold the basketball over the hoop and let it fall through",
        "score by letting the basketball go above the hoop",
        "get the basketball to pass through the hoop from above",
        "make a basket: carry the basketball to the hoop and release it there",
    )
    step_limit = 2000
    objects: ClassVar = {
        "basketball": ("basketball",),
        "hoop": ("hoop",),
        "backboard": ("backboard",),
    }

    def build(self, spec: Any) -> None:
        goal = parts.fixed_body(spec, "goal")
        _add_hoop(goal)
        _add_board(goal)
        parts.sensor(goal, "hoop_sensor", (0, 0, _RIM - _SENSED), (0.025, 0.025, 0.025))
        tee = parts.fixed_body(spec, "tee")
        parts.ring(tee, (0, 0, _TEE_TUBE), 2, _TEE, _TEE_TUBE, "black", segments=12)
        _add_ball(spec)

    def place(self, world: World, rng: np.random.Generator) -> Mapping[str, str]:
        from envs.mujoco.world import Crowded
        from envs.tabletop.setting import TABLE_TOP

        x, y = float(rng.uniform(0.22, 0.32)), float(rng.uniform(-0.15, 0.15))
        yaw = float(rng.uniform(-math.pi / 4, math.pi / 4))
        ball = x - _APART * math.cos(yaw), y - _APART * math.sin(yaw)
        if ball[0] < 0.05 or abs(ball[1]) > 0.28:
            raise Crowded("the ball lay out of reach")
        world.put("goal", x, y, TABLE_TOP, yaw)
        world.put("tee", *ball, TABLE_TOP)
        world.put("basketball", *ball, TABLE_TOP + _BALL_HEIGHT, float(rng.uniform(-math.pi, math.pi)))
        return {}

    def success(self, world: World) -> bool:
        return world.sees("hoop_sensor", "basketball")


def _add_hoop(goal: Any) -> None:
    """The hoop, and below it a net of strings that keeps a ball from getting in from the side."""
    hoop = goal.add_body(name="hoop")
    parts.ring(hoop, (0, 0, _RIM), 2, _RIM_RADIUS, _TUBE, "red", segments=16)
    strings = 12
    for string in range(strings):
        angle = 2 * math.pi * (string + 0.5) / strings
        x, y = math.cos(angle), math.sin(angle)
        upper = (_RIM_RADIUS * x, _RIM_RADIUS * y, _RIM)
        lower = (_NET_RADIUS * x, _NET_RADIUS * y, _RIM - _NET)
        parts.capsule(goal, upper, lower, 0.002, "white")


def _add_board(goal: Any) -> None:
    """A backboard on a post, away from the arm; of glass, for it stands between the front camera and the hoop."""
    board = goal.add_body(name="backboard")
    back = _BOARD + 0.01
    glass = parts.rgba("white", 0.45)
    parts.box(board, (_BOARD + 0.005, 0, _RIM + 0.04), (0.005, 0.11, 0.075), rgba=glass)
    painted = {"contype": 0, "conaffinity": 0, "mass": 0}
    for y in (-0.045, 0.045):
        parts.box(board, (_BOARD, y, _RIM + 0.045), (0.001, 0.003, 0.033), "red", **painted)
    for z in (0.015, 0.075):
        parts.box(board, (_BOARD, 0, _RIM + z), (0.001, 0.045, 0.003), "red", **painted)
    parts.box(goal, ((_RIM_RADIUS + _BOARD) / 2, 0, _RIM), ((_BOARD - _RIM_RADIUS) / 2, 0.018, 0.004), "grey")
    parts.box(goal, (back + 0.02, 0, 0.006), (0.05, 0.07, 0.006), "dark wood")
    parts.cylinder(goal, (back + 0.012, 0, 0.012), (back + 0.012, 0, _RIM + 0.05), 0.012, "grey")


def _add_ball(spec: Any) -> None:
    """Seams of flat discs, as wide as the ball; they touch nothing."""
    basketball = parts.free_body(spec, "basketball")
    # Resists rolling a little, so that it comes to rest on the table.
    parts.ball(basketball, (0, 0, 0), _BALL, "orange", mass=0.05, friction=[1.0, 0.01, 0.001], condim=6)
    seam = 0.0007
    for axis in ((seam, 0, 0), (0, seam, 0), (0, 0, seam)):
        start = tuple(-along for along in axis)
        parts.cylinder(basketball, start, axis, _BALL + 0.0002, "black", mass=0, contype=0, conaffinity=0)


TASK = BasketballInHoop()
