"""The few-shot files of the tabletop: complete, correct by their own API, and no task given away."""

from __future__ import annotations

import ast
import builtins
import re
from pathlib import Path

import pytest

from envs.tabletop import Tabletop
from harness.chat.rules import sentence as grammar
from harness.chat.rules.model import RulesModel
from harness.chat.rules.planner import sentences_of
from harness.protocols import Sampling
from methods.lmp.prompt import CONTEXT_PROGRAMS, LAZY_PROGRAMS, PROGRAMS, load_examples, messages, request

FOLDER = Path(__file__).parents[3] / "envs" / "tabletop" / "prompts"
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
API = {
    *("np", "cm2index", "index2cm", "pointat2quat", "euler2quat", "quat2euler", "qinverse", "qmult"),
    *("detect", "execute", "get_ee_pos", "reset_to_default_pose", "set_voxel_by_radius"),
    *(f"get_empty_{kind}_map" for kind in ("affordance", "avoidance", "rotation", "velocity", "gripper")),
    *PROGRAMS,
}
EXAMPLES = [(program, example) for program in PROGRAMS for example in load_examples(FOLDER, program)]
IDS = [f"{program}:{example.query}" for program, example in EXAMPLES]


def names_in(context: str) -> list[str]:
    return ast.literal_eval(context.partition("=")[2].strip()) if context else []


def content(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z]+", text.lower())) - {"the", "a", "an"}


@pytest.mark.parametrize("program", PROGRAMS)
def test_count(program):
    assert len(load_examples(FOLDER, program)) == COUNTS[program]


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_query_is_asked_twice_of_the_same_things(program):
    asked = [(example.context, example.query) for example in load_examples(FOLDER, program)]
    assert len(set(asked)) == len(asked)


@pytest.mark.parametrize(("program", "example"), EXAMPLES, ids=IDS)
def test_code_compiles_and_uses_bound_names_only(program, example):
    tree = ast.parse(example.code)
    stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    arguments = {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    loaded = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    assert loaded - stored - arguments - API - set(dir(builtins)) == set()
    assert ("ret_val" in stored) == (program in LAZY_PROGRAMS)


@pytest.mark.parametrize(("program", "example"), EXAMPLES, ids=IDS)
def test_context_line_stands_where_the_program_gets_one(program, example):
    assert bool(example.context) == (program in CONTEXT_PROGRAMS)
    assert example.query.endswith(".")


@pytest.mark.parametrize("example", load_examples(FOLDER, "planner"), ids=lambda example: example.query)
def test_plans_speak_of_their_own_things_and_end_as_told(example):
    objects = names_in(example.context)
    assert example.code.endswith("# done")
    for said in sentences_of(example.code):
        read = grammar.parse(said)
        assert read is not None, said
        assert set(read.things) <= set(objects), said


@pytest.mark.parametrize("example", load_examples(FOLDER, "planner"), ids=lambda example: example.query)
def test_every_kind_of_step_of_a_plan_is_shown_to_the_composer(example):
    shown = {
        step.action
        for other in load_examples(FOLDER, "composer")
        if (read := grammar.parse(other.query)) is not None
        for step in read.steps
    }
    used = {step.action for said in sentences_of(example.code) for step in grammar.parse(said).steps}
    assert used <= shown


@pytest.mark.parametrize("example", load_examples(FOLDER, "planner"), ids=lambda example: example.query)
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


def ask(program: str, example, others) -> str:
    asked = request(program, example.query, names_in(example.context))
    return RulesModel().complete(messages(asked, others, ""), Sampling()).text


@pytest.mark.parametrize(("program", "example"), EXAMPLES, ids=IDS)
def test_rules_answers_an_examples_query_without_having_seen_it(program, example):
    others = [other for other in load_examples(FOLDER, program) if other != example]
    answer = ask(program, example, others)
    compile(answer, program, "exec")
    if program == "planner":
        said = sentences_of(answer)
        assert said
        assert all(set(grammar.parse(s).things) <= set(names_in(example.context)) for s in said)
    elif program in LAZY_PROGRAMS:
        assert answer.splitlines()[-1].startswith("ret_val = ")
    else:
        assert not answer.startswith("#")


@pytest.mark.parametrize("example", load_examples(FOLDER, "composer"), ids=lambda example: example.query)
def test_rules_composes_as_the_examples_do(example):
    """The grammar's code for the examples' own sentences is the examples' code."""
    assert ask("composer", example, load_examples(FOLDER, "composer")) == example.code


@pytest.mark.parametrize("example", load_examples(FOLDER, "planner"), ids=lambda example: example.query)
def test_rules_follows_an_example_that_it_sees(example):
    assert ask("planner", example, load_examples(FOLDER, "planner")) == example.code
