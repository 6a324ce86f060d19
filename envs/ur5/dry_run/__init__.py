"""A dry run of `envs.ur5` without a robot: the same adapter and the same ur_rtde, over loopback, against a process that
speaks a UR5's and a Robotiq gripper's protocols and moves the arm of `envs.ur5_sim` in MuJoCo.

It rehearses the protocol: the operator's questions, limits, stops. Its rows are of an environment of their own, so that
they never stand for a robot's. This module only describes it, without importing a driver or a simulator."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from envs.robots.operator import terminal_problems
from envs.ur5 import Operated, Ur5, package_problems
from harness.protocols import Problem

if TYPE_CHECKING:
    from envs.ur5.dry_run.environment import DryRunEnvironment


@dataclass
class Ur5DryRun(Operated):
    """The config behind `conf/env/ur5_dry_run.yaml`. What it does not say is as `Ur5` has it."""

    pace: float = 1.0
    """How many times as fast as a real one the robot's time goes."""

    def __post_init__(self) -> None:
        if not 0 < self.pace <= 20:
            raise ValueError(f"pace is {self.pace}; it is above 0 and at most 20")
        super().__post_init__()

    def robot(self, address: str, camera_pose: list[float]) -> Ur5:
        """The config of the robot that is played."""
        shared = {entry.name: getattr(self, entry.name) for entry in dataclasses.fields(Operated)}
        return Ur5(ip=address, camera_pose=camera_pose, **shared)

    def problems(self) -> list[Problem]:
        return [*package_problems(), *terminal_problems()]

    def open(self) -> DryRunEnvironment:
        """Starts the robot's process. Raises `SimulatorError`."""
        from envs.ur5.dry_run.client import Counterpart, camera_pose
        from envs.ur5.dry_run.environment import DryRunEnvironment

        counterpart = Counterpart(self.pace)
        try:
            return DryRunEnvironment(self.robot(counterpart.address, camera_pose()), counterpart, self.pace)
        except BaseException:
            counterpart.close()
            raise
