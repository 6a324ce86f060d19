"""The real CALVIN benchmark (Mees et al., RA-L 2022) on pybullet: its environment and its oracle unmodified, from the
user's own checkouts.

This module only describes it, without importing a simulator; `envs.calvin.environment` is the environment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from envs.calvin.checkout import checkout_problems, package_problems, required
from envs.calvin.suite import SUITES, as_tasks, check_scenes
from harness.protocols import Actuation, Chained, Manipulation, Problem, Task

CAMERAS = ("static", "gripper")
"""CALVIN's own."""

if TYPE_CHECKING:
    from envs.calvin.environment import CalvinEnvironment


@dataclass
class Calvin:
    """The config behind `conf/env/calvin.yaml`."""

    tasks: list[str] | None = None
    scenes: int = 1
    instructions: str = "single"
    root: str | None = None
    """Folder that holds the checkouts calvin_env and calvin; null: what CALVIN_ROOT says."""
    chosen_suite: str = field(default="paper50", metadata={"key": "suite"})
    noise: float = 1.0
    """Factor on the sensors' noise; 0 makes runs repeatable to the bit."""

    def __post_init__(self) -> None:
        if self.chosen_suite not in SUITES:
            raise ValueError(f"suite is {self.chosen_suite!r}; it can be {', '.join(SUITES)}")
        if not 0 <= self.noise < float("inf"):
            raise ValueError(f"noise is {self.noise}; it is a factor of 0 (off) or more, 1 by default")

    def suite(self) -> Sequence[Task]:
        """See `harness.protocols.EnvironmentConfig`. Raises `UsageError` where the checkouts are not found, and where they
        have fewer scenes than are asked for."""
        checkout = required(self.root)
        tasks = as_tasks(checkout, self.chosen_suite)
        for task in tasks:
            if self.tasks is None or task.name in self.tasks:
                check_scenes(checkout, task.name, self.scenes * task.share)
        return tasks

    def interfaces(self) -> tuple[type, ...]:
        return (Manipulation, Actuation, Chained)

    def cameras(self) -> Sequence[str]:
        return CAMERAS

    def problems(self) -> list[Problem]:
        return [*package_problems(), *checkout_problems(self.root)]

    def open(self) -> CalvinEnvironment:
        from envs.calvin.environment import CalvinEnvironment

        return CalvinEnvironment(required(self.root), self.chosen_suite, self.noise)
