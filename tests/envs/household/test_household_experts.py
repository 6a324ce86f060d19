"""Every task can be done: an expert that is told the oracle's subtasks does all of them, by 10 Hz actions alone."""

import pytest

from envs.household import Household
from harness.seeding import Seeds

HELD_OUT = range(1000, 1010)
NEEDED = 9


def play(kit, env, task, index):
    env.reset(task, index, Seeds("household", task, index, 0))
    return kit.Expert(env).solve()


def test_the_expert_solves_three_rounds(kit):
    env = Household(rounds=3, noise=0).open()
    assert play(kit, env, "object_search", 2000)
    assert env.verdict().subtasks == 12
    env.close()


@pytest.mark.slow
@pytest.mark.parametrize("task", [task.name for task in Household().suite()])
def test_the_expert_solves_held_out_scenes(household, kit, task):
    failed, steps = [], []
    for index in HELD_OUT:
        (steps if play(kit, household, task, index) else failed).append(household.steps())
    assert len(failed) <= len(HELD_OUT) - NEEDED
    # Half of the steps are left for looking twice and for deciding.
    assert max(steps) < household.world.task.step_limit * 0.55
