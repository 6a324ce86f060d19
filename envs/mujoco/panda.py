"""A seven-joint Franka Emika Panda with its parallel gripper, of primitive shapes: what the arm is, not how it
moves (that is `control`).

Link frames and joint limits are the published ones (Franka Control Interface documentation, modified
Denavit-Hartenberg parameters); link masses follow the published identification of the arm (Gaz et al. 2019),
with each link's inertia that of its shapes.

Frames: the base's z is up and its x forward. The tool frame (`tcp` site) lies between the finger pads: its
z axis is the approach direction, its y axis the direction in which the fingers open. Pointing straight down
with the fingers opening along world y is the quaternion (0, 1, 0, 0).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from envs.mujoco.arm import CONTACT, FINGERS, HAND, TOOL, Arm, add_pad, add_servo, couple_fingers

JOINTS = tuple(f"joint{i}" for i in range(1, 8))
LOWER = (-2.8973, -1.7628, -2.8973, -3.0718, -2.8973, -0.0175, -2.8973)
UPPER = (2.8973, 1.7628, 2.8973, -0.0698, 2.8973, 3.7525, 2.8973)
"""Joint limits, radians."""

FINGER_TRAVEL = 0.04
"""Travel of each finger, metres; the gripper opens twice as far."""
CLOSED = -0.02
"""Command that closes the fingers: beyond their end, so that thin things are held with full force."""
GRIP_FORCE = 30.0
"""Largest force of the gripper's motor, newtons."""

# Below the published 87 for the first four joints: a blocked arm should push, not break things.
_TORQUE = (60.0, 60.0, 60.0, 60.0, 12.0, 12.0, 12.0)
_STIFFNESS = (2500.0, 2500.0, 2000.0, 2000.0, 800.0, 800.0, 600.0)
_DAMPING = (110.0, 110.0, 80.0, 70.0, 25.0, 20.0, 16.0)
_JOINT_DAMPING = 1.0

LAG = tuple((kv + _JOINT_DAMPING) / kp for kp, kv in zip(_STIFFNESS, _DAMPING, strict=True))
"""Seconds by which each joint's servo trails a steady velocity; commands lead by as much."""

_WHITE = (0.93, 0.93, 0.91, 1.0)
_GREY = (0.55, 0.57, 0.60, 1.0)
_DARK = (0.13, 0.13, 0.15, 1.0)
_ACCENT = (0.32, 0.34, 0.38, 1.0)


@dataclass(frozen=True)
class _Shape:
    """A cylinder or a capsule between two points, or a box by centre and half sizes (metres)."""

    kind: str
    ends: tuple[float, ...]
    size: tuple[float, ...]
    colour: tuple[float, ...] = _WHITE


def _capsule(a: Sequence[float], b: Sequence[float], r: float, colour: tuple[float, ...] = _WHITE) -> _Shape:
    return _Shape("capsule", (*a, *b), (r,), colour)


def _cylinder(a: Sequence[float], b: Sequence[float], r: float, colour: tuple[float, ...] = _WHITE) -> _Shape:
    return _Shape("cylinder", (*a, *b), (r,), colour)


def _box(centre: Sequence[float], half: Sequence[float], colour: tuple[float, ...] = _WHITE) -> _Shape:
    return _Shape("box", tuple(centre), tuple(half), colour)


_BASE = (
    _box((-0.045, 0, 0.012), (0.105, 0.09, 0.012), _GREY),
    _capsule((-0.09, 0, 0.05), (0.0, 0, 0.06), 0.055),
    _cylinder((0, 0, 0.02), (0, 0, 0.15), 0.068),
    _cylinder((0, 0, 0.15), (0, 0, 0.158), 0.06, _ACCENT),
)

# Per moving link: offset from the parent link, turn about its x axis in quarter turns, mass in kilograms, shapes.
_LINKS: tuple[tuple[tuple[float, float, float], int, float, tuple[_Shape, ...]], ...] = (
    (
        (0, 0, 0.333),
        0,
        4.97,
        (
            _cylinder((0, 0, -0.175), (0, 0, -0.06), 0.062),
            _capsule((0, 0, -0.07), (0, 0, 0.0), 0.061),
            _cylinder((0, -0.078, 0), (0, 0.078, 0), 0.06),
        ),
    ),
    (
        (0, 0, 0),
        -1,
        0.65,
        (
            _cylinder((0, 0, -0.084), (0, 0, 0.084), 0.046, _ACCENT),
            _capsule((0, -0.03, 0), (0, -0.125, 0), 0.058),
            _cylinder((0, -0.12, 0), (0, -0.186, 0), 0.058),
        ),
    ),
    (
        (0, -0.316, 0),
        1,
        3.23,
        (
            _cylinder((0, 0, -0.128), (0, 0, -0.122), 0.05, _ACCENT),
            _cylinder((0, 0, -0.122), (0, 0, -0.06), 0.057),
            _capsule((0, 0, -0.06), (0.06, 0, -0.012), 0.054),
            _cylinder((0.0825, -0.07, 0), (0.0825, 0.07, 0), 0.055),
        ),
    ),
    (
        (0.0825, 0, 0),
        1,
        3.59,
        (
            _cylinder((0, 0, -0.076), (0, 0, 0.076), 0.042, _ACCENT),
            _capsule((0, 0, 0), (-0.07, 0.055, 0), 0.05),
            _cylinder((-0.0825, 0.04, 0), (-0.0825, 0.12, 0), 0.054),
        ),
    ),
    (
        (-0.0825, 0.384, 0),
        -1,
        1.23,
        (
            _cylinder((0, 0, -0.262), (0, 0, -0.256), 0.047, _ACCENT),
            _cylinder((0, 0, -0.256), (0, 0, -0.20), 0.053),
            _capsule((0, 0.0, -0.20), (0, 0.052, -0.10), 0.048),
            _capsule((0, 0.055, -0.10), (0, 0.055, -0.01), 0.036),
        ),
    ),
    (
        (0, 0, 0),
        1,
        1.67,
        (
            _cylinder((0, 0, -0.098), (0, 0, 0.062), 0.045),
            _cylinder((0, 0, -0.104), (0, 0, 0.068), 0.035, _ACCENT),
            _capsule((0, 0, 0.02), (0.07, 0, 0.008), 0.045),
            _cylinder((0.088, 0.055, 0), (0.088, -0.058, 0), 0.05),
            _cylinder((0.088, 0.061, 0), (0.088, 0.055, 0), 0.04, _ACCENT),
        ),
    ),
    (
        (0.088, 0, 0),
        1,
        0.74,
        (
            _cylinder((0, 0, 0.058), (0, 0, 0.066), 0.042, _ACCENT),
            _cylinder((0, 0, 0.066), (0, 0, 0.107), 0.045),
            _box((0.042, 0.042, 0.085), (0.016, 0.016, 0.012), _GREY),
        ),
    ),
)

_HAND_SHAPES = (
    _capsule((0, -0.07, 0.036), (0, 0.07, 0.036), 0.03),
    _box((0, 0, 0.033), (0.028, 0.098, 0.024)),
    _box((0, 0, 0.0625), (0.018, 0.094, 0.004), _DARK),
)


def add_robot(spec: Any, position: Sequence[float], yaw: float) -> None:
    """Add the arm, its actuators and the tool site to a `mujoco.MjSpec` (radians), standing at `position` (metres)
    and facing along `yaw`.

    Bodies: `link0` to `link7`, `hand`, `left_finger`, `right_finger`. Sites: `tcp`, and `hand` where a wrist
    camera can be mounted (axes of the tool frame). Arm and gripper collide with the scene and not with themselves.
    """
    half = yaw / 2
    base = spec.worldbody.add_body(
        name="link0", pos=list(position), quat=[math.cos(half), 0, 0, math.sin(half)]
    )
    _add_shapes(base, _BASE, 2.9)
    body = base
    for index, (offset, quarter, mass, shapes) in enumerate(_LINKS):
        half = quarter * math.pi / 4
        body = body.add_body(
            name=f"link{index + 1}", pos=list(offset), quat=[math.cos(half), math.sin(half), 0, 0], gravcomp=1
        )
        body.add_joint(
            name=JOINTS[index],
            axis=[0, 0, 1],
            range=[LOWER[index], UPPER[index]],
            limited=True,
            armature=0.1,
            damping=_JOINT_DAMPING,
        )
        _add_shapes(body, shapes, mass)
        add_servo(spec, JOINTS[index], _STIFFNESS[index], _DAMPING[index], _TORQUE[index])
    _add_hand(spec, body)


def _add_hand(spec: Any, flange: Any) -> None:
    import mujoco

    turn = -math.pi / 8
    hand = flange.add_body(
        name=HAND, pos=[0, 0, 0.107], quat=[math.cos(turn), 0, 0, math.sin(turn)], gravcomp=1
    )
    _add_shapes(hand, _HAND_SHAPES, 0.73)
    hand.add_site(name=TOOL, pos=[0, 0, 0.1034], size=[0.003] * 3, group=4)
    hand.add_site(name=HAND, pos=[0, 0, 0], size=[0.003] * 3, group=4)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        finger = hand.add_body(name=f"{side}_finger", pos=[0, 0, 0.0584], gravcomp=1)
        finger.add_joint(
            name=f"finger_{side}",
            type=mujoco.mjtJoint.mjJNT_SLIDE,
            axis=[0, sign, 0],
            range=[0, FINGER_TRAVEL],
            limited=True,
            armature=0.05,
            damping=10,
            solref_limit=[0.006, 1],
            solimp_limit=[0.99, 0.999, 0.0005, 0.5, 2],
        )
        _add_shapes(
            finger,
            (
                _box((0, sign * 0.018, 0.008), (0.0105, 0.012, 0.009), _GREY),
                _box((0, sign * 0.0155, 0.029), (0.0095, 0.0065, 0.0245), _GREY),
            ),
            0.02,
        )
        # The pad is the whole gripping face; the tip below it lets the fingers reach under an edge.
        add_pad(finger, f"pad_{side}", (0, sign * 0.0045, 0.045), (0.0105, 0.0045, 0.0095), _DARK)
        add_pad(finger, f"tip_{side}", (0, sign * 0.0065, 0.0555), (0.0095, 0.0045, 0.002), _DARK)
    couple_fingers(spec)
    add_servo(spec, FINGERS[0], 1500.0, 40.0, GRIP_FORCE)


def _add_shapes(body: Any, shapes: Sequence[_Shape], mass: float) -> None:
    import mujoco

    kinds = {
        "box": mujoco.mjtGeom.mjGEOM_BOX,
        "capsule": mujoco.mjtGeom.mjGEOM_CAPSULE,
        "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
    }
    for shape in shapes:
        placed = (
            {"pos": list(shape.ends), "size": list(shape.size)}
            if shape.kind == "box"
            else {"fromto": list(shape.ends), "size": [shape.size[0], 0, 0]}
        )
        body.add_geom(
            type=kinds[shape.kind],
            rgba=list(shape.colour),
            mass=mass / len(shapes),
            friction=[0.6, 0.01, 0.0005],
            **CONTACT,
            **placed,
        )


ARM = Arm(
    add_to=add_robot,
    lower=LOWER,
    upper=UPPER,
    speed=(2.0, 2.0, 2.0, 2.0, 2.4, 2.4, 2.4),
    lag=LAG,
    spread=(1.5, 1.0, 1.5, 0.8, 2.6, 1.2, 2.6),
    shoulder=(0.0, 0.0, 0.333),
    reach=0.96,
    finger_travel=FINGER_TRAVEL,
    closed=CLOSED,
)
