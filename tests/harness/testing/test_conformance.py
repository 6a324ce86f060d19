"""The conformance kit passes what ships and names what is wrong with what is broken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from envs.tabletop import Tabletop
from harness.cells import Cell
from harness.chat.rules import Rules
from harness.embedding import Lexical
from harness.episode import Episode
from harness.failures import MotionFailure, StepLimit, UsageError
from harness.protocols import (
    Actuated,
    Actuation,
    Environment,
    Manipulation,
    Message,
    Problem,
    Reply,
    Reset,
    Sampling,
    Task,
)
from harness.seeding import Seeds
from harness.sweep import run_cells
from harness.testing import conformance
from harness.testing.noop import BrokenTracker, NoopEnv, NoopMethod, NoopSimulator
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


@dataclass(frozen=True)
class Driven(NoopEnv):
    """An environment that takes actions: a tool that is at once where it is sent, fingers that take five steps.
    `fault` names what it does wrong."""

    fault: str = ""

    def suite(self) -> Sequence[Task]:
        return [Task("long", ("go on",), 400), Task("short", ("go",), 100)]

    def interfaces(self) -> tuple[type, ...]:
        return (Actuation,)

    def open(self) -> Tool:
        return Tool(self)


class Tool(NoopSimulator):
    action_limits = (0.02, 0.05)

    def __init__(self, config: Driven) -> None:
        super().__init__(config)
        self._fault = config.fault

    def reset(self, task: str, scene: int, seeds: Seeds) -> Reset:
        self._limit = {"long": 400, "short": 100}[task]
        self._tool = np.array([0.3, 0.0, 0.5, 0.0, 1.0, 0.0, 0.0])
        self._open = 1.0
        return super().reset(task, scene, seeds)

    def observation(self, cameras: Sequence[str] = ()) -> dict[str, Any]:
        if self._fault != "any camera" and not set(cameras) <= set(self.cameras()):
            raise UsageError("there is one camera")
        tool = self._tool if self._fault == "shared" else self._tool.copy()
        seen = {"tool": tool, "gripper": np.array([self._open]), "joints": np.zeros(7)}
        if self._fault == "float32":
            seen["joints"] = np.zeros(7, np.float32)
        if self._fault == "no unit":
            seen["tool"][3:] *= 2
        if self._fault == "more":
            seen["time"] = np.zeros(1)
        return seen | {f"rgb_{camera}": self.render(camera) for camera in cameras}

    def act(self, action: Any) -> Actuated:
        well_formed = isinstance(action, np.ndarray) and action.shape == (7,) and np.isfinite(action).all()
        if not well_formed and self._fault != "no check":
            raise (ValueError if self._fault == "other error" else MotionFailure)("malformed")
        if self._steps >= self._limit and self._fault != "no limit":
            raise StepLimit("the steps are spent")
        if self._fault == "in place":
            action *= 0.5
        shift = action[:3]
        length = float(np.linalg.norm(shift))
        if length > 0.02 and self._fault != "unclipped":
            shift = shift / length * 0.02
        self._tool[:3] += shift
        if self._fault != "stuck":
            self._open = float(np.clip(self._open + (0.2 if action[6] > 0 else -0.2), 0, 1))
        for _ in range(2 if self._fault == "two steps" else 1):
            self.step()
        large = length > 0.02 or float(np.linalg.norm(action[3:6])) > 0.05
        return Actuated(clipped=large and self._fault != "untold")


def test_an_environment_that_takes_actions_conforms() -> None:
    conformance.check_environment(Driven(rate=0.0))


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("any camera", r"an unknown camera has to raise UsageError|no such camera"),
        ("shared", "who writes into tool of an observation changes the next one"),
        ("float32", r"joints is \(7,\) float64"),
        ("no unit", "unit quaternion"),
        ("more", "an observation with one camera has .*time"),
        ("no check", r"act\(\) of .* MotionFailure"),
        ("other error", r"act\(\) of .* raised ValueError, not MotionFailure"),
        ("in place", "changed the array"),
        ("two steps", "one control step"),
        ("untold", "was not clipped"),
        ("unclipped", r"the tool moved by 0\.200 m"),
        ("stuck", "the fingers moved by 0.00 after three seconds of -1"),
        ("no limit", "after all 100 control steps of the task has to raise StepLimit"),
    ],
)
def test_an_environment_that_takes_actions_otherwise_is_named(fault: str, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        conformance.check_environment(Driven(rate=0.0, fault=fault))


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


def test_trackers(make_cell: Callable[..., Cell], tmp_path: Path) -> None:
    run_cells([make_cell(), make_cell(seed=1)], tmp_path)
    conformance.check_tracker(NoTracker(), tmp_path)
    with pytest.raises(ConnectionError):
        conformance.check_tracker(BrokenTracker(), tmp_path)


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
