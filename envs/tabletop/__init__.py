"""The embedded environment of nine tasks by RLBench's names: an arm at a table, in MuJoCo.

This module only describes it, without importing the simulator; `envs.mujoco.environment` is the simulator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from envs.mujoco.config import ManipulationWorld
from envs.mujoco.setting import Setting
from envs.mujoco.task import EmbeddedTask, discover


@dataclass
class Tabletop(ManipulationWorld):
    """The config behind `conf/env/tabletop.yaml`."""

    def definitions(self) -> Mapping[str, EmbeddedTask]:
        return discover("envs.tabletop.tasks")

    def setting(self) -> Setting:
        from envs.tabletop.setting import SETTING

        return SETTING
