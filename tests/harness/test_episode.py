from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from harness.episode import Episode
from harness.failures import CodeFailure, ResetError, StepLimit
from harness.protocols import Message, Reply, Reset, Sampling, Task
from harness.records import EpisodeKey
from harness.seeding import Seeds
from harness.testing.noop import NoopEnv


class Model:
    """Repeats what it was asked and remembers how."""

    name = "echo"

    def __init__(self) -> None:
        self.samplings: list[Sampling] = []
        self.details: dict[str, Any] = {}

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        self.samplings.append(sampling)
        spent: dict[str, Any] = {"prompt_tokens": 3, "completion_tokens": 2, "cost_usd": 0.5}
        return Reply(messages[-1].text, model="echo-1", **spent, details=self.details)

    def close(self) -> None: ...


def make(
    rate: float = 0.0, env: Any = None, **more: Any
) -> tuple[Episode, Model, list[tuple[str, dict[str, Any]]]]:
    events: list[tuple[str, dict[str, Any]]] = []
    model = Model()
    episode = Episode(
        key=EpisodeKey("task0", 1, 4),
        task=Task("task0", ("push {what}", "press the {colour} {what}"), 10),
        env=env or NoopEnv(rate=rate).open(),
        seeds=Seeds("noop", "task0", 4, 7),
        models=lambda role: model,
        sandbox=None,  # type: ignore[arg-type]
        trace=lambda event, **data: events.append((event, data)),
        **more,
    )
    return episode, model, events


@pytest.mark.parametrize("failure", [CodeFailure("line 3"), StepLimit("spent")])
def test_a_method_failure_ends_the_trial_and_not_the_episode(failure: Exception) -> None:
    episode, _, _ = make()
    for _ in range(2):
        with episode.trial() as trial:
            trial.count("clamped", 2)
            raise failure
    assert [record.failure for record in episode.trials] == [failure.kind, failure.kind]  # type: ignore[attr-defined]
    assert episode.trials[0].reason == str(failure)
    assert episode.trials[1].events == {"clamped": 2}


def test_the_oracle_decides_even_when_the_code_fails_after_success() -> None:
    episode, _, _ = make(rate=1.0)
    with episode.trial() as trial:
        raise CodeFailure("too late to matter")
    assert trial.success
    assert (trial.record.failure, trial.record.reason) == (None, "")


def test_other_exceptions_go_through() -> None:
    episode, _, _ = make()
    with pytest.raises(ZeroDivisionError), episode.trial():
        raise ZeroDivisionError


def test_calls_are_counted_traced_and_seeded_by_trial_and_role() -> None:
    episode, model, events = make()
    for _ in range(2):
        with episode.trial():
            for role in ("planner", "composer"):
                assert episode.chat(role, [Message("user", role)], max_tokens=9).text == role
    seeds = [sampling.seed for sampling in model.samplings]
    assert len(set(seeds)) == 4
    assert {sampling.max_tokens for sampling in model.samplings} == {9}
    usage = episode.usage
    assert (usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.cost_usd) == (4, 12, 8, 2.0)
    assert episode.served == {"echo-1"}
    assert [data["role"] for event, data in events if event == "chat"] == ["planner", "composer"] * 2


def test_what_a_model_refuses_of_a_request_is_counted_in_the_trial() -> None:
    episode, model, _ = make()
    model.details = {"dropped": ["temperature"]}
    episode.chat("planner", [Message("user", "before the first trial")])
    for calls in (2, 0):
        with episode.trial():
            for _ in range(calls):
                episode.chat("planner", [Message("user", "go")])
    episode.chat("reflector", [Message("user", "between trials: of the one that has ended")])
    refused = "the model refuses temperature, which was left out"
    assert [record.events for record in episode.trials] == [
        {f"planner: {refused}": 2},
        {f"reflector: {refused}": 1},
    ]


class Stubborn:
    """Refuses its first resets."""

    def __init__(self, refusals: int) -> None:
        self.refusals = refusals
        self._env = NoopEnv(rate=0.0).open()

    def reset(self, task: str, scene: int, seeds: Seeds) -> Reset:
        self.refusals -= 1
        if self.refusals >= 0:
            raise ResetError("no room for the cup")
        return Reset("abc", variation={"what": "button", "colour": "red"})

    def __getattr__(self, name: str) -> Any:
        return getattr(self._env, name)


def test_a_refused_reset_is_tried_again_and_counted() -> None:
    episode, _, events = make(env=Stubborn(2))
    with episode.trial() as trial:
        assert episode.instruction == "press the red button"
    assert trial.record.reset_attempts == 3
    assert [event for event, _ in events][:2] == ["reset_error", "reset_error"]


def test_a_reset_that_never_works_is_no_failure_of_the_method() -> None:
    episode, _, _ = make(env=Stubborn(9))
    with pytest.raises(ResetError, match="no room"), episode.trial():
        pass
    assert episode.trials == []
