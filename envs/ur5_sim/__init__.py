"""The embedded twin of the MTP paper's experiment on a real robot (section IV-C, Table IV): a UR5 with a parallel
gripper at a table, four tasks, in MuJoCo.

What is not as in the paper: the physics judges where an operator did, and counts a goal as reached the moment that it
is, where an operator looks when the robot has stopped; `detect` is by the simulator's segmentation with noise, not by
LangSAM; the objects are of our own making.

This module only describes it, without importing the simulator; `envs.mujoco.environment` is the simulator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from envs.mujoco.config import ManipulationWorld
from envs.mujoco.setting import Setting
from envs.mujoco.task import EmbeddedTask, discover


@dataclass
class Ur5Sim(ManipulationWorld):
    """The config behind `conf/env/ur5_sim.yaml`."""

    def definitions(self) -> Mapping[str, EmbeddedTask]:
        return discover("envs.ur5_sim.tasks")

    def setting(self) -> Setting:
        from envs.ur5_sim.setting import SETTING

        return SETTING
