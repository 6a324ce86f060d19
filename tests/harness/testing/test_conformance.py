"""The conformance kit passes what ships and names what is wrong with what is broken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from envs.tabletop import Tabletop
from harness.cells import Cell
from harness.chat.rules import Rules
from harness.embedding import Lexical
from harness.episode import Episode
from harness.protocols import Environment, Manipulation, Message, Problem, Reply, Sampling, Task
from harness.testing import conformance
from harness.testing.noop import BrokenTracker, NoopEnv, NoopMethod
from harness.trackers import NoTracker

MESSAGES = [Message("user", "say something")]


def test_the_noop_environment_conforms() -> None:
    conformance.check_environment(NoopEnv(rate=0.0))


def test_an_environment_whose_scenes_depend_on_what_came_before_is_named() -> None:
    with pytest.raises(AssertionError, match="task2 scene 1 differs with the order"):
        conformance.check_environment(NoopEnv(rate=0.0, broken="hash"))


def test_an_environment_that_starts_solved_is_named() -> None:
    with pytest.raises(AssertionError, match="task0 scene 0 is solved before anything moved"):
        conformance.check_environment(NoopEnv(rate=1.0))


@dataclass(frozen=True)
class Suite(NoopEnv):
    """A no-op environment with another suite."""

    names: tuple[str, ...] = ()
    text: str = "do nothing"
    limit: int = 10

    def suite(self) -> Sequence[Task]:
        return [Task(name, (self.text,), self.limit) for name in self.names]


@pytest.mark.parametrize(
    ("env", "message"),
    [
        (Suite(), "has no task"),
        (Suite(names=("a", "a")), "same name"),
        (Suite(names=("a",), text=" "), "a: an empty instruction"),
        (Suite(names=("a",), limit=0), "a: step_limit is 0"),
    ],
)
def test_a_malformed_suite_is_named(env: Suite, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        conformance.check_environment(env)


@dataclass(frozen=True)
class Boastful(NoopEnv):
    """Promises an interface that it does not have."""

    def interfaces(self) -> tuple[type, ...]:
        return (Environment, Manipulation)


def test_a_promised_interface_has_to_be_there() -> None:
    with pytest.raises(AssertionError, match="no Manipulation"):
        conformance.check_environment(Boastful(rate=0.0))


@pytest.mark.slow
def test_the_tabletop_conforms() -> None:
    conformance.check_environment(Tabletop(renderer="rays"), "tabletop")


def test_the_noop_method_conforms(make_cell: Callable[..., Cell], tmp_path: Path) -> None:
    conformance.check_method(NoopMethod(trials=2), make_cell(), tmp_path)


def test_a_method_that_ends_in_an_error_is_named(make_cell: Callable[..., Cell], tmp_path: Path) -> None:
    broken = NoopMethod(fault="raise", fault_task="task0")
    with pytest.raises(AssertionError, match=r"the episode is an error: .*a bug of ours"):
        conformance.check_method(broken, make_cell(), tmp_path)


@dataclass(frozen=True)
class Unsteady:
    """Plays one trial more each time it is used."""

    played: list[int]

    def requires(self) -> tuple[type, ...]:
        return (Environment,)

    def play(self, episode: Episode) -> None:
        self.played.append(1)
        for _ in self.played:
            with episode.trial():
                pass


def test_a_method_that_does_not_repeat_itself_is_named(
    make_cell: Callable[..., Cell], tmp_path: Path
) -> None:
    with pytest.raises(AssertionError, match="two plays of one episode differ"):
        conformance.check_method(Unsteady([]), make_cell(env={"rate": 0.0}), tmp_path)


@dataclass(frozen=True)
class Canned:
    """A chat model with the reply it is told to give."""

    reply: Reply
    numbered: bool = False

    def problems(self) -> list[Problem]:
        return []

    def open(self) -> Canned:
        return replace(self)

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        if self.numbered:
            COUNTED.append(1)
            return replace(self.reply, text=f"{self.reply.text} {len(COUNTED)}")
        return self.reply

    def close(self) -> None:
        """Nothing to close."""


COUNTED: list[int] = []
GOOD = Reply("hello", model="canned-1", prompt_tokens=3, completion_tokens=1)


def test_a_chat_model_that_keeps_the_contract_conforms() -> None:
    conformance.check_chat_model(Canned(GOOD), MESSAGES)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Canned(replace(GOOD, text="  ")), "empty"),
        (Canned(replace(GOOD, model="")), "does not name its model"),
        (Canned(replace(GOOD, completion_tokens=0)), "tokens are not counted"),
        (Canned(GOOD, numbered=True), "at temperature 0 differ"),
    ],
)
def test_a_chat_model_that_does_not_is_named(model: Canned, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        conformance.check_chat_model(model, MESSAGES)


def test_rules_conforms() -> None:
    query = "```python\nobjects = ['red block']\n# Query: touch the red block.\n```"
    few_shot = (
        "Examples:\n```python\nobjects = ['cup']\n# Query: touch the cup.\n"
        'composer("move to the cup")\n# done\n```'
    )
    chat = [
        Message("system", "You complete the program `planner` for a robot arm."),
        Message("user", few_shot),
        Message("assistant", "Understood."),
        Message("user", query),
    ]
    conformance.check_chat_model(Rules(), chat)


def test_the_lexical_embedder_conforms() -> None:
    conformance.check_embedder(Lexical())


@dataclass(frozen=True)
class LongRows:
    """An embedder that forgets to scale its rows."""

    def problems(self) -> list[Problem]:
        return []

    def embed(self, texts: Sequence[str]) -> Any:
        return 2 * Lexical().embed(texts)


def test_an_embedder_with_rows_of_another_length_is_named() -> None:
    with pytest.raises(AssertionError, match="lengths are"):
        conformance.check_embedder(LongRows())


def test_trackers(make_cell: Callable[..., Cell]) -> None:
    conformance.check_tracker(NoTracker(), make_cell(), {"status": "success"})
    with pytest.raises(ConnectionError):
        conformance.check_tracker(BrokenTracker(), make_cell(), {"status": "success"})


@pytest.mark.slow
def test_the_basic_launcher_gives_the_rows_of_the_pool(tmp_path: Path) -> None:
    conformance.check_launcher("basic", tmp_path)


def test_a_launcher_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="exit status"):
        conformance.check_launcher("no_such_launcher", tmp_path)


def test_what_is_no_dataclass_is_named() -> None:
    class Plain:
        def problems(self) -> list[Problem]:
            return []

    with pytest.raises(AssertionError, match="is a dataclass"):
        conformance.check_embedder(Plain())


def test_a_provider_that_is_down_is_no_verdict(make_cell: Callable[..., Cell], tmp_path: Path) -> None:
    method = NoopMethod(fault="provider", fault_task="task0")
    with pytest.raises(AssertionError, match="provider is down"):
        conformance.check_method(method, make_cell(), tmp_path)
