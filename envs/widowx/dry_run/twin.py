"""The body of a dry run: the household's table and arm in MuJoCo, moved as an arm behind `envs.widowx.serve` is. Its time goes
on with the steps that are commanded, and stands still between them."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import numpy as np

from envs.household.environment import HouseholdEnvironment
from envs.household.sight import Eye, Moment
from envs.household.task import stages_of
from envs.mujoco.setting import TIMESTEP
from harness.seeding import Seeds

if TYPE_CHECKING:
    from envs.household import Household
    from harness.protocols import Floats, Reset, View

_FINGER_SPEED = 0.12
"""Metres per second."""


class Twin(HouseholdEnvironment):
    """The household without its own control of the arm. With `judged`, its rules decide which subtasks are done and have the
    user speak and change things; without, somebody else does."""

    def __init__(self, household: Household, judged: bool) -> None:
        super().__init__(household)
        self.lock = threading.RLock()
        self._judged = judged
        task = next(iter(self._tasks))
        self.reset(task, 0, Seeds("widowx_dry_run", task, 0, 0))

    def reset(self, task: str, scene: int, seeds: Seeds) -> Reset:
        with self.lock:
            reset = super().reset(task, scene, seeds)
            if not self._judged:
                self._progress = None
            self._commanded = np.array(self._setting.home)
            self._finger = self._setting.arm.finger_travel
            return reset

    def view(self, camera: str) -> View:
        with self.lock:
            return super().view(camera)

    def change(self, stage: int) -> None:
        """What the user does before a stage."""
        with self.lock:
            stages_of(self.world)[stage].change(self.world)

    def seen(self, stage: int, place: int) -> bool:
        """Whether a subtask of a stage is done, as the table stands now."""
        with self.lock:
            return bool(stages_of(self.world)[stage].goals[place].done(Moment(self.world, Eye(self.world))))

    def joints(self) -> Floats:
        with self.lock:
            return self.world.arm

    def opening(self) -> float:
        """Of the fingers, from 0 closed to 1."""
        with self.lock:
            return float(np.clip(self.world.fingers.mean() / self._setting.arm.finger_travel, 0.0, 1.0))

    def drive(self, joints: Floats, open_fingers: bool, seconds: float) -> None:
        """Physics for a control step, in which the servos are led to joint angles (6,)."""
        with self.lock:
            world, arm, before = self.world, self._setting.arm, self._commanded
            if float(open_fingers) != self.controller.opening:
                self.controller.opening = float(open_fingers)
                self._finger = float(world.fingers.mean())
            reach = _FINGER_SPEED * seconds
            target = arm.finger_travel if open_fingers else arm.closed
            self._finger += float(np.clip(target - self._finger, -reach, reach))
            lead = np.array(arm.lag) * (joints - before) / seconds
            count = round(seconds / TIMESTEP)
            for substep in range(1, count + 1):
                world.command(before + substep / count * (joints - before) + lead, self._finger)
                world.step()
            world.check_finite()
            self._commanded = joints
            self.controller.steps += 1
            self._after_control_step()

    def stay(self) -> None:
        """The servos keep the arm where it is."""
        with self.lock:
            self._commanded = self.world.arm


class TwinArm:
    """See `envs.widowx.arms.Arm`."""

    name = "twin"

    def __init__(self, twin: Twin, pace: float) -> None:
        """`pace`: how many times as fast as a real one its time goes, at most."""
        self._twin, self._pace = twin, pace
        self._wanted: tuple[Floats, bool] | None = None

    def joints(self) -> Floats:
        return self._twin.joints()

    def opening(self) -> float:
        return self._twin.opening()

    def command(self, joints: Floats, open_fingers: bool, seconds: float) -> None:
        self._wanted = joints, open_fingers

    def halt(self) -> None:
        self._wanted = None
        self._twin.stay()

    def wait(self, seconds: float) -> None:
        begun = time.monotonic()
        wanted, self._wanted = self._wanted, None
        if wanted is not None:
            self._twin.drive(*wanted, seconds)
        time.sleep(max(0.0, seconds / self._pace - (time.monotonic() - begun)))

    def close(self) -> None:
        self._twin.close()
