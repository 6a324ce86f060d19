"""Between the wire and the arm, on the robot's side: takes poses of the tool one control step at a time, keeps them within
limits, turns them into joints, and lets nothing move after a stop.

Each command is one step of bounded length, and nothing goes on without the next one: a client that has gone leaves an arm
that stands. Metres, radians, seconds; the world's frame is the arm's base (x ahead, y to its left); quaternions wxyz of the
tool frame of `envs.household.widowx`. No safety function."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from envs.commands import shortened
from envs.household.setting import SETTING
from envs.mujoco.kinematics import Kinematics, angle_between, interpolate
from envs.robots.limits import check_limit, check_workspace

if TYPE_CHECKING:
    from envs.widowx.arms import Arm
    from harness.protocols import Floats

PERIOD = 0.1
"""Of a control step."""
HOMING = 0.25
"""Part of the joints' speed limit at which they go home."""
_LEAD = (0.04, 0.3)
"""How far the commanded pose may be from where the tool is: an arm that is kept from moving pushes, and no more."""
_MARGIN = 0.005
"""By which a target may lie outside the workspace."""
_FOLLOWED = (0.001, 0.01)
_HOME = 0.1
"""The largest joint angle from home, as measured, at which an arm that was told to be there is there: it sags."""
_ITERATIONS = 6

SPEED, EDGE, BLOCKED = "the speed limit", "the edge of the workspace", "something is in the way"
REACH, JOINTS = "the end of the arm's reach", "the joints turn no faster"


class Stopped(Exception):
    """Nothing moves until somebody resumes."""


@dataclass(frozen=True)
class Limits:
    workspace: tuple[tuple[float, float, float], tuple[float, float, float]]
    """Lower and upper corner of what the tool's point may reach."""
    speed: float
    """Of the tool, metres per second."""
    turn: float
    """Of the tool, radians per second."""
    joint_speed: float
    """Radians per second."""

    def __post_init__(self) -> None:
        check_workspace(self.workspace)
        check_limit("speed", self.speed, 1.0)
        for name in ("turn", "joint_speed"):
            check_limit(name, getattr(self, name), 3.0)

    def beyond(self, other: Limits) -> str:
        """Which of these limits are wider than others', as a sentence's end; empty for none."""
        (lower, upper), (least, most) = self.workspace, other.workspace
        wider = ["workspace"] if (np.less(lower, least) | np.greater(upper, most)).any() else []
        wider += [
            name for name in ("speed", "turn", "joint_speed") if getattr(self, name) > getattr(other, name)
        ]
        return ", ".join(f"{name} {getattr(self, name)} (at most {getattr(other, name)})" for name in wider)


LIMITS = Limits(workspace=((0.05, -0.32, 0.01), (0.48, 0.32, 0.40)), speed=0.2, turn=1.2, joint_speed=2.0)
"""What the server allows unless it is told otherwise."""


@dataclass(frozen=True)
class State:
    position: Floats
    """(3,) of the tool's point, as measured."""
    quaternion: Floats
    joints: Floats
    opening: float
    goal: tuple[Floats, Floats]
    """The pose that was commanded last."""
    held: str = ""
    """Why the last command was not followed as it was given."""
    at_home: bool = False
    stopped: bool = False


class Guard:
    """`stop` may come from any thread at any time; one client gives the rest."""

    def __init__(self, arm: Arm, allowed: Limits) -> None:
        self.home: Floats = np.array(SETTING.home)
        self.allowed = self._limits = allowed
        self._arm = arm
        self._kinematics = Kinematics(SETTING)
        self._lock = threading.RLock()
        self._stopped = False
        self._joints, self._goal = self.home, self._kinematics.pose(self.home)
        self.rest = self._goal
        self._start()

    def take(self, limits: Limits) -> None:
        """A client takes the arm as it stands, within limits of its own. Raises `ValueError` where they are wider than what
        is allowed."""
        if wider := limits.beyond(self.allowed):
            raise ValueError(wider)
        with self._lock:
            self._limits = limits
            self._start()

    def state(self, held: str = "") -> State:
        with self._lock:
            joints = self._arm.joints()
            position, quaternion = self._kinematics.pose(joints)
            told, is_at = (float(np.abs(angles - self.home).max()) for angles in (self._joints, joints))
            at_home = told < 1e-6 and is_at < _HOME
            opening = self._arm.opening()
            return State(position, quaternion, joints, opening, self._goal, held, at_home, self._stopped)

    def step(self, position: Floats, quaternion: Floats, open_fingers: bool) -> State:
        """One control step towards a pose; returns when it is over. Raises `Stopped`."""
        with self._lock:
            self._check()
            held = self._aim(position, quaternion)
            self._arm.command(self._joints, open_fingers, PERIOD)
        self._arm.wait(PERIOD)
        return self.state(held)

    def step_home(self, open_fingers: bool) -> State:
        """One control step through joint space towards home. Raises `Stopped`."""
        with self._lock:
            self._check()
            reach = HOMING * self._limits.joint_speed * PERIOD
            left = self.home - self._joints
            self._joints = self._joints + left * min(1.0, reach / max(float(np.abs(left).max()), 1e-9))
            self._goal = self._kinematics.pose(self._joints)
            self._arm.command(self._joints, open_fingers, PERIOD)
        self._arm.wait(PERIOD)
        return self.state()

    def stop(self) -> None:
        """Halt, and take no command until `resume`."""
        self._stopped = True  # also where a step that hangs keeps the lock
        with self._lock:
            self._arm.halt()

    def resume(self) -> None:
        """From where the arm stands now."""
        with self._lock:
            self._stopped = False
            self._start()

    def _start(self) -> None:
        self._joints = np.clip(self._arm.joints(), self._kinematics.lower, self._kinematics.upper)
        self._goal = self._kinematics.pose(self._joints)

    def _check(self) -> None:
        if self._stopped:
            raise Stopped

    def _aim(self, position: Floats, quaternion: Floats) -> str:
        """Bring goal and joints one step nearer to a pose; returns why not as near as was asked for."""
        at, facing = self._goal
        lower, upper = np.array(self._limits.workspace)
        if (
            (position < np.minimum(lower - _MARGIN, at)) | (position > np.maximum(upper + _MARGIN, at))
        ).any():
            return EDGE
        shift, long = shortened(position - at, self._limits.speed * PERIOD + 1e-6)
        angle = angle_between(facing, quaternion)
        part = min(1.0, (self._limits.turn * PERIOD + 1e-6) / max(angle, 1e-9))
        held = SPEED if long or part < 1.0 else ""
        goal, pulled = self._led(at + shift, interpolate(facing, quaternion, part))
        joints = self._kinematics.solve(*goal, self._joints, _ITERATIONS).joints
        ratio = float(np.abs(joints - self._joints).max()) / (self._limits.joint_speed * PERIOD)
        if ratio > 1.0:
            joints = self._joints + (joints - self._joints) / ratio
        reached = self._kinematics.pose(joints)
        off = float(np.linalg.norm(reached[0] - goal[0])), angle_between(reached[1], goal[1])
        if off[0] > _FOLLOWED[0] or off[1] > _FOLLOWED[1]:
            goal, held = reached, held or (JOINTS if ratio > 1.0 else REACH)
        self._joints, self._goal = joints, goal
        return BLOCKED if pulled else held

    def _led(self, position: Floats, quaternion: Floats) -> tuple[tuple[Floats, Floats], bool]:
        """A pose brought near to where the tool is, and whether that changed it."""
        tool, facing = self._kinematics.pose(self._arm.joints())
        ahead, far = shortened(position - tool, _LEAD[0])
        angle = angle_between(facing, quaternion)
        if angle > _LEAD[1]:
            quaternion, far = interpolate(facing, quaternion, _LEAD[1] / angle), True
        return (tool + ahead, quaternion), far
