"""The few-shot files of every world: complete, correct by their own API, and answered by `rules`. What is one world's
own is in its folder."""

from __future__ import annotations

import ast
import builtins

import pytest

from harness.chat.rules import sentence as grammar
from harness.chat.rules.planner import sentences_of
from methods.lmp.prompt import CONTEXT_PROGRAMS, LAZY_PROGRAMS, PROGRAMS, Example, load_examples
from tests.envs.few_shot import FOLDERS, ask_as, names_in, of

API = {
    *("np", "cm2index", "index2cm", "pointat2quat", "euler2quat", "quat2euler", "qinverse", "qmult"),
    *("detect", "execute", "get_ee_pos", "reset_to_default_pose", "set_voxel_by_radius"),
    *(f"get_empty_{kind}_map" for kind in ("affordance", "avoidance", "rotation", "velocity", "gripper")),
    *PROGRAMS,
}
EXAMPLES = [(world, *found) for world in FOLDERS for found in of(world)]
each_example = pytest.mark.parametrize(
    ("world", "program", "example"), EXAMPLES, ids=[f"{w}:{p}:{e.query}" for w, p, e in EXAMPLES]
)
PLANS = [(world, example) for world, program, example in EXAMPLES if program == "planner"]
each_plan = pytest.mark.parametrize(("world", "plan"), PLANS, ids=[f"{w}:{e.query}" for w, e in PLANS])


@pytest.mark.parametrize("world", FOLDERS)
def test_each_program_has_its_file_and_no_query_is_asked_twice_of_the_same_things(world: str) -> None:
    assert {path.stem for path in FOLDERS[world].glob("*.txt")} == {*PROGRAMS, "frame"}
    for program in PROGRAMS:
        asked = [(example.context, example.query) for example in load_examples(FOLDERS[world], program)]
        assert len(set(asked)) == len(asked)


@each_example
def test_code_compiles_and_uses_bound_names_only(world: str, program: str, example: Example) -> None:
    tree = ast.parse(example.code)
    stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    arguments = {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    loaded = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    assert loaded - stored - arguments - API - set(dir(builtins)) == set()
    assert ("ret_val" in stored) == (program in LAZY_PROGRAMS)


@each_example
def test_context_line_stands_where_the_program_gets_one(world: str, program: str, example: Example) -> None:
    assert bool(example.context) == (program in CONTEXT_PROGRAMS)
    assert example.query.endswith(".")


@each_plan
def test_plans_speak_of_their_own_things_and_end_as_told(world: str, plan: Example) -> None:
    assert plan.code.endswith("# done")
    for said in sentences_of(plan.code):
        read = grammar.parse(said)
        assert read is not None, said
        assert set(read.things) <= set(names_in(plan.context)), said


@each_plan
def test_every_kind_of_step_of_a_plan_is_shown_to_the_composer(world: str, plan: Example) -> None:
    assert steps(sentences_of(plan.code)) <= steps(
        example.query for example in load_examples(FOLDERS[world], "composer")
    )


def steps(sentences) -> set[str]:
    read = [parsed for said in sentences if (parsed := grammar.parse(said)) is not None]
    return {step.action for parsed in read for step in parsed.steps}


@each_example
def test_rules_answers_an_examples_query_without_having_seen_it(
    world: str, program: str, example: Example
) -> None:
    others = [other for other in load_examples(FOLDERS[world], program) if other != example]
    answer = ask_as(program, example, others)
    compile(answer, program, "exec")
    if program == "planner":
        said = sentences_of(answer)
        assert said
        assert all(set(grammar.parse(s).things) <= set(names_in(example.context)) for s in said)
    elif program in LAZY_PROGRAMS:
        assert answer.splitlines()[-1].startswith("ret_val = ")
    else:
        assert not answer.startswith("#")


@each_plan
def test_rules_follows_an_example_that_it_sees(world: str, plan: Example) -> None:
    assert ask_as("planner", plan, load_examples(FOLDERS[world], "planner")) == plan.code
