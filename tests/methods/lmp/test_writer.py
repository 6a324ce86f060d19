"""Where a program's code comes from, and which replies are not run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from harness.failures import ProviderError
from harness.protocols import Message, Reply, Sampling
from methods.lmp.prompt import PROGRAMS, Request, Section, request
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


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_planner_and_the_composer_have_roles_of_their_own(stage: Build, program: str) -> None:
    one = stage({"it.": "ret_val = 1"})
    roles: list[str] = []
    one.episode.models = lambda role: roles.append(role) or one.chat  # type: ignore[func-returns-value]
    _, facts = write(one, Request(program, "it."))
    assert roles == [program if program in ("planner", "composer") else "low_level"]
    assert ("planner_code" in facts) == (program == "planner")
    assert one.chat.asked[0][0].text.startswith(f"You complete the program `{program}` for a robot arm.\n")


class Noting:
    """Notes how it was to draw."""

    name = "noting"

    def __init__(self) -> None:
        self.samplings: list[Sampling] = []

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        self.samplings.append(sampling)
        return Reply("x = 1")

    def close(self) -> None: ...


@pytest.mark.parametrize(("wanted", "temperature"), [(None, 0.25), (0.9, 0.9), (0.0, 0.0)])
def test_a_proposal_may_set_the_temperature_and_nothing_else(
    stage: Build, wanted: float | None, temperature: float
) -> None:
    one, chat = stage({}), Noting()
    one.episode.models = lambda role: chat
    one.episode.sampling = Sampling(temperature=0.25, max_tokens=77, stop=("# Query:",))
    write(one, PLAN, Proposal(temperature=wanted))
    write(one, STEP, Proposal(temperature=wanted))
    assert [sampling.temperature for sampling in chat.samplings] == [temperature] * 2
    assert {(sampling.max_tokens, sampling.stop) for sampling in chat.samplings} == {(77, ("# Query:",))}
    assert chat.samplings[0].seed != chat.samplings[1].seed


def test_requests_differ_by_program_query_and_objects(stage: Build) -> None:
    one = stage({"it.": "x = 1"})
    requests = [
        request("planner", "it", ["cup"]),
        request("planner", "it", ["mug"]),
        request("parse_query_obj", "it", ["cup"]),
        request("composer", "it", ["cup"]),
        request("composer", " it. ", ["mug"]),  # the composer sees no objects: this is the one before
    ]
    with one.episode.trial() as trial:
        writer = Writer(one.episode, trial, one.world.prompts, Proposal())
        for asked in requests:
            writer.write(asked)
    assert len(one.chat.asked) == 4
    assert list(writer.code) == requests[:4]


def test_the_trace_has_the_code_and_where_it_came_from(stage: Build) -> None:
    one = stage({"lift the red block.": "x = 1"})
    with one.episode.trial() as trial:
        writer = Writer(one.episode, trial, one.world.prompts, Proposal(code={STEP: "z = 3"}))
        for asked in (PLAN, STEP, PLAN):
            writer.write(asked)
    assert one.traced("code") == [
        {
            "event": "code",
            "program": "planner",
            "query": "lift the red block.",
            "code": "x = 1",
            "origin": "asked",
        },
        {
            "event": "code",
            "program": "composer",
            "query": "move up.",
            "code": "z = 3",
            "origin": "replayed",
        },
    ]
    assert trial.record.facts["programs"] == {"asked": 1, "replayed": 1}
    assert writer.code == {PLAN: "x = 1", STEP: "z = 3"}


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
        (Reply("x = 1", finish_reason="max_tokens", completion_tokens=9), "cut off after 9 tokens"),
        (Reply("I cannot", finish_reason="content_filter"), "refused to answer (content_filter)"),
        (Reply("x = 1", finish_reason="refusal"), "refused to answer (refusal)"),
        (Reply(None), "empty"),  # type: ignore[arg-type]
        (Reply("<think>x = 1"), "thinking"),
        (Reply("# Query: drop it.\nx = 1"), "holds no code"),
        (Reply("x = (1"), "not Python"),
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
    assert one.traced("code") == []
    assert trial.record.facts == {"programs": {"asked": 0, "replayed": 0}}


def test_what_had_to_be_put_right_is_counted(stage: Build) -> None:
    going_on = "x = 1\n\n# Query: another thing.\ny = 2"
    one = stage({"lift the red block.": going_on})
    with one.episode.trial() as trial:
        code = Writer(one.episode, trial, one.world.prompts, Proposal()).write(PLAN)
    assert code == "x = 1"
    assert trial.record.events == {"reply: went on with another query": 1}


@pytest.mark.parametrize(
    ("text", "events"),
    [
        ("x = 1", {}),
        ("```python\nx = 1\n```", {"reply: fence": 1}),
        ("Here is the code:\n```python\nx = 1\n```\nLet me know!", {"reply: fence": 1}),
        ("<think>plan</think>\nx = 1", {"reply: thinking": 1}),
        ("```python\nx = 1\n```\n```python\ny = 2\n```", {"reply: fence": 1, "reply: several_fences": 1}),
    ],
)
def test_a_program_in_wrappings_is_unwrapped_and_that_is_counted(
    stage: Build, text: str, events: dict[str, int]
) -> None:
    """Case LMP-01; what is run, shown and replayed is the program without them."""
    one = stage({"lift the red block.": text})
    with one.episode.trial() as trial:
        assert Writer(one.episode, trial, one.world.prompts, Proposal()).write(PLAN) == "x = 1"
    assert trial.record.events == events


def test_a_provider_that_is_down_is_no_reply(stage: Build) -> None:
    one = stage({})

    def down(role: str) -> Noting:
        raise ProviderError("no answer")

    one.episode.models = down
    with pytest.raises(ProviderError, match="no answer"), one.episode.trial() as trial:
        Writer(one.episode, trial, one.world.prompts, Proposal()).write(PLAN)
    assert one.episode.trials[0].failure is None


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
