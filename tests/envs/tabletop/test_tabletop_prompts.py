"""The few-shot files of the tabletop: how many there are, no task given away, and composed by the grammar as they are.
What holds for every world's files is in `tests/envs/test_few_shot_files.py`."""

from __future__ import annotations

import re

import pytest

from envs.tabletop import Tabletop
from methods.lmp.prompt import PROGRAMS, load_examples
from tests.envs.few_shot import FOLDERS, ask_as, by_query, names_in

FOLDER = FOLDERS["tabletop"]
COUNTS = {
    "planner": 15,
    "composer": 20,
    "parse_query_obj": 9,
    "get_affordance_map": 15,
    "get_avoidance_map": 5,
    "get_velocity_map": 4,
    "get_rotation_map": 6,
    "get_gripper_map": 4,
}


def content(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z]+", text.lower())) - {"the", "a", "an"}


def test_count():
    assert {program: len(load_examples(FOLDER, program)) for program in PROGRAMS} == COUNTS


@pytest.mark.parametrize("example", load_examples(FOLDER, "planner"), ids=by_query)
def test_no_example_is_a_task(example):
    """It may share a verb or a thing, but never its instruction and its things together: of the words of a task's
    instruction and things, an example has few."""
    objects = names_in(example.context)
    mine = content(example.query) | content(" ".join(objects))
    for task in Tabletop().definitions().values():
        assert set(objects).isdisjoint(task.objects), task.name
        for instruction in task.instructions:
            assert content(example.query) != content(re.sub(r"\{\w+\}", "", instruction))
            theirs = content(instruction) | content(" ".join(task.objects))
            assert len(mine & theirs) < len(theirs) / 2, (task.name, instruction)


@pytest.mark.parametrize("example", load_examples(FOLDER, "composer"), ids=by_query)
def test_rules_composes_as_the_examples_do(example):
    """The grammar's code for the examples' own sentences is the examples' code."""
    assert ask_as("composer", example, load_examples(FOLDER, "composer")) == example.code
