"""The live playtable with chains of tasks: the embedded environment, with a sentence at a time, behind
`harness.protocols.Chained`."""

from __future__ import annotations

from envs.chain import LENGTH, Progress
from envs.mujoco.environment import ManipulationEnvironment
from envs.playtable.chains import NAME, Chain
from harness.protocols import Sentence, Verdict


class ChainEnvironment(ManipulationEnvironment):
    """One simulator."""

    def next_sentence(self) -> Sentence | None:
        """See `harness.protocols.Chained.next_sentence`."""
        task, new = self._chain.next_task(self.world)
        if new:
            self.controller.allow(self._tasks[NAME].step_limit)
        return None if task is None else Sentence(task, self._chain.sentences[task])

    def verdict(self) -> Verdict:
        progress = self._progress
        return Verdict(
            self.world.succeeded, holds=progress.complete, subtasks_done=progress.done, subtasks=LENGTH
        )

    def _after_control_step(self) -> None:
        super()._after_control_step()
        if self._control is not None and self._progress.waiting:
            self._control.allow(0)  # until the next sentence is given

    @property
    def _chain(self) -> Chain:
        chain = self._definitions[NAME]
        assert isinstance(chain, Chain)
        return chain

    @property
    def _progress(self) -> Progress:
        progress: Progress = self.world.memo["progress"]
        return progress
