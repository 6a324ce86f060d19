"""Every task can be done: an expert that is told the oracle's subtasks does all of them, by 10 Hz actions alone."""

import pytest

from envs.household import Household
from harness.seeding import Seeds

HELD_OUT = range(1000, 1010)
NEEDED = 9


def play(kit, env, task, index):
    env.reset(task, index, Seeds("household", task, index, 0))
    return kit.Expert(env).solve()


@pytest.mark.parametrize("task", [task.name for task in Household().suite()])
def test_the_expert_solves_a_scene_in_half_of_the_steps(household, kit, task):
    assert play(kit, household, task, 2000)
    assert household.steps() < household.world.task.step_limit * 0.55
    assert [subtask.done_at for subtask in household.subtasks()] == sorted(
        subtask.done_at for subtask in household.subtasks()
    )


def test_the_expert_solves_three_rounds(kit):
    env = Household(rounds=3, noise=0).open()
    assert play(kit, env, "object_search", 2000)
    assert env.verdict().subtasks == 12
    env.close()


@pytest.mark.slow
@pytest.mark.parametrize("task", [task.name for task in Household().suite()])
def test_the_expert_solves_held_out_scenes(household, kit, task):
    failed = [index for index in HELD_OUT if not play(kit, household, task, index)]
    assert len(HELD_OUT) - len(failed) >= NEEDED, f"the expert failed scenes {failed}"
