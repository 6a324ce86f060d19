"""The embedded environment laid out as CALVIN's scene D: an arm at a desk with a drawer, a sliding door, lights
and three blocks; 34 tasks by CALVIN's names, in MuJoCo.

This module only describes it, without importing the simulator; `envs.mujoco.environment` is the simulator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from envs.mujoco.config import PandaWorld
from envs.mujoco.setting import Setting
from envs.mujoco.task import EmbeddedTask, discover
from harness.protocols import Task
from harness.seeding import derive

INSTANCES = 50
"""Scenes of the standard suite, as many as the paper's table has: one of each of the 34 tasks, and a second one of
16 tasks that the seed tree chose once."""


@dataclass
class Playtable(PandaWorld):
    """The config behind `conf/env/playtable.yaml`."""

    scenes: int = 1
    suite_of_50: bool = True
    """Whether `scenes=1` means the standard suite of 50 scenes; else it means one scene of each task."""

    def definitions(self) -> Mapping[str, EmbeddedTask]:
        return discover("envs.playtable.tasks")

    def setting(self) -> Setting:
        from envs.playtable.setting import SETTING

        return SETTING

    def suite(self) -> Sequence[Task]:
        tasks = super().suite()
        if not self.suite_of_50:
            return tasks
        drawn = sorted((task.name for task in tasks), key=lambda name: derive("playtable", "twice", name))
        twice = set(drawn[: INSTANCES - len(tasks)])
        return tuple(replace(task, share=2) if task.name in twice else task for task in tasks)
