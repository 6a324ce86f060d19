"""Motions of the arm and the gripper by CALVIN's absolute Cartesian actions: straight lines at a limited speed,
opening and closing, going home, and small relative actions for policies.

CALVIN's inverse kinematics misses what it cannot reach silently, and its own relative actions add up on a target that
runs away from the arm. So every command here stays within a leash of the tool, and what was not reached is said."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from envs.calvin.simulator import CONTROL_HZ, OPEN_WIDTH, Simulator
from envs.commands import checked_action, checked_opening, checked_pose, checked_speed, shortened
from harness.protocols import Actuated, Motion, Pose

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from harness.protocols import Floats

SPEED = 0.5
"""Usual speed of the tool, metres per second."""
TURN_SPEED = 1.8
"""Usual speed of a turn, radians per second."""
SLOWEST, FASTEST = 0.1, 1.5
"""Limits of the speed factor; factors beyond them are cut."""
STEP_LIMITS = (0.02, 0.05)
"""The longest translation (metres) and the largest turn (radians) of one relative action: CALVIN's."""
REACHED = 0.008
"""A motion has reached its target within this distance, metres."""
WORKSPACE = np.array([[-0.42, -0.50, 0.28], [0.46, 0.20, 0.80]])
"""Lower and upper corner of what motions may reach and clouds report."""

_MARGIN = 0.01
_MISSED_ANGLE = 0.2
"""An orientation that is further off than this, radians, is not reached."""
_TOLD_ANGLE = 0.05
_LEASH = (0.05, 0.3)
"""How far a command may be ahead of the tool, metres and radians: a position servo that is further ahead pushes harder
and no faster."""
_LATE = 0.04
"""The tool is held up when it is further behind the line's point than this, metres, and..."""
_STUCK = 0.002
"""... moves less than this in a control step, ..."""
_STUCK_STEPS = 6
"""... so many times in a row."""
_SETTLED = 0.002
_STILL = 0.0004
_CORRECTION = 0.3
_NEAR = 0.03
_SETTLE_STEPS = 12
_SHORT = 0.05
"""Shorter moves are way points, which go on at once."""
_SETTLE_SHORT = 3
_FINGERS_STILL = 0.0003
_FINGER_STEPS = 25
_RETREATS = ((0.10, 0.0), (0.0, 0.15))


class Controller:
    """Drives the arm of one trial."""

    def __init__(self, simulator: Simulator, step: Callable[[Floats, Floats, int], None]) -> None:
        """`step` takes one control step towards a position and an orientation (wxyz) with the gripper at 1 or -1; it
        counts, judges and raises `StepLimit`."""
        self._simulator = simulator
        self._step = step
        self._home = simulator.tool()
        self._command = self._home
        self.opening = 1.0

    def pose(self) -> Pose:
        """The tool's true pose."""
        return Pose(*self._simulator.tool())

    def move(self, pose: Pose, speed: float = 1.0) -> Motion:
        """See `harness.protocols.Manipulation.move`. `speed` is cut to 0.1..1.5."""
        target = checked_pose(pose)
        position, quaternion = target.position, target.quaternion
        factor = checked_speed(speed, SLOWEST, FASTEST)
        if ((position < WORKSPACE[0] - _MARGIN) | (position > WORKSPACE[1] + _MARGIN)).any():
            # It costs a step, so that a program that only commands nonsense comes to an end.
            self._hold()
            return self._refused(position, "the target lies outside the workspace")
        return self._line(position, quaternion, factor)

    def set_gripper(self, opening: float) -> Motion:
        """See `harness.protocols.Manipulation.set_gripper`; an opening outside 0..1 is a `MotionFailure`."""
        wanted = checked_opening(opening)
        if wanted == self.opening:
            return Motion(True)
        self.opening = wanted
        still = 0
        for _ in range(_FINGER_STEPS):
            before = self._simulator.width()
            self._hold()
            still = still + 1 if abs(self._simulator.width() - before) < _FINGERS_STILL else 0
            if still == 2:
                break
        if wanted and self._simulator.width() < 0.9 * OPEN_WIDTH:
            return Motion(False, "the fingers could not open")
        return Motion(True)

    def home(self) -> Motion:
        """See `harness.protocols.Manipulation.home`. Open fingers are pulled out of what they are around first."""
        if self.opening > 0.5 and self._simulator.touched():
            self._retreat()
        position, quaternion = self._home
        here = self._simulator.tool()[0]
        if here[2] < position[2]:
            self._line(np.array([*here[:2], position[2]]), self._simulator.tool()[1], 1.0)
        return self._line(position, quaternion, 1.0)

    def nudge(self, action: ArrayLike) -> Actuated:
        """See `harness.protocols.Actuation.act`."""
        wanted = checked_action(action)
        shift, cut = shortened(wanted[:3], STEP_LIMITS[0])
        turn, turn_cut = shortened(wanted[3:6], STEP_LIMITS[1])
        at, turned = self._command
        position = at + shift
        quaternion = _wxyz(Rotation.from_rotvec(turn) * _rotation(turned))
        held = ""
        inside = np.clip(position, np.minimum(WORKSPACE[0], at), np.maximum(WORKSPACE[1], at))
        if (inside != position).any():
            position, held = inside, "the edge of the workspace"
        position, quaternion, pulled = self._leashed(position, quaternion)
        if pulled:
            held = self._why(False)
        self.opening = 1.0 if wanted[6] > 0 else 0.0
        self._to(position, quaternion)
        return Actuated(bool(cut or turn_cut), held)

    # Inside

    def _line(self, position: Floats, quaternion: Floats, factor: float) -> Motion:
        """Lead the command along the straight line, wait until the tool has come, say how near it came."""
        start, turned = self._command if self._follows() else self._simulator.tool()
        turns = Slerp([0.0, 1.0], Rotation.concatenate([_rotation(turned), _rotation(quaternion)]))
        distance = float(np.linalg.norm(position - start))
        angle = _angle(turned, quaternion)
        smooth = distance > _SHORT or angle > 0.3
        seconds = max(distance / SPEED, angle / TURN_SPEED) / factor
        count = max(1, math.ceil((1.3 if smooth else 1.0) * seconds * CONTROL_HZ))
        stuck, met = 0, False
        for index in range(1, count + 1):
            part = index / count
            if smooth:
                part = part * part * (3 - 2 * part)
            goal = start + part * (position - start)
            before = self._simulator.tool()[0]
            self._to(*self._leashed(goal, _wxyz(turns(part)))[:2])
            now = self._simulator.tool()[0]
            late = np.linalg.norm(goal - now) > _LATE
            met |= bool(late and self._simulator.touched())
            stuck = stuck + 1 if late and np.linalg.norm(now - before) < _STUCK else 0
            if stuck == _STUCK_STEPS:
                self._command = self._simulator.tool()
                self._hold()
                return self._ended(position, quaternion, met)
        self._settle(position, quaternion, short=not smooth)
        return self._ended(position, quaternion, met)

    def _settle(self, position: Floats, quaternion: Floats, short: bool) -> None:
        """Hold the command until the tool is there or has come to rest. The inverse kinematics leaves up to a
        centimetre near the end of the arm's reach, so the command goes further by what is missing."""
        before, further = self._simulator.tool()[0], np.zeros(3)
        near = 2 * _SETTLED if short else _SETTLED
        behind = math.ceil(float(np.linalg.norm(position - before)) / SPEED * CONTROL_HZ)
        for _ in range((_SETTLE_SHORT if short else _SETTLE_STEPS) + behind):
            missing = position - before
            if np.linalg.norm(missing) < near:
                break
            if np.linalg.norm(missing) < _NEAR:
                further += _CORRECTION * missing
            self._to(*self._leashed(position + further, quaternion)[:2])
            now = self._simulator.tool()[0]
            if np.linalg.norm(now - before) < _STILL:
                break
            before = now
        self._command = position, quaternion

    def _retreat(self) -> None:
        """Withdraw along the tool's axis; where the arm cannot, rise."""
        position, quaternion = self._simulator.tool()
        axis = _rotation(quaternion).apply([0.0, 0.0, 1.0])
        for back, up in _RETREATS:
            target = np.clip(position - back * axis + [0.0, 0.0, up], *WORKSPACE)
            if self._line(target, quaternion, 1.0).reached:
                return

    def _follows(self) -> bool:
        """Whether the tool is where it was sent."""
        return bool(np.linalg.norm(self._command[0] - self._simulator.tool()[0]) < _LATE)

    def _leashed(self, position: Floats, quaternion: Floats) -> tuple[Floats, Floats, bool]:
        """The pose brought near the tool; whether that changed it."""
        tool, facing = self._simulator.tool()
        ahead, short = shortened(position - tool, _LEASH[0])
        angle = _angle(facing, quaternion)
        if angle > _LEASH[1]:
            turns = Slerp([0.0, 1.0], Rotation.concatenate([_rotation(facing), _rotation(quaternion)]))
            return tool + ahead, _wxyz(turns(_LEASH[1] / angle)), True
        return (tool + ahead if short else position), quaternion, short

    def _to(self, position: Floats, quaternion: Floats) -> None:
        self._command = position, quaternion
        self._step(position, quaternion, 1 if self.opening > 0.5 else -1)

    def _hold(self) -> None:
        self._to(*self._command)

    def _why(self, met: bool) -> str:
        """Why the tool is not where it was sent; `met` says that it was held up on its way."""
        return "something is in the way" if met or self._simulator.touched() else "the end of the arm's reach"

    def _refused(self, target: Floats, reason: str) -> Motion:
        return Motion(False, reason, float(np.linalg.norm(target - self._simulator.tool()[0])))

    def _ended(self, target: Floats, quaternion: Floats, met: bool) -> Motion:
        position, facing = self._simulator.tool()
        error = float(np.linalg.norm(target - position))
        off = _angle(facing, quaternion)
        if error > REACHED:
            reason = f"{self._why(met)}: it stopped {1000 * error:.0f} mm from the target"
            return Motion(False, reason, error)
        told = f"the orientation is {math.degrees(off):.0f} degrees off" if off > _TOLD_ANGLE else ""
        return Motion(off <= _MISSED_ANGLE, told, error)


def _rotation(quaternion: Floats) -> Rotation:
    """Of a quaternion wxyz."""
    return Rotation.from_quat(np.roll(quaternion, -1))


def _wxyz(rotation: Rotation) -> Floats:
    quaternion: Floats = np.roll(rotation.as_quat(), 1)
    return quaternion


def _angle(one: Floats, other: Floats) -> float:
    """Radians between two orientations."""
    return 2 * math.acos(min(1.0, abs(float(one @ other))))
