"""The few-shot files of the UR5's world: in its conventions, no task of any world given away, and every instruction
planned with them. What holds for every world's files is in `tests/envs/test_few_shot_files.py`."""

from __future__ import annotations

import re

import pytest

from envs.ur5_sim import Ur5Sim
from envs.ur5_sim.setting import SETTING
from harness.chat.rules import sentence as grammar
from harness.chat.rules.frame import read_frame
from harness.chat.rules.planner import sentences_of
from methods.lmp.prompt import PROGRAMS, load_examples, load_frame
from tests.envs.few_shot import FOLDERS, ask, by_query, names_in

FOLDER = FOLDERS["ur5_sim"]
PLANS = load_examples(FOLDER, "planner")
COUNTS = {
    "planner": 8,
    "composer": 20,
    "parse_query_obj": 9,
    "get_affordance_map": 15,
    "get_avoidance_map": 5,
    "get_velocity_map": 4,
    "get_rotation_map": 6,
    "get_gripper_map": 4,
}
TASKS = Ur5Sim().definitions()


def test_these_are_the_files_that_the_environment_shows():
    assert SETTING.prompts == FOLDER
    assert {program: len(load_examples(FOLDER, program)) for program in PROGRAMS} == COUNTS


def test_left_is_more_y():
    expected = {"left": ("y", 1), "right": ("y", -1), "front": ("x", 1), "behind": ("x", -1)}
    axes = read_frame(load_examples(FOLDER, "get_affordance_map")).axes
    assert {way: axes[way] for way in expected} == expected
    stated = read_frame([], load_frame(FOLDER)).axes
    assert {way: stated[way] for way in expected} == expected


@pytest.mark.parametrize(
    ("program", "query", "part"),
    [
        ("get_affordance_map", "a point 10cm to the left of [50 40 30]", "y = 40 + cm2index(10, 'y')"),
        ("get_affordance_map", "a point 5cm to the right of the jug", "y = min_y - cm2index(5, 'y')"),
    ],
)
def test_places_are_computed_in_its_frame(program, query, part):
    assert part in ask(program, query, ["jug"], load_examples(FOLDER, program), load_frame(FOLDER))


@pytest.mark.parametrize("example", PLANS, ids=by_query)
def test_plans_measure_in_millimetres_and_rest_at_the_home_position(example):
    said = " ".join(sentences_of(example.code))
    assert not re.search(r"\d ?(?:cm|m)\b", said)
    assert "default" not in said
    assert "ready" not in said
    assert re.search(r"\b\d+mm\b", said)


@pytest.mark.parametrize("example", PLANS, ids=by_query)
def test_no_example_is_a_task(example):
    """Nor one of its kind: nothing is pressed, pushed, turned or uncovered."""
    objects = names_in(example.context)
    for task in TASKS.values():
        assert set(objects).isdisjoint(task.objects)
    said = f"{example.query} {' '.join(objects)}"
    assert not re.search(r"\b(press|push|rotate|turn|button|box|tape|cup|lid|remove)", said)


@pytest.mark.parametrize("name", sorted(TASKS))
def test_rules_plans_every_instruction_with_the_scenes_things(name):
    task = TASKS[name]
    for instruction in task.instructions:
        said = sentences_of(ask("planner", f"{instruction}.", list(task.objects), PLANS))
        assert said, instruction
        for sentence in said:
            read = grammar.parse(sentence)
            assert read is not None, (instruction, sentence)
            assert set(read.things) <= set(task.objects), (instruction, sentence)
