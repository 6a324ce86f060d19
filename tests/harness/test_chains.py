"""Chains by the protocol of the official evaluation: one reset, a sentence at a time, the end at the first failure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from harness.chains import play_chain
from harness.episode import Episode
from harness.failures import BudgetExceeded, HarnessError, MotionFailure, SimulatorError, StepLimit
from harness.protocols import Chained, Reset, Sentence, Task, Verdict
from harness.records import EpisodeKey
from harness.seeding import Seeds
from harness.store import Digest

TASKS = ("open", "light", "close")
LIMIT = 10


class Line:
    """A robot on a line: a sentence asks for so many steps to the right, counted from where it was given."""

    control_hz = 1.0
    on_control_step = None

    def __init__(self, wanted: Sequence[int] = (3, 4, 2)) -> None:
        self.wanted, self.resets = wanted, 0

    def reset(self, task: str, scene: int, seeds: Seeds) -> Reset:
        self.done, self.count, self.at = 0, 0, 0
        self.asked, self.start, self.left = 0, 0, LIMIT
        self.resets += 1
        return Reset("aa", variation=dict(zip("abc", map(text, TASKS), strict=True)))

    def next_sentence(self) -> Sentence | None:
        if self.done == len(TASKS):
            return None
        if self.asked < self.done:
            self.asked, self.start, self.left = self.done, self.at, LIMIT
        return Sentence(TASKS[self.done], text(TASKS[self.done]))

    def step(self, way: int = 1) -> None:
        if self.done > self.asked or not self.left:
            raise StepLimit(f"the {LIMIT} control steps of {TASKS[self.asked]} are spent")
        self.left, self.count, self.at = self.left - 1, self.count + 1, self.at + way
        self.done += self.at - self.start == self.wanted[self.asked]

    def verdict(self) -> Verdict:
        return Verdict(self.done == 3, holds=self.done == 3, subtasks_done=self.done, subtasks=3)

    def steps(self) -> int:
        return self.count

    def cameras(self) -> Sequence[str]:
        return ()

    def render(self, camera: str) -> Any:
        raise NotImplementedError

    def close(self) -> None:
        pass

    def info(self) -> Mapping[str, str]:
        return {"simulator": "line"}


def text(task: str) -> str:
    return f"please {task}"


@dataclass
class Walk:
    """Goes so many steps in each attempt at a sentence, or does what is given instead of a number."""

    plan: Sequence[Sequence[int | Callable[[], None]]]
    """For each sentence, its attempts."""
    met: list[Any] | None = None

    def requires(self) -> tuple[type, ...]:
        return (Chained,)

    def play(self, episode: Episode) -> None:
        if self.met is not None:
            self.met.append((episode.key.task, episode.instruction, episode.task, episode.seeds))
        env = episode.env
        assert isinstance(env, Line)
        for attempt in self.plan[TASKS.index(episode.key.task)]:
            with episode.trial() as trial:
                trial.count("attempt")
                trial.record.facts["planned"] = True
                if callable(attempt):
                    attempt()
                else:
                    for _ in range(attempt):
                        env.step()
            if trial.success:
                return


@pytest.fixture
def chain() -> Callable[..., tuple[Episode, list[dict[str, Any]]]]:
    def make(env: Line | None = None) -> tuple[Episode, list[dict[str, Any]]]:
        events: list[dict[str, Any]] = []
        episode = Episode(
            key=EpisodeKey("chain", 0, 4),
            task=Task("chain", ("{a}, then {b}, then {c}",), LIMIT, sentences=3),
            env=env or Line(),
            seeds=Seeds("line", "chain", 4, 7),
            models=lambda role: None,  # type: ignore[arg-type,return-value]
            sandbox=None,  # type: ignore[arg-type]
            trace=lambda event, **data: events.append({"event": event, **data}),
        )
        return episode, events

    return make


def test_each_sentence_begins_where_the_one_before_ended(chain: Any) -> None:
    episode, events = chain()
    met: list[Any] = []
    play_chain(Walk([[9], [9], [9]], met), episode)
    assert episode.env.resets == 1
    (trial,) = episode.trials
    assert (trial.success, trial.failure, trial.steps, trial.subtasks_done, trial.subtasks) == (
        True,
        None,
        9,
        3,
        3,
    )
    assert trial.facts["chain"] == {"done": 3, "of": 3, "failed": None}
    told = trial.facts["sentences"]
    assert [(one["task"], one["text"], one["done"]) for one in told] == [(t, text(t), True) for t in TASKS]
    # A sentence ends in the step in which it is done, whatever the method would do further.
    assert [[a["steps"] for a in one["attempts"]] for one in told] == [[3], [4], [2]]
    assert all(a["facts"] == {"planned": True} and a["success"] for one in told for a in one["attempts"])
    assert trial.events == {"attempt": 3}
    assert episode.instruction == "please open, then please light, then please close"
    names = [event["event"] for event in events]
    assert names == ["trial", *(["sentence", "attempt", "attempt_end"] * 3), "trial_end"]
    assert [name for name, *_ in met] == list(TASKS)
    assert [(instruction, task.step_limit, task.sentences) for _, instruction, task, _ in met] == [
        (text(task), LIMIT, 1) for task in TASKS
    ]
    assert len({seeds.sampling("planner") for *_, seeds in met}) == 3


def test_the_chain_ends_at_the_first_sentence_that_fails(chain: Any) -> None:
    episode, _ = chain()
    met: list[Any] = []
    play_chain(Walk([[3], [2], [9]], met), episode)
    (trial,) = episode.trials
    assert (trial.success, trial.failure, trial.subtasks_done, trial.steps) == (False, "goal", 1, 5)
    assert trial.reason == "sentence 2 of 3, 'please light': the program ended and the goal was not met"
    assert trial.facts["chain"] == {"done": 1, "of": 3, "failed": "light"}
    assert [one["task"] for one in trial.facts["sentences"]] == ["open", "light"]
    assert len(met) == 2


def test_a_further_attempt_goes_on_without_a_reset(chain: Any) -> None:
    episode, _ = chain()
    play_chain(Walk([[1, 1, 1], [4], [1, 9]]), episode)
    (trial,) = episode.trials
    assert trial.success and episode.env.resets == 1
    assert [[a["steps"] for a in one["attempts"]] for one in trial.facts["sentences"]] == [
        [1, 1, 1],
        [4],
        [1, 1],
    ]
    assert [a["failure"] for a in trial.facts["sentences"][0]["attempts"]] == ["goal", "goal", None]


def test_the_steps_of_a_sentence_are_for_all_its_attempts_and_for_it_alone(chain: Any) -> None:
    episode, events = chain(Line(wanted=(9, 9, 99)))
    play_chain(Walk([[9], [9], [6, 6, 6]]), episode)
    (trial,) = episode.trials
    assert (trial.failure, trial.steps) == ("steps", 28)
    assert trial.reason == "sentence 3 of 3, 'please close': the 10 control steps of close are spent"
    # With no steps left there is no third attempt: nothing is asked for that could not be done.
    assert [a["steps"] for a in trial.facts["sentences"][2]["attempts"]] == [6, 4]
    assert trial.facts["chain"] == {"done": 2, "of": 3, "failed": "close"}
    assert sum(event["event"] == "attempt" for event in events) == 4


def test_a_failure_keeps_its_kind(chain: Any) -> None:
    def refuse() -> None:
        raise MotionFailure("nan")

    episode, _ = chain()
    play_chain(Walk([[refuse]]), episode)
    assert (episode.trials[0].failure, episode.trials[0].reason) == (
        "motion",
        "sentence 1 of 3, 'please open': nan",
    )


def test_a_spent_budget_ends_the_episode_and_its_row_says_where(chain: Any) -> None:
    def spend() -> None:
        raise BudgetExceeded("100 tokens are spent")

    episode, _ = chain()
    with pytest.raises(BudgetExceeded):
        play_chain(Walk([[3], [spend]]), episode)
    (trial,) = episode.trials
    assert (trial.failure, trial.subtasks_done) == ("budget", 1)
    assert trial.facts["chain"] == {"done": 1, "of": 3, "failed": "light"}
    assert trial.facts["sentences"][1]["attempts"][0]["failure"] == "budget"


def test_what_is_not_the_methods_doing_goes_through(chain: Any) -> None:
    def crash() -> None:
        raise SimulatorError("gone")

    episode, _ = chain()
    with pytest.raises(SimulatorError):
        play_chain(Walk([[3], [crash]]), episode)


def test_a_method_that_does_nothing_is_told(chain: Any) -> None:
    episode, _ = chain()
    with pytest.raises(HarnessError, match="without an attempt at the sentence"):
        play_chain(Walk([[]]), episode)


def test_an_environment_without_sentences_is_told(chain: Any) -> None:
    episode, _ = chain()
    episode = replace(episode, env=object())  # type: ignore[arg-type]
    with pytest.raises(HarnessError, match="env=line gives no sentences"):
        play_chain(Walk([[1]]), episode)


def test_a_digest_knows_how_far_a_chain_came(chain: Any) -> None:
    episode, _ = chain()
    play_chain(Walk([[3], [1]]), episode)
    row = dict.fromkeys(
        ("episode", "task", "scene", "status", "failure", "error", "reason", "state_hash", "code")
    )
    row |= {"models": [], "trial_count": 1, "usage": {}, "timings": {}, "trace": None}
    assert Digest.of({**row, "trials": [vars(episode.trials[0])]}).chain == (1, 3)
    assert Digest.of({**row, "trials": []}).chain is None
