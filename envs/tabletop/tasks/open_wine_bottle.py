"""Screw the cap off a wine bottle: turn it by 150 degrees with the fingers, then lift it away."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from envs.mujoco import parts
from envs.mujoco.task import PandaTask

if TYPE_CHECKING:
    import numpy as np

    from envs.mujoco.world import World

_TURN = math.radians(150)
"""The cap is free from this turn on. As in RLBench it counts from the start and in either direction, so turning it
to and fro does not add up. One grasp is enough: the gripper has room for 180 degrees anticlockwise, seen from above,
from its usual orientation, and for 120 degrees clockwise. The thread's friction keeps the turn of one grasp for the
next."""
_CAP = 0.302
"""Height of the cap's middle above the table, metres."""
_HALF = 0.020
_RADIUS = 0.018
_NECK = 0.014


class OpenWineBottle(PandaTask):
    name = "open_wine_bottle"
    instructions = (
        "open the wine bottle",
        "screw the cap off the wine bottle",
        "twist the cap until it is loose and lift it from the bottle",
        "the wine cannot be poured before the cap is gone, so take it off",
    )
    step_limit = 2500
    objects: ClassVar = {"wine bottle": ("bottle",), "cap": ("cap",)}

    def build(self, spec: Any) -> None:
        import mujoco

        bottle = parts.fixed_body(spec, "bottle")
        _add_glass(bottle)
        parts.sensor(bottle, "cap_detector", (0, 0, _CAP), (0.025, 0.025, _HALF))

        # The thread is a hinge in the bottle's neck to which the cap, a free body, is tied by an equality constraint.
        # `after_step` drops the constraint once the hinge has turned far enough; nothing else ever moves the cap but
        # the fingers and its weight.
        thread = bottle.add_body(name="thread", pos=[0, 0, _CAP])
        thread.add_joint(
            name="thread",
            type=mujoco.mjtJoint.mjJNT_HINGE,
            axis=[0, 0, 1],
            frictionloss=0.1,
            damping=0.01,
            armature=0.0005,
        )
        parts.cylinder(
            thread,
            (0, 0, -_HALF),
            (0, 0, 0),
            0.75 * _NECK,
            "olive",
            mass=0.01,
            contype=0,
            conaffinity=0,
        )
        cap = parts.free_body(spec, "cap")
        parts.cylinder(cap, (0, 0, -_HALF), (0, 0, _HALF), _RADIUS, "maroon", name="cap", mass=0.03)
        tie = spec.add_equality(
            name="thread",
            type=mujoco.mjtEq.mjEQ_WELD,
            objtype=mujoco.mjtObj.mjOBJ_BODY,
            name1="thread",
            name2="cap",
            solref=[0.008, 1],
            solimp=[0.99, 0.999, 0.001, 0.5, 2],
        )
        # Anchor, position and orientation of the cap in the thread's frame, and how turns weigh against shifts.
        tie.data[:11] = [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1]

    def place(self, world: World, rng: np.random.Generator) -> Mapping[str, str]:
        from envs.tabletop.setting import TABLE_TOP

        x, y = world.spot(rng, 0.05, x=(0.12, 0.38), y=(-0.22, 0.22))
        yaw = float(rng.uniform(-math.pi, math.pi))
        world.put("bottle", x, y, TABLE_TOP, yaw)
        world.put("cap", x, y, TABLE_TOP + _CAP, yaw)
        return {}

    def after_step(self, world: World) -> None:
        if "loose" not in world.memo and abs(world.joint("thread")) >= _TURN:
            world.memo["loose"] = True
            world.data.eq_active[world.model.equality("thread").id] = 0

    def success(self, world: World) -> bool:
        return "loose" in world.memo and not world.sees("cap_detector", "cap")


def _add_glass(bottle: Any) -> None:
    """Belly with a label, shoulder in rings, and a neck on which the cap sits with half a millimetre of play."""
    belly, shoulder, top = 0.036, 0.165, _CAP - _HALF - 0.0005
    parts.cylinder(bottle, (0, 0, 0), (0, 0, shoulder), belly, "green")
    parts.cylinder(bottle, (0, 0, 0.045), (0, 0, 0.125), belly + 0.0006, "white")
    parts.cylinder(bottle, (0, 0, 0.075), (0, 0, 0.085), belly + 0.0010, "maroon")
    rings = 8
    for step in range(rings):
        # A quarter of an ellipse from the belly in to the neck.
        angle = math.pi / 2 * (step + 1) / (rings + 1)
        radius = _NECK + (belly - _NECK) * math.cos(angle)
        low, high = shoulder + 0.006 * step, shoulder + 0.006 * (step + 1)
        parts.cylinder(bottle, (0, 0, low), (0, 0, high), radius, "green")
    parts.cylinder(bottle, (0, 0, shoulder), (0, 0, top), _NECK, "green")
    parts.cylinder(bottle, (0, 0, top - 0.014), (0, 0, top - 0.008), _NECK + 0.002, "green")


TASK = OpenWineBottle()
