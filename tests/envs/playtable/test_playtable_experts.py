"""The tasks can be done: hand-written experts solve at least 32 of the 34, each on 9 of 10 held-out scenes, through
the motion interface. Families run apart; what they may miss adds up to two tasks, so that all of them passing is
the rule for the whole."""

import pytest

from envs.playtable import Playtable
from harness.failures import StepLimit
from harness.seeding import Seeds

TASKS = sorted(Playtable().definitions())
HELD_OUT = range(1000, 1010)
ENOUGH = 9
TO_SOLVE = 32
MAY_MISS = {
    "rotate": 2,
    "push": 0,
    "lift": 0,
    "place": 0,
    "stack": 0,
    "unstack": 0,
    "move_slider": 0,
    "open": 0,
    "close": 0,
    "turn": 0,
}
"""Beginning of the names of a family's tasks, and how many of them the expert need not solve. The pink block is as
long as the gripper opens, so it is turned by its narrow sides only, and there the hand can run into the door's grip."""


def family(name: str) -> list[str]:
    return [task for task in TASKS if task.startswith(f"{name}_")]


def play(env, expert, task: str, scene: int) -> bool:
    env.reset(task, scene, Seeds("playtable", task, scene, 0))
    assert not env.verdict().success, f"{task} is solved before anything moved"
    try:
        expert.solve(env, task)
    except StepLimit:
        return False
    verdict = env.verdict()
    return verdict.success and not verdict.failed


def test_the_families_together_must_solve_32_of_34_tasks():
    assert sorted(task for name in MAY_MISS for task in family(name)) == TASKS
    assert len(TASKS) == 34
    assert len(TASKS) - sum(MAY_MISS.values()) >= TO_SOLVE


@pytest.mark.slow
@pytest.mark.parametrize("name", MAY_MISS)
def test_experts_solve_held_out_scenes(playtable, expert, name):
    solved = {
        task: [scene for scene in HELD_OUT if play(playtable, expert, task, scene)] for task in family(name)
    }
    missed = {task: scenes for task, scenes in solved.items() if len(scenes) < ENOUGH}
    assert len(missed) <= MAY_MISS[name], f"the expert solved only these scenes: {missed}"
