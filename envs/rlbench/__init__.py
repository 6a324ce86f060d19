"""The real RLBench benchmark (James et al., RA-L 2020) on CoppeliaSim, its tasks and its success conditions unmodified,
from the user's own installation.

This module only describes it, without importing a simulator; `envs.rlbench.environment` is the environment, and
`envs.rlbench.ttm` reads the models without any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from envs.rlbench import package, preflight
from harness.components import suggest
from harness.failures import SimulatorError, UsageError
from harness.protocols import Manipulation, Problem, Task

if TYPE_CHECKING:
    from envs.rlbench.environment import RLBenchEnvironment

CAMERAS = ("front", "left_shoulder", "right_shoulder", "overhead", "wrist")
"""RLBench's own."""


@dataclass
class RLBench:
    """The config behind `conf/env/rlbench.yaml`."""

    tasks: list[str] | None = None
    """Null: the nine of the papers; else any task of the package."""
    scenes: int = 5
    instructions: str = "single"

    def suite(self) -> Sequence[Task]:
        """See `harness.protocols.EnvironmentConfig`. Raises `UsageError` where RLBench is not installed or has no task of
        a name."""
        folder = _installed()
        known = package.task_names(folder)
        for name in self.tasks or ():
            if name not in known:
                raise UsageError(f"RLBench in {folder} has no task {name!r}. {suggest(name, known)}")
        return package.suite(folder, self.tasks)

    def interfaces(self) -> tuple[type, ...]:
        return (Manipulation,)

    def cameras(self) -> Sequence[str]:
        return CAMERAS

    def problems(self) -> list[Problem]:
        return preflight.problems()

    def open(self) -> RLBenchEnvironment:
        """Raises `SimulatorError` that says what is missing: starting without it would end this process."""
        found = self.problems()
        if found:
            raise SimulatorError(f"RLBench cannot run here:\n{_listed(found)}")
        from envs.rlbench.environment import RLBenchEnvironment

        return RLBenchEnvironment(_installed())


def _installed() -> Path:
    """Where the package lies. Raises `UsageError`."""
    folder = package.folder()
    if folder is None:
        raise UsageError(f"env=rlbench cannot run here:\n{_listed(preflight.problems())}")
    return folder


def _listed(problems: Sequence[Problem]) -> str:
    return "\n".join(f"  - {problem.what}. {problem.fix}" for problem in problems)
