"""A six-joint WidowX-250s with its parallel gripper, of primitive shapes: what the arm is, not how it moves.

Link offsets and joint limits are the published ones of the Interbotix description; masses of the moving links as
well, with each link's inertia that of its shapes. Parts bear the names that `envs.mujoco.arm` lists.

Frames: the base's z is up and its x forward. Pointing straight down with the arm forward, the fingers opening to its
sides, the tool frame is the quaternion (0, 0, 1, 0)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from envs.mujoco.arm import CONTACT, FINGERS, HAND, TOOL, Arm, add_pad, add_servo, couple_fingers

LOWER = (-3.14158, -1.88496, -2.14675, -3.14158, -1.74533, -3.14158)
UPPER = (3.14158, 1.98968, 1.6057, 3.14158, 2.14675, 3.14158)
"""Waist, shoulder, elbow, forearm roll, wrist angle, wrist rotate; radians."""
FINGER_TRAVEL = 0.024
GRIP_FORCE = 15.0
"""Largest force of the gripper's motor, newtons."""
TOOL_OFFSET = 0.0935
"""From the wrist's last joint to the tool's point, metres."""
FINGER_REACH = 0.016
"""How far the fingers reach beyond the tool's point, metres."""

_TORQUE = (12.0, 15.0, 12.0, 5.0, 5.0, 3.0)
_STIFFNESS = (400.0, 500.0, 400.0, 200.0, 200.0, 120.0)
_DAMPING = (17.0, 20.0, 15.0, 9.0, 9.0, 7.0)
_JOINT_DAMPING = 1.0

_DARK = [0.13, 0.13, 0.14, 1.0]
_GREY = [0.36, 0.37, 0.40, 1.0]
_RUBBER = [0.30, 0.31, 0.33, 1.0]


def add_robot(spec: Any, position: Sequence[float], yaw: float) -> None:
    """Add the arm, its actuators and the tool site to a `mujoco.MjSpec` (radians), standing at `position` (metres)
    and facing along `yaw`."""
    base = spec.worldbody.add_body(
        name="link0", pos=list(position), quat=[math.cos(yaw / 2), 0, 0, math.sin(yaw / 2)]
    )
    _box(base, (-0.03, 0, 0.025), (0.09, 0.06, 0.025), 0.54)
    _tube(base, (0, 0, 0.03), (0, 0, 0.07), 0.045, 0.1, _GREY)
    shoulder = _link(spec, base, 1, (0, 0, 0.072), (0, 0, 1))
    _box(shoulder, (0, 0, 0.02), (0.030, 0.035, 0.022), 0.48, _GREY)
    upper = _link(spec, shoulder, 2, (0, 0, 0.03865), (0, 1, 0))
    _box(upper, (0, 0, 0.12), (0.016, 0.022, 0.125), 0.33)
    _box(upper, (0.025, 0, 0.25), (0.030, 0.022, 0.018), 0.10)
    forearm = _link(spec, upper, 3, (0.04975, 0, 0.25), (0, 1, 0))
    _box(forearm, (0.09, 0, 0), (0.09, 0.018, 0.018), 0.235)
    roll = _link(spec, forearm, 4, (0.175, 0, 0), (1, 0, 0))
    _box(roll, (0.04, 0, 0), (0.04, 0.02, 0.02), 0.22, _GREY)
    wrist = _link(spec, roll, 5, (0.075, 0, 0), (0, 1, 0))
    _box(wrist, (0.035, 0, 0), (0.03, 0.02, 0.02), 0.085)
    # The hand's z axis is the approach direction: the link's x.
    hand = _link(spec, wrist, 6, (0.065, 0, 0), (0, 0, 1), HAND, (math.sqrt(0.5), 0, math.sqrt(0.5), 0))
    _add_gripper(spec, hand)


def _add_gripper(spec: Any, hand: Any) -> None:
    import mujoco

    _box(hand, (0, 0, 0.02), (0.022, 0.030, 0.025), 0.08, _GREY)
    _box(hand, (0, 0, 0.048), (0.012, 0.046, 0.007), 0.03)
    # The wrist camera on its stalk; it stays behind the lens.
    _box(hand, (-0.045, 0, -0.004), (0.025, 0.006, 0.003), 0.005)
    _box(hand, (-0.075, 0, -0.010), (0.012, 0.030, 0.006), 0.02, _GREY)
    hand.add_site(name=TOOL, pos=[0, 0, TOOL_OFFSET], size=[0.003] * 3, group=4)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        finger = hand.add_body(name=f"{side}_finger", pos=[0, 0, 0.066], gravcomp=1)
        finger.add_joint(
            name=f"finger_{side}",
            type=mujoco.mjtJoint.mjJNT_SLIDE,
            axis=[0, sign, 0],
            range=[0, FINGER_TRAVEL],
            limited=True,
            armature=0.03,
            damping=8,
            solref_limit=[0.006, 1],
            solimp_limit=[0.99, 0.999, 0.0005, 0.5, 2],
        )
        _box(finger, (0, sign * 0.011, 0), (0.012, 0.007, 0.010), 0.01)
        _box(finger, (0, sign * 0.0095, 0.02), (0.008, 0.0035, 0.018), 0.005)
        add_pad(finger, f"pad_{side}", (0, sign * 0.0035, 0.0275), (0.010, 0.0035, 0.012), _RUBBER)
        add_pad(finger, f"tip_{side}", (0, sign * 0.005, 0.041), (0.009, 0.0035, 0.0025), _RUBBER)
    couple_fingers(spec)
    add_servo(spec, FINGERS[0], 1000.0, 30.0, GRIP_FORCE)


def _link(
    spec: Any,
    parent: Any,
    number: int,
    offset: Sequence[float],
    axis: Sequence[float],
    name: str = "",
    turn: Sequence[float] = (1, 0, 0, 0),
) -> Any:
    """A moving body with its joint and servo; joints are numbered from 1."""
    body = parent.add_body(name=name or f"link{number}", pos=list(offset), quat=list(turn), gravcomp=1)
    index = number - 1
    body.add_joint(
        name=f"joint{number}",
        axis=list(axis),
        range=[LOWER[index], UPPER[index]],
        limited=True,
        armature=0.1,
        damping=_JOINT_DAMPING,
    )
    add_servo(spec, f"joint{number}", _STIFFNESS[index], _DAMPING[index], _TORQUE[index])
    return body


def _box(
    body: Any, centre: Sequence[float], half: Sequence[float], mass: float, colour: Sequence[float] = _DARK
) -> None:
    import mujoco

    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX,
        pos=list(centre),
        size=list(half),
        rgba=list(colour),
        mass=mass,
        friction=[0.6, 0.01, 0.0005],
        **CONTACT,
    )


def _tube(
    body: Any,
    start: Sequence[float],
    end: Sequence[float],
    radius: float,
    mass: float,
    colour: Sequence[float],
) -> None:
    import mujoco

    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_CYLINDER,
        fromto=[*start, *end],
        size=[radius, 0, 0],
        rgba=list(colour),
        mass=mass,
        friction=[0.6, 0.01, 0.0005],
        **CONTACT,
    )


ARM = Arm(
    add_to=add_robot,
    lower=LOWER,
    upper=UPPER,
    speed=(2.0, 2.0, 2.0, 2.5, 2.5, 2.5),
    lag=tuple((kv + _JOINT_DAMPING) / kp for kp, kv in zip(_STIFFNESS, _DAMPING, strict=True)),
    spread=(0.8, 0.8, 0.8, 0.8, 0.8, 2.6),
    shoulder=(0.0, 0.0, 0.11065),
    reach=0.68,
    finger_travel=FINGER_TRAVEL,
    closed=-0.02,
)
