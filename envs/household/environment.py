"""The live household: the embedded environment with a user who speaks and changes things between stages, behind
`harness.protocols.LongHorizon`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from envs.household.progress import Progress
from envs.household.sight import Eye
from envs.household.words import Wording
from envs.mujoco.environment import EmbeddedEnvironment
from harness.failures import PerceptionFailure
from harness.protocols import Fact, PointCloud, Pose, Reset, Subtask, Utterance, Verdict

if TYPE_CHECKING:
    from envs.household import Household
    from envs.mujoco.world import World
    from harness.seeding import Seeds

_FEWEST = 4
"""Fewer pixels of depth than this are not an object that is seen."""


class HouseholdEnvironment(EmbeddedEnvironment):
    """One simulator."""

    def __init__(self, config: Household) -> None:
        setting, tasks, self._wording = config.setting(), config.definitions(), Wording(config.rename)
        rename = {name: self._wording.put(name) for task in tasks.values() for name in task.objects}
        super().__init__(setting, tasks, config.suite(), config.noise, config.renderer, rename)
        self._eye: Eye | None = None
        self._progress: Progress | None = None
        self.rest = Pose(*self._kinematics.pose(np.array(setting.home)))

    @property
    def progress(self) -> Progress:
        if self._progress is None:
            raise RuntimeError("there is no scene yet: reset it first")
        return self._progress

    def reset(self, task: str, scene: int, seeds: Seeds) -> Reset:
        self._progress = None
        reset = super().reset(task, scene, seeds)
        self._progress = Progress(self.world, self._eye_of(self.world))
        words = {key: self._wording.put(word) for key, word in reset.variation.items()}
        return replace(reset, variation=words)

    def verdict(self) -> Verdict:
        """Success is that every subtask was done in its stage."""
        subtasks = self.progress.subtasks()
        done = sum(subtask.done_at is not None for subtask in subtasks)
        complete = self.progress.complete
        return Verdict(complete, holds=complete, subtasks_done=done, subtasks=len(subtasks))

    def utterances(self) -> Sequence[Utterance]:
        """See `harness.protocols.LongHorizon.utterances`."""
        return [replace(said, text=self._wording.put(said.text)) for said in self.progress.utterances]

    def subtasks(self) -> Sequence[Subtask]:
        """See `harness.protocols.LongHorizon.subtasks`."""
        return [
            replace(
                subtask,
                text=self._wording.put(subtask.text),
                facts=self._worded(subtask.facts),
                outdated=self._worded(subtask.outdated),
            )
            for subtask in self.progress.subtasks()
        ]

    def current_subtask(self) -> int | None:
        """See `harness.protocols.LongHorizon.current_subtask`."""
        return self.progress.current()

    def objects(self) -> list[str]:
        """The names of what some camera sees now: the others are for the robot to find."""
        seen = np.bincount(self.perception.look().geoms.ravel() + 1, minlength=self.world.model.ngeom + 1)[1:]
        return [
            self._rename[name]
            for name, geoms in self.world.parts.items()
            if seen[list(geoms)].sum() >= _FEWEST
        ]

    def cloud(self, name: str) -> PointCloud:
        """See `harness.protocols.LongHorizon.cloud`; knows the gripper and the table by their names, too."""
        try:
            return super().cloud(name)
        except PerceptionFailure:
            seen = ", ".join(map(repr, self.objects()))
            raise PerceptionFailure(f"no camera sees {name!r} now; they see {seen}") from None

    def _worded(self, facts: Sequence[Fact]) -> tuple[Fact, ...]:
        put = self._wording.put
        return tuple(replace(fact, subject=put(fact.subject), value=put(fact.value)) for fact in facts)

    def _eye_of(self, world: World) -> Eye:
        if self._eye is None or self._eye.world is not world:
            self._eye = Eye(world)
        return self._eye

    def _after_control_step(self) -> None:
        if self._progress is not None:
            self._progress.update(self.steps())
        super()._after_control_step()
