"""The few-shot files of the playtable: in its conventions, no task of either world given away, and every instruction
planned with them. What holds for every world's files is in `tests/envs/test_few_shot_files.py`."""

from __future__ import annotations

import ast
import re

import mujoco
import numpy as np
import pytest

from envs.playtable import Playtable
from envs.playtable.setting import SETTING
from envs.tabletop import Tabletop
from harness.chat.rules import sentence as grammar
from harness.chat.rules.frame import read_frame
from harness.chat.rules.planner import sentences_of
from methods.lmp.prompt import PROGRAMS, load_examples, load_frame
from tests.envs.few_shot import FOLDERS, ask, by_query, names_in, of

FOLDER = FOLDERS["playtable"]
COUNTS = {
    "planner": 13,
    "composer": 11,
    "parse_query_obj": 7,
    "get_affordance_map": 9,
    "get_avoidance_map": 3,
    "get_velocity_map": 2,
    "get_rotation_map": 4,
    "get_gripper_map": 3,
}
EXAMPLES = of("playtable")
PLANS = load_examples(FOLDER, "planner")
TASKS = {**Playtable().definitions(), **Tabletop().definitions()}


def content(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z]+", text.lower())) - {
        "the",
        "a",
        "an",
        "of",
        "out",
        "to",
        "in",
        "on",
        "that",
    }


def called(tree: ast.AST, name: str) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
    ]


def test_these_are_the_files_that_the_environment_shows():
    assert SETTING.prompts == FOLDER
    assert {program: len(load_examples(FOLDER, program)) for program in PROGRAMS} == COUNTS


@pytest.mark.parametrize("example", load_examples(FOLDER, "parse_query_obj"), ids=by_query)
def test_only_things_that_are_there_are_detected(example):
    known = {*names_in(example.context), *SETTING.effector_names, *SETTING.surface_names}
    asked = {call.args[0].value for call in called(ast.parse(example.code), "detect")}
    assert asked <= known
    assert bool(asked) == (example.code.strip() != "ret_val = None")


@pytest.mark.parametrize("example", load_examples(FOLDER, "composer"), ids=by_query)
def test_a_step_executes_the_maps_that_it_made(example):
    tree = ast.parse(example.code)
    made = {
        node.targets[0].id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and node.targets[0].id.endswith("_map")
    }
    executed = called(tree, "execute")
    assert made == {keyword.arg for call in executed for keyword in call.keywords}
    assert all(keyword.arg == keyword.value.id for call in executed for keyword in call.keywords)
    assert bool(executed) != bool(called(tree, "reset_to_default_pose"))


# Conventions: other words and axes than the tabletop's


def test_left_is_less_x_and_front_is_less_y():
    examples = [example for program, example in EXAMPLES if program == "get_affordance_map"]
    assert read_frame(examples).axes == {
        "left": ("x", -1),
        "right": ("x", 1),
        "front": ("y", -1),
        "behind": ("y", 1),
        "above": ("z", 1),
        "below": ("z", -1),
    }
    tabletop = load_examples(FOLDERS["tabletop"], "get_affordance_map")
    assert read_frame(tabletop).axes["left"] == ("y", -1)


@pytest.mark.parametrize(
    ("program", "query", "part"),
    [
        ("parse_query_obj", "the leftmost cup", "position[0])\nret_val = things[0]"),
        ("parse_query_obj", "the frontmost cup", "position[1])\nret_val = things[0]"),
        ("get_avoidance_map", "anywhere to the left of the cup", "avoidance_map[:min_x + 1, "),
        ("get_rotation_map", "face right", "pointat2quat([1, 0, 0])"),
    ],
)
def test_programs_whose_examples_show_no_axis_use_the_stated_ones(program, query, part):
    """In the tabletop's convention, left and right are along y."""
    things = ["red cup", "blue cup"]
    assert part in ask(program, query, things, load_examples(FOLDER, program), load_frame(FOLDER))


def test_clockwise_is_seen_from_above(scene):
    """The example's turn about the gripper's own axis, done by an arm that points down, lessens its yaw."""
    turn = next(e for e in load_examples(FOLDER, "get_rotation_map") if " clockwise by 90" in e.query)
    assert "euler2quat(0, 0, np.pi * 90 / 180)" in turn.code
    assert "qmult(current, delta)" in turn.code
    current = scene("open_drawer", 0).pose().quaternion
    delta, turned = np.array([np.cos(np.pi / 4), 0, 0, np.sin(np.pi / 4)]), np.empty(4)
    mujoco.mju_mulQuat(turned, current, delta)
    before, after = np.empty(9), np.empty(9)
    mujoco.mju_quat2Mat(before, current)
    mujoco.mju_quat2Mat(after, turned)
    change = after.reshape(3, 3) @ before.reshape(3, 3).T
    assert np.degrees(np.arctan2(change[1, 0], change[0, 0])) == pytest.approx(-90, abs=2)


@pytest.mark.parametrize("example", PLANS, ids=by_query)
def test_plans_measure_in_metres_and_rest_at_the_ready_position(example):
    said = " ".join(sentences_of(example.code))
    assert not re.search(r"\d ?cm\b", said)
    assert "default" not in said
    assert "home" not in said
    assert re.search(r"\b\d\.\d+m\b", said)


def test_the_other_world_measures_and_rests_otherwise():
    plans = load_examples(FOLDERS["tabletop"], "planner")
    said = " ".join(sentence for example in plans for sentence in sentences_of(example.code))
    assert "ready position" not in said
    assert re.search(r"\d ?cm\b", said)


# Nothing is given away


@pytest.mark.parametrize("example", PLANS, ids=by_query)
def test_no_example_is_a_task(example):
    """It may share a verb, but never a thing, an instruction, or half of the words of both."""
    objects = names_in(example.context)
    mine = content(example.query)
    for task in TASKS.values():
        assert set(objects).isdisjoint(task.objects), task.name
        for instruction in task.instructions:
            theirs = content(re.sub(r"\{\w+\}", "", instruction))
            assert mine != theirs, (task.name, instruction)
            everything = mine | content(" ".join(objects))
            whole = theirs | content(" ".join(task.objects))
            assert len(everything & whole) < len(whole) / 2, (task.name, instruction)


def test_no_example_of_any_program_names_a_thing_of_the_playtable():
    things = [
        *Playtable().definitions()["open_drawer"].objects,
        "block",
        "drawer",
        "door",
        "lever",
        "bulb",
        "led",
    ]
    for program, example in EXAMPLES:
        text = f"{example.context} {example.query} {example.code}".lower().replace("_", " ")
        found = [thing for thing in things if re.search(rf"\b{thing}s?\b", text)]
        assert found == [], (program, example.query)


# The model of the project


@pytest.mark.parametrize("name", sorted(Playtable().definitions()))
def test_rules_plans_every_instruction_with_the_scenes_things(name):
    task = Playtable().definitions()[name]
    for instruction in task.instructions:
        said = sentences_of(ask("planner", f"{instruction}.", list(task.objects), PLANS))
        assert said, instruction
        for sentence in said:
            read = grammar.parse(sentence)
            assert read is not None, (instruction, sentence)
            assert set(read.things) <= set(task.objects), (instruction, sentence)
