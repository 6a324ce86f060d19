"""Where a program's code comes from, and which replies are not run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.protocols import Reply
from methods.lmp.prompt import Request, Section, request
from methods.lmp.writer import Writer, cut_at_next_query
from methods.replan import Proposal
from tests.methods.conftest import Stage

Build = Callable[..., Stage]
PLAN = Request("planner", "lift the red block.", "objects = ['red block']")
STEP = Request("composer", "move up.")


def write(one: Stage, asked: Request, proposal: Proposal | None = None) -> tuple[str, dict[str, object]]:
    with one.episode.trial() as trial:
        writer = Writer(one.episode, trial, one.world.prompts, proposal or Proposal())
        code = writer.write(asked)
        assert writer.write(asked) == code
    return code, trial.record.facts


def test_each_distinct_request_is_asked_once(stage: Build) -> None:
    one = stage({"lift the red block.": "x = 1", "move up.": "y = 2"})
    code, facts = write(one, PLAN)
    assert code == "x = 1"
    assert len(one.chat.asked) == 1
    assert facts["programs"] == {"asked": 1, "replayed": 0}
    assert facts["planner_code"] == "x = 1"


def test_what_is_given_is_not_asked(stage: Build) -> None:
    one = stage({})
    code, facts = write(one, STEP, Proposal(code={STEP: "z = 3"}))
    assert code == "z = 3"
    assert one.chat.asked == []
    assert facts["programs"] == {"asked": 0, "replayed": 1}
    assert [entry["origin"] for entry in one.traced("code")] == ["replayed"]


def test_sections_go_to_the_planner_only(stage: Build) -> None:
    one = stage({"lift the red block.": "x = 1", "move up.": "y = 2"})
    proposal = Proposal(sections=(Section("A hint.", (b"png",)),))
    write(one, PLAN, proposal)
    write(one, STEP, proposal)
    planner, composer = (messages[-1] for messages in one.chat.asked)
    assert planner.text.startswith("A hint.\n\n")
    assert planner.images == (b"png",)
    assert "A hint." not in composer.text
    assert composer.images == ()


def test_programs_that_look_are_told_the_objects_and_others_are_not() -> None:
    assert request("planner", "x", ["cup"]).context == "objects = ['cup']"
    assert request("parse_query_obj", "x", ["cup"]).context == "objects = ['cup']"
    assert request("composer", "x", ["cup"]).context == ""


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (Reply("", finish_reason="stop"), "empty"),
        (Reply("  \n ", finish_reason="stop"), "empty"),
        (Reply("x = 1", finish_reason="length", completion_tokens=512), "cut off after 512 tokens"),
        (Reply("I cannot", finish_reason="content_filter"), "refused"),
        (Reply("I am sorry, I can not help with that."), "no program"),
        (Reply("```python\n```"), "no statement"),
    ],
)
def test_a_reply_that_is_no_program_is_a_generation_failure(stage: Build, reply: Reply, message: str) -> None:
    one = stage({"lift the red block.": reply})
    with one.episode.trial() as trial:
        Writer(one.episode, trial, one.world.prompts, Proposal()).write(PLAN)
    assert trial.record.failure == "generation"
    assert message in str(trial.record.reason)
    assert "planner for `lift the red block.`" in str(trial.record.reason)


def test_what_had_to_be_put_right_is_counted(stage: Build) -> None:
    going_on = "x = 1\n\n# Query: another thing.\ny = 2"
    one = stage({"lift the red block.": going_on})
    with one.episode.trial() as trial:
        code = Writer(one.episode, trial, one.world.prompts, Proposal()).write(PLAN)
    assert code == "x = 1"
    assert trial.record.events == {"reply: went on with another query": 1}


@pytest.mark.parametrize(
    ("code", "kept"),
    [
        ("# Query: lift it.\nx = 1", "# Query: lift it.\nx = 1"),
        ("# Query: lift   it\nx = 1", "# Query: lift   it\nx = 1"),
        ("x = 1\n# Query: drop it.\ny = 2", "x = 1"),
        ("x = 1", "x = 1"),
        ("# Query: drop it.\ny = 2", ""),
    ],
)
def test_only_a_query_that_was_not_asked_ends_the_code(code: str, kept: str) -> None:
    assert cut_at_next_query(code, "lift it.") == (kept, kept != code)
