"""Judges a trial by CALVIN's oracle as the official evaluation does: after every control step, each task of a chain
against the state in which it began."""

from __future__ import annotations

from collections.abc import Sequence

from envs.calvin.simulator import Simulator
from harness.failures import StepLimit
from harness.protocols import Verdict


class Judge:
    """One trial's. The next task of a chain begins in the moment in which the one before it is achieved."""

    def __init__(self, simulator: Simulator, subtasks: Sequence[str], step_limit: int) -> None:
        """`step_limit` is the number of control steps for each of the tasks."""
        self._simulator = simulator
        self._subtasks = tuple(subtasks)
        self._step_limit = step_limit
        self._start = simulator.info
        self._left = step_limit
        self.done = 0

    def before_step(self) -> None:
        """Raises `StepLimit` when the steps of the current task are spent, or those of the last one."""
        if self._left == 0:
            task = self._subtasks[min(self.done, len(self._subtasks) - 1)]
            which = (
                f" of {task}, task {self.done + 1} of {len(self._subtasks)},"
                if len(self._subtasks) > 1
                else ""
            )
            raise StepLimit(f"the {self._step_limit} control steps{which} are spent")

    def after_step(self) -> None:
        self._left -= 1
        if self.done == len(self._subtasks):
            return
        if self._simulator.achieved(self._subtasks[self.done], self._start):
            self.done += 1
            if self.done < len(self._subtasks):
                self._start = self._simulator.info
                self._left = self._step_limit

    def verdict(self) -> Verdict:
        total = len(self._subtasks)
        return Verdict(
            success=self.done == total,
            holds=self.done >= total - 1 and self._simulator.achieved(self._subtasks[-1], self._start),
            subtasks_done=self.done,
            subtasks=total,
        )
