"""What motions have to know of a robot arm with a parallel gripper. Its shape is its own module's: `panda`,
`envs.household.widowx`.

Arms name their parts alike: bodies `link0` (the base), `hand`, `left_finger`, `right_finger`; joints `joint1` and so on
from the base, `finger_left`, `finger_right`; the geoms `pad_*` and `tip_*` touch what is grasped; the site `tcp`
is the tool frame, between the pads: z is the approach direction, y the direction in which the fingers open.
Actuators are position servos, one a joint in this order and then one for both fingers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

BASE = "link0"
HAND = "hand"
TOOL = "tcp"
FINGERS = ("finger_left", "finger_right")
FINGER_BODIES = ("left_finger", "right_finger")
PADS = (("pad_left", "tip_left"), ("pad_right", "tip_right"))
"""Geoms of the left and the right finger that touch what is grasped."""


@dataclass(frozen=True)
class Arm:
    """Metres, radians, seconds; n joints, the last of which rolls the hand."""

    add_to: Callable[[Any, Sequence[float], float], None]
    """Adds the arm to a `mujoco.MjSpec` (radians), standing at a position (3,) and facing along a yaw."""
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    """Limits of the joints (n,)."""
    speed: tuple[float, ...]
    """How fast the joints may turn (n,), radians per second."""
    lag: tuple[float, ...]
    """Seconds by which each joint's servo trails a steady velocity (n,); commands lead by as much."""
    spread: tuple[float, ...]
    """How far from home inverse kinematics looks for other postures (n,), radians."""
    shoulder: tuple[float, float, float]
    """In the frame of the base."""
    reach: float
    """No pose is reachable further than this from the shoulder."""
    finger_travel: float
    """Of each finger; the gripper opens twice as far."""
    closed: float
    """Command that closes the fingers: beyond their end, so that thin things are held with full force."""

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints (n,)."""
        return tuple(f"joint{number}" for number in range(1, len(self.lower) + 1))
