"""What is CALVIN's own about its few-shot files; what holds for all worlds is tested one folder up."""

import re

import pytest

from envs.calvin.control import WORKSPACE
from envs.calvin.environment import CalvinEnvironment
from envs.calvin.parts import PARTS
from harness.chat.rules.frame import read_frame
from methods.lmp.prompt import load_examples, load_frame
from tests.envs.few_shot import names_in

FOLDER = CalvinEnvironment.prompts
FRAME = load_frame(FOLDER)


@pytest.mark.parametrize(("axis", "index"), [("x", 0), ("y", 1), ("z", 2)])
def test_the_frame_states_the_workspace(axis, index):
    low, high = map(float, re.search(rf"{axis} = (-?[\d.]+) to (-?[\d.]+)", FRAME).groups())
    assert [low, high] == WORKSPACE[:, index].tolist()


def test_the_frame_is_the_environments():
    axes = read_frame((), FRAME).axes
    assert axes["right"] == ("x", 1) and axes["behind"] == ("y", 1) and axes["above"] == ("z", 1)


def test_no_example_speaks_of_a_thing_of_the_table():
    for program in ("planner", "parse_query_obj"):
        for example in load_examples(FOLDER, program):
            assert not set(names_in(example.context)) & set(PARTS), example.query


@pytest.mark.calvin
def test_no_example_is_a_sentence_of_the_benchmark(calvin):
    checkout = calvin._checkout
    sentences = {*checkout.validation_sentences().values()}
    sentences |= {sentence for several in checkout.training_sentences().values() for sentence in several}
    asked = {example.query.rstrip(".") for example in load_examples(FOLDER, "planner")}
    assert not asked & sentences
