"""Judges a trial by CALVIN's oracle as the official evaluation does: after every control step, each task of a chain
against the state in which it was asked for."""

from __future__ import annotations

from collections.abc import Sequence

from envs.calvin.simulator import Simulator
from harness.failures import StepLimit
from harness.protocols import Verdict


class Judge:
    """One trial's: of a single task, or of a chain, whose tasks are asked for one after the other."""

    def __init__(self, simulator: Simulator, subtasks: Sequence[str], step_limit: int) -> None:
        """`step_limit` is the number of control steps for each of the tasks. The first one is asked for already."""
        self._simulator = simulator
        self._subtasks = tuple(subtasks)
        self._step_limit = step_limit
        self._asked = 0
        self._start = simulator.info
        self._left = step_limit
        self.done = 0

    def next_task(self) -> str | None:
        """Ask for the first task that is not done; None when there is none. Its steps and its start begin when it is
        asked for the first time."""
        if self._asked < self.done < len(self._subtasks):
            self._asked = self.done
            self._start = self._simulator.info
            self._left = self._step_limit
        return self._subtasks[self.done] if self.done < len(self._subtasks) else None

    def before_step(self) -> None:
        """Raises `StepLimit` when the steps of the task that was asked for are spent, and in a chain when it is done: the
        official rollout ends there."""
        chain = len(self._subtasks) > 1
        which = (
            f" of {self._subtasks[self._asked]}, task {self._asked + 1} of {len(self._subtasks)},"
            if chain
            else ""
        )
        if chain and self.done > self._asked:
            raise StepLimit(f"the control steps{which} have ended: it is done")
        if self._left == 0:
            raise StepLimit(f"the {self._step_limit} control steps{which} are spent")

    def after_step(self) -> None:
        self._left -= 1
        if self.done == self._asked and self._simulator.achieved(self._subtasks[self.done], self._start):
            self.done += 1

    def verdict(self) -> Verdict:
        total = len(self._subtasks)
        return Verdict(
            success=self.done == total,
            holds=self._asked == total - 1 and self._simulator.achieved(self._subtasks[-1], self._start),
            subtasks_done=self.done,
            subtasks=total,
        )
