"""The embedded environment laid out as CALVIN's scene D: an arm at a desk with a drawer, a sliding door, lights
and three blocks; 34 tasks by CALVIN's names, in MuJoCo.

This module only describes it, without importing the simulator; `envs.mujoco.environment` is the simulator."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from envs.chain import LENGTH
from envs.mujoco.config import ManipulationWorld
from envs.mujoco.setting import Setting
from envs.mujoco.task import EmbeddedTask, discover
from envs.playtable.chains import Chain
from harness.protocols import Chained, Task
from harness.seeding import derive

if TYPE_CHECKING:
    from envs.mujoco.environment import ManipulationEnvironment

SUITES = ("single", "chains")
INSTANCES = 50
"""Scenes of the standard suite, as many as the paper's table has: one of each of the 34 tasks, and a second one of
16 tasks that the seed tree chose once."""


@dataclass
class Playtable(ManipulationWorld):
    """The config behind `conf/env/playtable.yaml`."""

    scenes: int = 1
    suite_of_50: bool = True
    """Whether `scenes=1` means the standard suite of 50 scenes; else it means one scene of each task."""
    chosen_suite: str = field(default="single", metadata={"key": "suite"})
    """`chains` has one task instead, whose scenes are chains of five (`envs.playtable.chains`)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.chosen_suite not in SUITES:
            raise ValueError(f"suite is {self.chosen_suite!r}; it can be {', '.join(SUITES)}")

    @property
    def _chains(self) -> bool:
        return self.chosen_suite == "chains"

    def definitions(self) -> Mapping[str, EmbeddedTask]:
        singles = discover("envs.playtable.tasks")
        if not self._chains:
            return singles
        sentences = {name: self.reword.get(name, task.instructions)[0] for name, task in singles.items()}
        chain = Chain(singles, sentences)
        return {chain.name: chain}

    def rewordable(self) -> Collection[str]:
        """Also in a chain it is the single tasks."""
        return discover("envs.playtable.tasks")

    def interfaces(self) -> tuple[type, ...]:
        return (*super().interfaces(), Chained) if self._chains else super().interfaces()

    def setting(self) -> Setting:
        from envs.playtable.setting import SETTING

        return SETTING

    def suite(self) -> Sequence[Task]:
        tasks = super().suite()
        if self._chains:
            return [replace(task, sentences=LENGTH) for task in tasks]
        if not self.suite_of_50:
            return tasks
        drawn = sorted((task.name for task in tasks), key=lambda name: derive("playtable", "twice", name))
        twice = set(drawn[: INSTANCES - len(tasks)])
        return tuple(replace(task, share=2) if task.name in twice else task for task in tasks)

    def kind(self) -> type[ManipulationEnvironment]:
        if not self._chains:
            return super().kind()
        from envs.playtable.environment import ChainEnvironment

        return ChainEnvironment
