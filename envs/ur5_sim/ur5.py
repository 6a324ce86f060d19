"""A six-joint UR5 with a parallel gripper as wide as Robotiq's 2F-85, of primitive shapes: what the arm is, not how it
moves.

Denavit-Hartenberg parameters, link masses, joint limits and speed are the published ones of the UR5 (CB3), with each
link's inertia that of its shapes. The gripper opens 85 mm as the 2F-85 does; its fingers slide, where the real ones
swing on linkages. Parts bear the names that `envs.mujoco.arm` lists.

Frames: the base's z is up; with all joints at zero the arm stretches along the direction in which it faces. The robot's
own base frame is turned by half a turn about z from that. Pointing straight down with the fingers opening to its sides,
the tool frame is the quaternion (0, 1, 0, 0)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from envs.mujoco.arm import CONTACT, FINGERS, HAND, TOOL, Arm, add_pad, add_servo, couple_fingers

# Of the joints in turn: offset along its axis and to the next axis (metres), turn between the axes (quarter turns).
DH = (
    (0.089159, 0.0, 1),
    (0.0, -0.425, 0),
    (0.0, -0.39225, 0),
    (0.10915, 0.0, 1),
    (0.09465, 0.0, -1),
    (0.0823, 0.0, 0),
)
LIMIT = 2 * math.pi
"""Every joint turns by as much either way, radians."""
FINGER_TRAVEL = 0.0425
"""Of each finger, metres; the gripper opens twice as far."""
GRIP_FORCE = 40.0
"""Largest force of the gripper's motor, newtons; the 2F-85's can be set from 20 to 235."""
TOOL_OFFSET = 0.146
"""From the flange to the point between the pads, metres."""
FINGER_REACH = 0.0085
"""How far the fingers reach beyond the tool's point, metres."""

_MASSES = (3.7, 8.393, 2.275, 1.219, 1.219, 0.1879)
# Below the published 150 and 28: a blocked arm should push, not break things.
_TORQUE = (90.0, 90.0, 70.0, 20.0, 20.0, 20.0)
_STIFFNESS = (5000.0, 5000.0, 3500.0, 1000.0, 1000.0, 600.0)
_DAMPING = (230.0, 230.0, 140.0, 32.0, 32.0, 18.0)
_JOINT_DAMPING = 1.0
_FINGERS_AT = 0.09
_PAD = TOOL_OFFSET - _FINGERS_AT

_GREY = (0.74, 0.75, 0.77, 1.0)
_DARK = (0.16, 0.17, 0.18, 1.0)
_BLUE = (0.42, 0.60, 0.78, 1.0)
_STEEL = (0.50, 0.51, 0.53, 1.0)

_Tube = tuple[tuple[float, float, float], tuple[float, float, float], float, tuple[float, ...]]
# Of the links in turn, in the frame that the joint turns: cylinders by their ends, radius and colour. The upper arm
# lies beside the shoulder and the forearm beside the upper arm.
_SHAPES: tuple[tuple[_Tube, ...], ...] = (
    (
        ((0, 0, 0.030), (0, 0, 0.135), 0.060, _GREY),
        ((0, 0.062, 0.089), (0, 0.055, 0.089), 0.058, _BLUE),
        ((0, 0.055, 0.089), (0, -0.074, 0.089), 0.060, _GREY),
    ),
    (
        ((0, 0, 0.076), (0, 0, 0.192), 0.060, _GREY),
        ((0, 0, 0.192), (0, 0, 0.199), 0.058, _BLUE),
        ((-0.05, 0, 0.136), (-0.375, 0, 0.136), 0.045, _GREY),
        ((-0.425, 0, 0.072), (-0.425, 0, 0.187), 0.052, _GREY),
        ((-0.425, 0, 0.187), (-0.425, 0, 0.194), 0.050, _BLUE),
    ),
    (
        ((0, 0, -0.040), (0, 0, 0.070), 0.047, _GREY),
        ((-0.04, 0, 0.016), (-0.345, 0, 0.016), 0.037, _GREY),
        ((-0.39225, 0, -0.035), (-0.39225, 0, 0.055), 0.040, _GREY),
        ((-0.39225, 0, -0.042), (-0.39225, 0, -0.035), 0.038, _BLUE),
    ),
    (
        ((0, 0, 0.057), (0, 0, 0.148), 0.039, _GREY),
        ((0, 0, 0.148), (0, 0, 0.155), 0.037, _BLUE),
    ),
    (
        ((0, 0, 0.041), (0, 0, 0.134), 0.039, _GREY),
        ((0, 0, 0.134), (0, 0, 0.141), 0.037, _BLUE),
    ),
    (((0, 0, 0.041), (0, 0, 0.0823), 0.037, _STEEL),),
)


def add_robot(spec: Any, position: Sequence[float], yaw: float) -> None:
    """Add the arm, its actuators and the tool site to a `mujoco.MjSpec` (radians), standing at `position` (metres)
    and facing along `yaw`."""
    body = spec.worldbody.add_body(name="link0", pos=list(position), quat=_turn(yaw + math.pi, 2))
    _tube(body, (0, 0, 0), (0, 0, 0.028), 0.075, 4.0, _STEEL)
    offset, turn = (0.0, 0.0, 0.0), 0
    for index, (along, across, quarter) in enumerate(DH):
        body = body.add_body(
            name=f"link{index + 1}", pos=list(offset), quat=_turn(turn * math.pi / 2, 0), gravcomp=1
        )
        joint = f"joint{index + 1}"
        body.add_joint(
            name=joint,
            axis=[0, 0, 1],
            range=[-LIMIT, LIMIT],
            limited=True,
            armature=0.1,
            damping=_JOINT_DAMPING,
        )
        add_servo(spec, joint, _STIFFNESS[index], _DAMPING[index], _TORQUE[index])
        shapes = _SHAPES[index]
        for start, end, radius, colour in shapes:
            _tube(body, start, end, radius, _MASSES[index] / len(shapes), colour)
        offset, turn = (across, 0.0, along), quarter
    _add_gripper(spec, body.add_body(name=HAND, pos=list(offset), gravcomp=1))


def _add_gripper(spec: Any, hand: Any) -> None:
    import mujoco

    _tube(hand, (0, 0, 0), (0, 0, 0.014), 0.038, 0.10, _DARK)
    _box(hand, (0, 0, 0.045), (0.026, 0.036, 0.031), 0.55, _DARK)
    _box(hand, (0, 0, 0.082), (0.016, 0.062, 0.007), 0.10, _DARK)
    # The camera on its bracket; it stays behind the lens.
    _box(hand, (0.050, 0, 0.010), (0.026, 0.008, 0.003), 0.02, _STEEL)
    _box(hand, (0.078, 0, 0.003), (0.010, 0.045, 0.010), 0.07, _STEEL)
    hand.add_site(name=TOOL, pos=[0, 0, TOOL_OFFSET], size=[0.003] * 3, group=4)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        finger = hand.add_body(name=f"{side}_finger", pos=[0, 0, _FINGERS_AT], gravcomp=1)
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
        _box(finger, (0, sign * 0.018, 0.010), (0.0105, 0.012, 0.011), 0.02, _DARK)
        _box(finger, (0, sign * 0.0155, 0.036), (0.0100, 0.0065, 0.027), 0.02, _STEEL)
        add_pad(finger, f"pad_{side}", (0, sign * 0.0045, _PAD - 0.008), (0.011, 0.0045, 0.0125), _DARK)
        add_pad(
            finger,
            f"tip_{side}",
            (0, sign * 0.0065, _PAD + FINGER_REACH - 0.002),
            (0.010, 0.0045, 0.002),
            _DARK,
        )
    couple_fingers(spec)
    add_servo(spec, FINGERS[0], 1500.0, 40.0, GRIP_FORCE)


def _turn(angle: float, axis: int) -> list[float]:
    """Quaternion wxyz of a turn about x (0) or z (2), radians."""
    quaternion = [math.cos(angle / 2), 0.0, 0.0, 0.0]
    quaternion[1 + axis] = math.sin(angle / 2)
    return quaternion


def _box(
    body: Any, centre: Sequence[float], half: Sequence[float], mass: float, colour: Sequence[float]
) -> None:
    import mujoco

    kind = mujoco.mjtGeom.mjGEOM_BOX
    _geom(body, mass, colour, type=kind, pos=list(centre), size=list(half))


def _tube(
    body: Any,
    start: Sequence[float],
    end: Sequence[float],
    radius: float,
    mass: float,
    colour: Sequence[float],
) -> None:
    import mujoco

    kind = mujoco.mjtGeom.mjGEOM_CYLINDER
    _geom(body, mass, colour, type=kind, fromto=[*start, *end], size=[radius, 0, 0])


def _geom(body: Any, mass: float, colour: Sequence[float], **shape: Any) -> None:
    body.add_geom(rgba=list(colour), mass=mass, friction=[0.6, 0.01, 0.0005], **CONTACT, **shape)


ARM = Arm(
    add_to=add_robot,
    lower=(-LIMIT,) * 6,
    upper=(LIMIT,) * 6,
    # The UR5 may turn by 3.14; twice as slow as that is what its users allow it next to people.
    speed=(1.6, 1.6, 1.6, 2.4, 2.4, 2.4),
    lag=tuple((kv + _JOINT_DAMPING) / kp for kp, kv in zip(_STIFFNESS, _DAMPING, strict=True)),
    spread=(0.8, 0.6, 0.8, 1.0, 0.8, 2.6),
    shoulder=(0.0, 0.0, DH[0][0]),
    reach=1.10,
    finger_travel=FINGER_TRAVEL,
    closed=-0.02,
)
