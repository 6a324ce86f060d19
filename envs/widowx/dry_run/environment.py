"""The live environment of a dry run: the robot's own, whose cameras are the twin's, and whose oracle is the operator with the
twin's table before him, or the twin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING

from envs.robots import stop
from envs.robots.operator import Operator
from envs.widowx.dry_run import WidowXDryRun
from envs.widowx.dry_run.client import Counterpart
from envs.widowx.environment import WidowXEnvironment
from envs.widowx.oracle import OperatorOracle, Oracle
from envs.widowx.sheet import Sheets

if TYPE_CHECKING:
    from harness.protocols import Image, PointCloud, Reset, Subtask, Utterance, Verdict, View
    from harness.seeding import Seeds


class TwinEyes:
    """See `envs.widowx.eyes.Eyes`."""

    def __init__(self, counterpart: Counterpart) -> None:
        self._counterpart = counterpart

    def forget(self) -> None:
        """Nothing is kept."""

    def render(self, camera: str) -> Image:
        image: Image = self._counterpart.ask("render", camera)
        return image

    def view(self, camera: str, gripper: float) -> View:
        view: View = self._counterpart.ask("view", camera)
        return view

    def objects(self) -> list[str]:
        names: list[str] = self._counterpart.ask("objects")
        return names

    def cloud(self, name: str) -> PointCloud:
        cloud: PointCloud = self._counterpart.ask("cloud", name)
        return cloud

    def close(self) -> None:
        """The process is ended by whoever started it."""


class TwinOracle:
    """See `envs.widowx.oracle.Oracle`: the household's rules."""

    def __init__(self, counterpart: Counterpart) -> None:
        self._counterpart = counterpart

    def begin(self, task: str, scene: int, seeds: Seeds) -> Reset:
        reset: Reset = self._counterpart.ask("reset", task, scene, seeds)
        return reset

    def update(self, step: int) -> None:
        """The twin has watched."""

    def subtasks(self) -> Sequence[Subtask]:
        subtasks: Sequence[Subtask] = self._counterpart.ask("subtasks")
        return subtasks

    def current(self) -> int | None:
        index: int | None = self._counterpart.ask("current_subtask")
        return index

    def utterances(self) -> Sequence[Utterance]:
        said: Sequence[Utterance] = self._counterpart.ask("utterances")
        return said

    def verdict(self) -> Verdict:
        verdict: Verdict = self._counterpart.ask("verdict")
        return verdict


class AttendedTwin(OperatorOracle):
    """The operator, for whom the twin lays out the scene and changes the table, and who is told how it stands there."""

    def __init__(
        self, operator: Operator, sheets: Sheets, folder: str | None, counterpart: Counterpart
    ) -> None:
        super().__init__(operator, sheets, partial(stop.stop, stop.place(folder)))
        self._counterpart = counterpart

    def _laid_out(self, task: str, scene: int, seeds: Seeds) -> str:
        return str(self._counterpart.ask("reset", task, scene, seeds).state_hash)

    def _changed(self, stage: int) -> None:
        self._counterpart.ask("change", stage)

    def _seen(self, stage: int, place: int) -> str:
        return "   (it is so on the twin's table)" if self._counterpart.ask("seen", stage, place) else ""


class DryRunEnvironment(WidowXEnvironment):
    def __init__(
        self, config: WidowXDryRun, counterpart: Counterpart, operator: Operator | None, oracle: Oracle
    ) -> None:
        """Ends the counterpart when it is closed."""
        self._counterpart, self._oracle_name = counterpart, config.oracle
        eyes = TwinEyes(counterpart)
        super().__init__(config, counterpart.address, operator, oracle, eyes, config.confirm)

    def info(self) -> Mapping[str, str]:
        return {**super().info(), "oracle": self._oracle_name, "mujoco": version("mujoco")}

    def close(self) -> None:
        super().close()
        self._counterpart.close()


def opened(config: WidowXDryRun) -> DryRunEnvironment:
    """Starts the twin's process. Raises `SimulatorError`."""
    with ExitStack() as unused:
        operator = None
        if config.attended:
            operator = Operator()
            unused.callback(operator.close)
        counterpart = Counterpart(config)
        unused.callback(counterpart.close)
        oracle: Oracle = TwinOracle(counterpart)
        if operator is not None and config.oracle == "operator":
            oracle = AttendedTwin(operator, Sheets(config.household()), config.stop_folder, counterpart)
        env = DryRunEnvironment(config, counterpart, operator, oracle)
        unused.pop_all()
        return env
