"""A dry run of `envs.widowx` without a robot: the same adapter over loopback to the same server, which moves the arm of
`envs.household` in MuJoCo; its cameras are the twin's.

It rehearses the operator's part (questions, limits, stops) and the protocol of a run. Its rows are of an environment of their
own, so that they never stand for a robot's. This module only describes it, without importing a simulator."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from envs.robots.operator import terminal_problems
from envs.widowx import Operated
from harness.protocols import Problem

if TYPE_CHECKING:
    from envs.widowx.environment import WidowXEnvironment


@dataclass
class WidowXDryRun(Operated):
    """The config behind `conf/env/widowx_dry_run.yaml`."""

    noise: float = 1.0
    """Factor on the noise of what the cameras measure."""
    confirm: Literal["trial", "motion", "nothing"] = "trial"
    """See `envs.widowx.WidowX`; nothing moves a real robot without being allowed."""
    oracle: Literal["operator", "simulated"] = "operator"
    """Who judges, speaks and changes the table: a person, or the household's own rules."""
    pace: float = 1.0
    """How many times as fast as a real one the robot's time goes, as far as the machine can."""

    def __post_init__(self) -> None:
        if not 0 < self.pace <= 1000:
            raise ValueError(f"pace is {self.pace}; it is above 0 and at most 1000")
        super().__post_init__()

    @property
    def attended(self) -> bool:
        """Whether somebody is asked at the terminal."""
        return self.confirm != "nothing" or self.oracle == "operator"

    def problems(self) -> list[Problem]:
        found = []
        if importlib.util.find_spec("mujoco") is None:
            found.append(Problem("the package mujoco is not installed", "pip install mujoco"))
        return [*found, *(terminal_problems() if self.attended else [])]

    def open(self) -> WidowXEnvironment:
        """Starts the robot's process. Raises `SimulatorError`."""
        from envs.widowx.dry_run.environment import opened

        return opened(self)
