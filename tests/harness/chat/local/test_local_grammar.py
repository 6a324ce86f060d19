from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.chat.local.grammar import PLANNER, grammar_of
from harness.protocols import Message
from methods.code_memory.records import Record
from methods.lmp.prompt import PROGRAMS, load_examples, messages, request
from methods.replan.transfer import adaptation

PROMPTS = sorted(path.parent for path in Path("envs").glob("*/prompts/planner.txt"))
PLAN = re.compile(r'(composer\("[^"\\\n\r]{1,120}"\)\n){1,16}# done')
"""What the grammar says, as a regular expression."""


def test_it_is_the_grammar_that_the_tests_mean() -> None:
    assert PLANNER == (
        'root ::= (step "\\n"){1,16} "# done"\nstep ::= "composer(\\"" [^"\\\\\\n\\r]{1,120} "\\")"\n'
    )


@pytest.mark.parametrize("folder", PROMPTS, ids=lambda folder: folder.parent.name)
def test_every_plan_of_the_examples_can_be_written(folder: Path) -> None:
    for example in load_examples(folder, "planner"):
        assert PLAN.fullmatch(example.code), example.code


@pytest.mark.parametrize("program", PROGRAMS)
def test_it_holds_for_plans_only(program: str) -> None:
    asked = messages(
        request(program, "open the drawer", ["drawer"]), load_examples(PROMPTS[0], program), "Axes."
    )
    assert grammar_of("planner", asked) == (PLANNER if program == "planner" else None)
    assert grammar_of("none", asked) is None


def test_it_holds_for_a_plan_that_is_adapted() -> None:
    record = Record("env", "task", "open the drawer", 'composer("grasp the handle")')
    assert grammar_of("planner", adaptation(record, PROMPTS[0])) == PLANNER


def test_what_a_user_says_chooses_nothing() -> None:
    assert grammar_of("planner", [Message("user", "You complete the program `planner`")]) is None
