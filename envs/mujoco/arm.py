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


CONTACT = {"contype": 2, "conaffinity": 1}
"""Of an arm's geoms. The scene's keep the defaults (1, 1), so robot and scene collide and two parts of the robot do not."""


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


def add_pad(
    finger: Any, name: str, centre: Sequence[float], half: Sequence[float], colour: Sequence[float]
) -> None:
    """Add the part of a finger that grips; half sizes in metres."""
    import mujoco

    finger.add_geom(
        name=name,
        type=mujoco.mjtGeom.mjGEOM_BOX,
        pos=list(centre),
        size=list(half),
        rgba=list(colour),
        mass=0.01,
        friction=[1.5, 0.02, 0.0005],
        condim=4,
        priority=1,
        solref=[0.01, 1],
        solimp=[0.95, 0.99, 0.001, 0.5, 2],
        **CONTACT,
    )


def couple_fingers(spec: Any) -> None:
    """Make both fingers travel alike."""
    import mujoco

    coupling = spec.add_equality(
        name="fingers",
        type=mujoco.mjtEq.mjEQ_JOINT,
        objtype=mujoco.mjtObj.mjOBJ_JOINT,
        name1=FINGERS[0],
        name2=FINGERS[1],
        solref=[0.008, 1],
    )
    coupling.data[:2] = [0, 1]


def add_servo(spec: Any, joint: str, stiffness: float, damping: float, force: float) -> None:
    """A position servo: force = stiffness (command - position) - damping velocity, limited to +-force."""
    import mujoco

    spec.add_actuator(
        name=joint,
        target=joint,
        trntype=mujoco.mjtTrn.mjTRN_JOINT,
        gaintype=mujoco.mjtGain.mjGAIN_FIXED,
        biastype=mujoco.mjtBias.mjBIAS_AFFINE,
        gainprm=[stiffness] + [0] * 9,
        biasprm=[0, -stiffness, -damping] + [0] * 7,
        forcelimited=True,
        forcerange=[-force, force],
    )
