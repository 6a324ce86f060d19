"""A policy in a chain: told each sentence as an episode of its own, with the world as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from harness.chains import play_chain
from harness.episode import Episode
from harness.failures import StepLimit
from harness.protocols import Actuated, Reset, Sentence, Task, Verdict
from harness.records import EpisodeKey
from harness.seeding import Seeds
from methods import policy as policy_module
from methods.policy import Policy

TASKS = ("right", "left")
LIMIT = 6


class Rail:
    """A tool that moves along x; three steps to the side that is asked for are wanted."""

    control_hz = 10.0
    on_control_step = None
    action_limits = (0.01, 0.05)

    def reset(self, task: str, scene: int, seeds: Seeds) -> Reset:
        self.at, self.start, self.count, self.left = 0, 0, 0, LIMIT
        self.asked = self.done = 0
        return Reset("aa")

    def next_sentence(self) -> Sentence | None:
        if self.asked < self.done < len(TASKS):
            self.asked, self.start, self.left = self.done, self.at, LIMIT
        return Sentence(TASKS[self.done], f"go {TASKS[self.done]}") if self.done < len(TASKS) else None

    def act(self, action: Any) -> Actuated:
        if self.done > self.asked or not self.left:
            raise StepLimit("spent")
        self.at += int(np.sign(action[0]))
        self.count, self.left = self.count + 1, self.left - 1
        self.done += self.at - self.start == (3, -3)[self.asked]
        return Actuated(clipped=abs(action[0]) > self.action_limits[0])

    def observation(self, cameras: Sequence[str] = ()) -> Mapping[str, Any]:
        return {
            "tool": np.array([float(self.at), 0, 0, 1, 0, 0, 0]),
            "gripper": np.ones(1),
            "joints": np.zeros(7),
        }

    def verdict(self) -> Verdict:
        return Verdict(self.done == 2, subtasks_done=self.done, subtasks=2)

    def steps(self) -> int:
        return self.count

    def cameras(self) -> Sequence[str]:
        return ()

    def render(self, camera: str) -> Any:
        raise NotImplementedError

    def info(self) -> Mapping[str, str]:
        return {"simulator": "rail"}

    def close(self) -> None:
        pass


class Obedient:
    """Goes where it is told, five steps a chunk; each is too long and is clipped."""

    def __init__(self, stubborn: bool = False) -> None:
        self.stubborn = stubborn
        self.told: list[str] = []
        self.seeds: list[int] = []

    def seed(self, number: int) -> None:
        self.seeds.append(number)

    def reset(self, instruction: str) -> None:
        self.told.append(instruction)

    def act(self, observation: Mapping[str, Any]) -> Any:
        way = 1 if self.stubborn or self.told[-1] == "go right" else -1
        return [[0.02 * way, 0, 0, 0, 0, 0, 1]] * 5


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Any:
    def play(actor: Obedient) -> Episode:
        monkeypatch.setattr(policy_module, "_load", lambda path: actor)
        episode = Episode(
            key=EpisodeKey("chain", 0, 0),
            task=Task("chain", ("go right, then go left",), LIMIT, sentences=2),
            env=Rail(),
            seeds=Seeds("rail", "chain", 0, 0),
            models=lambda role: None,  # type: ignore[arg-type,return-value]
            sandbox=None,  # type: ignore[arg-type]
            trace=lambda event, **data: None,
        )
        play_chain(Policy("some:where", chunk=5), episode)
        return episode

    return play


def test_each_sentence_is_an_episode_to_the_policy(run: Any) -> None:
    actor = Obedient()
    episode = run(actor)
    (trial,) = episode.trials
    assert trial.success and trial.steps == 6
    assert actor.told == ["go right", "go left"]
    assert len(set(actor.seeds)) == 2, "a sentence has draws of its own"
    assert trial.events == {"action: clipped": 6}, "also what the action did that ended a sentence"
    assert [one["attempts"][0]["facts"] for one in trial.facts["sentences"]] == [{"asked": 1}, {"asked": 1}]


def test_a_policy_that_goes_on_as_before_fails_the_second_sentence(run: Any) -> None:
    actor = Obedient(stubborn=True)
    episode = run(actor)
    (trial,) = episode.trials
    assert (trial.failure, trial.subtasks_done, trial.steps) == ("steps", 1, 3 + LIMIT)
    assert trial.facts["chain"] == {"done": 1, "of": 2, "failed": "left"}
    assert trial.facts["sentences"][1]["attempts"][0]["facts"] == {"asked": 2}
