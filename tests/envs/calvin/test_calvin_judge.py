"""The official way of judging, with an oracle that is told what has been achieved."""

import pytest

from envs.calvin.judge import Judge
from harness.failures import StepLimit
from harness.protocols import Verdict


class Simulator:
    """Time is what it knows; a task is achieved at the times given, seen from a start."""

    def __init__(self, achieved: dict[str, set[int]]) -> None:
        self.info = 0
        self.starts: dict[str, set[int]] = {}
        self._achieved = achieved

    def achieved(self, task: str, start: int) -> bool:
        self.starts.setdefault(task, set()).add(start)
        return self.info in self._achieved[task]


def play(simulator: Simulator, judge: Judge, steps: int) -> None:
    for _ in range(steps):
        judge.before_step()
        simulator.info += 1
        judge.after_step()


def test_a_single_task_latches():
    simulator = Simulator({"open": {3}})
    judge = Judge(simulator, ["open"], 10)
    assert judge.verdict() == Verdict(success=False, subtasks=1)
    play(simulator, judge, 3)
    assert judge.verdict() == Verdict(success=True, holds=True, subtasks_done=1, subtasks=1)
    play(simulator, judge, 1)
    assert judge.verdict() == Verdict(success=True, holds=False, subtasks_done=1, subtasks=1)


def test_a_task_of_a_chain_is_judged_from_the_moment_in_which_it_was_asked_for():
    simulator = Simulator({"open": {2}, "light": {1, 2, 5}, "close": {8}})
    judge = Judge(simulator, ["open", "light", "close"], 5)
    assert judge.next_task() == "open"
    play(simulator, judge, 2)
    assert judge.verdict() == Verdict(success=False, subtasks_done=1, subtasks=3)
    assert judge.next_task() == judge.next_task() == "light"
    play(simulator, judge, 2)
    assert judge.next_task() == "light", "asking again gives nothing else, and no steps"
    play(simulator, judge, 1)
    assert judge.verdict() == Verdict(success=False, holds=False, subtasks_done=2, subtasks=3)
    assert judge.next_task() == "close"
    play(simulator, judge, 3)
    assert judge.verdict() == Verdict(success=True, holds=True, subtasks_done=3, subtasks=3)
    assert judge.next_task() is None
    assert simulator.starts == {"open": {0}, "light": {2}, "close": {5}}


def test_the_rollout_of_a_task_of_a_chain_ends_when_it_is_done():
    simulator = Simulator({"open": {2, 3}, "light": {2, 3}})
    judge = Judge(simulator, ["open", "light"], 5)
    with pytest.raises(StepLimit, match="of open, task 1 of 2, have ended: it is done"):
        play(simulator, judge, 5)
    assert simulator.info == 2 and judge.verdict().subtasks_done == 1
    judge.next_task()
    with pytest.raises(StepLimit, match="of light, task 2 of 2, have ended: it is done"):
        play(simulator, judge, 5)
    assert simulator.info == 3 and judge.verdict().success


def test_each_task_has_its_own_steps():
    simulator = Simulator({"open": {4}, "close": set()})
    judge = Judge(simulator, ["open", "close"], 5)
    play(simulator, judge, 4)
    judge.next_task()
    play(simulator, judge, 5)
    with pytest.raises(StepLimit, match="the 5 control steps of close, task 2 of 2, are spent"):
        play(simulator, judge, 1)
    assert simulator.info == 9
    assert judge.verdict().subtasks_done == 1


def test_a_success_at_the_last_step_counts_and_nothing_moves_after_it():
    simulator = Simulator({"open": {5}})
    judge = Judge(simulator, ["open"], 5)
    play(simulator, judge, 5)
    assert judge.verdict().success
    with pytest.raises(StepLimit, match="the 5 control steps are spent"):
        play(simulator, judge, 1)
