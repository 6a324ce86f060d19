"""Judges a trial by CALVIN's oracle as the official evaluation does: after every control step, each task of a chain
against the state in which it was asked for."""

from __future__ import annotations

from collections.abc import Sequence

from envs.calvin.simulator import Simulator
from envs.chain import Progress
from harness.failures import StepLimit
from harness.protocols import Verdict


class Judge:
    """One trial's: of a single task, or of a chain, whose tasks are asked for one after the other."""

    def __init__(self, simulator: Simulator, subtasks: Sequence[str], step_limit: int) -> None:
        """`step_limit` is the number of control steps for each of the tasks. The first one is asked for already."""
        self._simulator = simulator
        self._progress = Progress(tuple(subtasks), asked=0)
        self._step_limit = self._left = step_limit
        self._start = simulator.info

    def next_task(self) -> str | None:
        """Ask for the first task that is not done; None when there is none. Its steps and its start begin when it is
        asked for the first time."""
        task, new = self._progress.next_task()
        if new:
            self._start = self._simulator.info
            self._left = self._step_limit
        return task

    def before_step(self) -> None:
        """Raises `StepLimit` when the steps of the task that was asked for are spent, and in a chain when it is done: the
        official rollout ends there."""
        progress, total = self._progress, len(self._progress.tasks)
        chain = total > 1
        which = (
            f" of {progress.tasks[progress.asked]}, task {progress.asked + 1} of {total}," if chain else ""
        )
        if chain and progress.waiting:
            raise StepLimit(f"the control steps{which} have ended: it is done")
        if self._left == 0:
            raise StepLimit(f"the {self._step_limit} control steps{which} are spent")

    def after_step(self) -> None:
        self._left -= 1
        if not self._progress.waiting:
            self._progress.notice(self._holds())

    def verdict(self) -> Verdict:
        progress, total = self._progress, len(self._progress.tasks)
        return Verdict(
            success=progress.complete,
            holds=progress.asked == total - 1 and self._holds(),
            subtasks_done=progress.done,
            subtasks=total,
        )

    def _holds(self) -> bool:
        """The oracle's word on the task that was asked for, now."""
        return self._simulator.achieved(self._progress.tasks[self._progress.asked], self._start)
