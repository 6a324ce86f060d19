"""The control loop: starts a motion if it may be, watches it step by step, and stops the robot when the operator, the
robot, the workspace or the step limit says so."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from envs.commands import checked_opening, checked_pose, checked_speed
from envs.robots import stop
from envs.robots.operator import Operator
from envs.ur5.gripper import CLOSED, OPEN, Robotiq
from envs.ur5.robot import Robot
from harness.failures import SimulatorError, StepLimit
from harness.protocols import Motion, Pose

if TYPE_CHECKING:
    from harness.protocols import Floats

CONTROL_HZ = 25.0
SPEED = 0.1
"""Usual speed of the tool, metres per second."""
SLOWEST, FASTEST = 0.1, 3.0
"""Limits of the speed factor; factors beyond them are cut."""
REACHED = 0.008
"""A motion has reached its target within this distance, metres."""
_MARGIN = 0.01
"""Metres by which targets may lie outside the workspace, and thrice as much the tool on its way."""


@dataclass(frozen=True)
class Limits:
    """Metres, radians, seconds."""

    workspace: Floats
    """(2, 3): lower and upper corner."""
    speed: float
    joint_speed: float
    acceleration: float


class Driver:
    """Drives one trial."""

    def __init__(
        self,
        robot: Robot,
        gripper: Robotiq,
        operator: Operator,
        limits: Limits,
        stop_folder: Path,
        step_limit: int,
        ask_each: bool,
        period: float,
        after_step: Callable[[], None],
    ) -> None:
        """`period`: seconds of a control step."""
        self.steps = 0
        self.opening = 1.0
        self._robot, self._gripper, self._operator = robot, gripper, operator
        self._limits, self._stop_folder, self._step_limit = limits, stop_folder, step_limit
        self._ask_each, self._period, self._after_step = ask_each, period, after_step

    def move(self, pose: Pose, speed: float = 1.0) -> Motion:
        """See `harness.protocols.Manipulation.move`. `speed` is cut to 0.1..3, and the result to the limit."""
        wanted = checked_pose(pose)
        factor = checked_speed(speed, SLOWEST, FASTEST)
        if not self._inside(wanted.position, _MARGIN):
            return self._refused(wanted.position, "the target lies outside the workspace")
        self._check()
        if not self._robot.reaches(wanted):
            return self._refused(wanted.position, "the robot reaches no such pose within its safety limits")
        place = ", ".join(f"{1000 * value:.0f}" for value in wanted.position)
        if not self._allowed(f"The tool moves to ({place}) mm."):
            return self._refused(wanted.position, "the operator did not allow it")
        speed, acceleration = min(SPEED * factor, self._limits.speed), self._limits.acceleration
        return self._followed(
            lambda: self._robot.start_line(wanted, speed, acceleration),
            self._robot.moving,
            wanted.position,
        )

    def home(self, joints: Sequence[float]) -> Motion:
        """Through joint space, at the limits."""
        if not self._allowed("The robot goes home."):
            return self._refused(self._robot.pose().position, "the operator did not allow it")
        speed, acceleration = self._limits.joint_speed, self._limits.acceleration
        motion = self._followed(
            lambda: self._robot.start_joints(joints, speed, acceleration), self._robot.moving
        )
        off = float(np.abs(self._robot.joints() - joints).max())
        if motion.reached and off > 0.02:
            return Motion(False, f"a joint stopped {math.degrees(off):.0f} degrees from home")
        return motion

    def set_gripper(self, opening: float) -> Motion:
        """See `harness.protocols.Manipulation.set_gripper`; an opening outside 0..1 is a `MotionFailure`."""
        wanted = checked_opening(opening)
        if wanted == self.opening:
            return Motion(True)
        if not self._allowed("The gripper opens." if wanted else "The gripper closes."):
            return self._refused(self._robot.pose().position, "the operator did not allow it")
        position = OPEN if wanted else CLOSED
        motion = self._followed(lambda: self._gripper.command(position), self._gripper.moving)
        self.opening = wanted
        if motion.reached and wanted and self._gripper.position() > 20:
            return Motion(False, "the fingers could not open")
        return motion

    def _followed(
        self, start: Callable[[], None], moving: Callable[[], bool], target: Floats | None = None
    ) -> Motion:
        """Start something and watch it to its end, and the tool where it has a target. Whatever goes wrong on the way
        stops the robot first."""
        self._check()
        reason = ""
        try:
            start()
            while moving():
                if self._robot.protected():
                    reason = "the robot stopped itself: it ran into something, or its joints cannot follow"
                    break
                if target is not None and not self._inside(self._robot.pose().position, 3 * _MARGIN):
                    self._robot.stop()
                    reason = "the tool left the workspace"
                    break
                self._step()
                self._check()
            self._check()
        except BaseException as why:
            self._halt(why)
            raise
        if reason and self._robot.protected():
            self._operator.allows("The robot stopped itself. Unlock it on the pendant.")
            self._robot.resume()
        if target is None:
            return Motion(not reason, reason)
        error = float(np.linalg.norm(self._robot.pose().position - target))
        if error <= REACHED and not reason:
            return Motion(True, "", error)
        return Motion(False, f"{reason or 'it stopped early'}: {1000 * error:.0f} mm from the target", error)

    def _step(self) -> None:
        """Wait for one control step."""
        if self.steps >= self._step_limit:
            raise StepLimit(f"the task's {self._step_limit} control steps are spent")
        time.sleep(self._period)
        self.steps += 1
        self._after_step()

    def _check(self) -> None:
        """Raises `SimulatorError` when nothing may move."""
        if stop.stopped(self._stop_folder):
            raise SimulatorError(stop.STOPPED)
        reason = self._robot.halted()
        if reason:
            raise SimulatorError(f"the UR5 {reason}")

    def _halt(self, why: BaseException) -> None:
        """Stop both. That one of them no longer listens keeps the other from nothing, and is noted at `why`."""
        for halt in (self._robot.stop, self._gripper.halt):
            try:
                halt()
            except SimulatorError as deaf:
                why.add_note(f"and {deaf}")

    def _allowed(self, what: str) -> bool:
        return not self._ask_each or self._operator.allows(what)

    def _inside(self, position: Floats, margin: float) -> bool:
        lower, upper = self._limits.workspace
        return bool(((position >= lower - margin) & (position <= upper + margin)).all())

    def _refused(self, target: Floats, reason: str) -> Motion:
        # It costs a step, so that a program that only commands nonsense comes to an end.
        self._step()
        return Motion(False, reason, float(np.linalg.norm(target - self._robot.pose().position)))
