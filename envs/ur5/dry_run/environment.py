"""The live environment of a dry run: the robot's own, with a counterpart that lays out its scenes and that the operator
looks at through this terminal."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING

from envs.ur5 import Ur5
from envs.ur5.dry_run.client import Counterpart, Eye
from envs.ur5.environment import Ur5Environment

if TYPE_CHECKING:
    from envs.mujoco.task import EmbeddedTask
    from harness.seeding import Seeds


class DryRunEnvironment(Ur5Environment):
    def __init__(self, config: Ur5, counterpart: Counterpart, pace: float) -> None:
        """Ends the counterpart when it is closed."""
        self._counterpart = counterpart
        eye = Eye(counterpart)
        super().__init__(config, eye, eye)
        self._period /= pace

    def info(self) -> Mapping[str, str]:
        return {**super().info(), "robot": "dry run", "mujoco": version("mujoco")}

    def close(self) -> None:
        super().close()
        self._counterpart.close()

    def _lay_out(self, task: EmbeddedTask, scene: int, seeds: Seeds) -> str:
        super()._lay_out(task, scene, seeds)
        return self._counterpart.lay_out(task.name, seeds.scene())

    def _question(self, task: EmbeddedTask) -> str:
        holds, held = self._counterpart.verdict()
        seen = "yes" if holds else "it was, for a moment" if held else "no"
        return f"{super()._question(task)} (on the twin's table: {seen})"
