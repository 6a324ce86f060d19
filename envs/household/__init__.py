"""The embedded environment for long-horizon tasks: a WidowX-250s at a table with boxes, plates and toys, and a user
who speaks and changes things during the run. Three tasks after those of the HiMe paper (appendix A), in MuJoCo.

This module only describes it, without importing the simulator; `envs.household.environment` is the simulator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from envs.household.task import HouseholdTask
from envs.household.words import Wording
from envs.mujoco.config import EmbeddedWorld
from envs.mujoco.task import discover
from harness.failures import UsageError
from harness.protocols import LongHorizon, Task

if TYPE_CHECKING:
    from envs.household.environment import HouseholdEnvironment
    from envs.mujoco.setting import Setting


@dataclass
class Household(EmbeddedWorld):
    """The config behind `conf/env/household.yaml`."""

    rounds: int | None = None
    """Rounds of object_search as in the paper's Table 10, four subtasks each; null is the task of its main tables,
    which ends with a preference."""

    def definitions(self) -> Mapping[str, HouseholdTask]:
        """See `EmbeddedWorld.definitions`. Raises `UsageError` for another number of rounds."""
        if self.rounds not in (None, 1, 2, 3):
            raise UsageError(f"env.rounds is {self.rounds}; it can be 1, 2, 3 or null.")
        found = {}
        for name, task in discover("envs.household.tasks").items():
            assert isinstance(task, HouseholdTask)
            found[name] = task if self.rounds is None else task.in_rounds(self.rounds)
        return found

    def setting(self) -> Setting:
        from envs.household.setting import SETTING

        return SETTING

    def suite(self) -> Sequence[Task]:
        put = Wording(self.rename).put
        return tuple(
            replace(task, instructions=tuple(put(text) for text in task.instructions))
            for task in super().suite()
        )

    def interfaces(self) -> tuple[type, ...]:
        return (*super().interfaces(), LongHorizon)

    def open(self) -> HouseholdEnvironment:
        from envs.household.environment import HouseholdEnvironment

        return HouseholdEnvironment(self)
