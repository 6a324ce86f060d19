"""A long-horizon environment without physics: a subtask is done when the executor has worked on it long enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from harness.episode import Episode
from harness.failures import StepLimit
from harness.protocols import (
    Actuated,
    Mark,
    Message,
    Pose,
    Problem,
    Reply,
    Reset,
    Sampling,
    Subtask,
    Task,
    Utterance,
    Verdict,
    View,
)
from harness.records import EpisodeKey
from harness.sandbox import Sandbox
from harness.seeding import Seeds
from methods.executors import Refusal


@dataclass
class Hall:
    """`todo`: subtask and the control steps of work that it takes, in stages; the user says `said` when the second begins.
    An action's first number is the subtask that it works on, in thousandths."""

    todo: Sequence[Sequence[tuple[str, int]]]
    said: str = "And now the rest."
    limit: int = 400
    pause: int = 0
    """Control steps between the stages."""
    facts: dict[str, dict[str, Any]] = field(default_factory=dict)
    control_hz = 10.0
    on_control_step = None
    action_limits = (0.1, 0.1)
    rest = Pose(np.zeros(3), np.array([1.0, 0, 0, 0]))

    def __post_init__(self) -> None:
        self.texts = [text for stage in self.todo for text, _ in stage]
        self.reset("chores", 0, Seeds("hall", "chores", 0, 0))

    def reset(self, task: str, scene: int, seeds: Seeds) -> Reset:
        self.taken: list[np.ndarray] = []
        self.worked = dict.fromkeys(self.texts, 0)
        self.done: dict[str, int] = {}
        self.spoken: list[Utterance] = []
        return Reset("hall")

    def act(self, action: Any) -> Actuated:
        if self.steps() >= self.limit:
            raise StepLimit(f"all {self.limit} steps are spent")
        self.taken.append(np.array(action))
        number = round(action[0] * 1000)
        if number:
            self.worked[self.texts[number - 1]] += 1
        for text, needed in self.todo[self.stage]:
            if text not in self.done and self.worked[text] >= needed:
                self.done[text] = self.steps()
        over = len(self.todo) > 1 and all(text in self.done for text, _ in self.todo[0])
        if over and not self.spoken and self.steps() >= max(self.done.values()) + self.pause:
            self.spoken.append(Utterance(self.steps(), self.said))
        return Actuated()

    @property
    def stage(self) -> int:
        return len(self.spoken)

    def steps(self) -> int:
        return len(self.taken)

    def verdict(self) -> Verdict:
        whole = len(self.done) == len(self.texts)
        return Verdict(whole, holds=whole, subtasks_done=len(self.done), subtasks=len(self.texts))

    def utterances(self) -> Sequence[Utterance]:
        return self.spoken

    def subtasks(self) -> Sequence[Subtask]:
        return [
            Subtask(text, index, self.done.get(text), **self.facts.get(text, {}))
            for index, stage in enumerate(self.todo)
            for text, _ in stage
        ]

    def current_subtask(self) -> int | None:
        left = [text for text, _ in self.todo[self.stage] if text not in self.done]
        return self.texts.index(left[0]) if left else None

    def cameras(self) -> Sequence[str]:
        return ("wrist", "third_person")

    def render(self, camera: str) -> Any:
        return np.zeros((4, 4, 3), np.uint8)

    def view(self, camera: str) -> View:
        return View(self.render(camera), (Mark(f"step {self.steps()}", (0, 0, 2, 2)),), 1.0)

    def observation(self, cameras: Sequence[str] = ()) -> dict[str, Any]:
        return {"tool": np.zeros(7), "gripper": np.ones(1), "joints": np.zeros(6)}

    def cloud(self, name: str) -> Any:
        raise NotImplementedError

    def info(self) -> dict[str, str]:
        return {}

    def close(self) -> None:
        pass


@dataclass
class Worker:
    """An executor that works on what it is told if it knows it, and else refuses."""

    texts: Sequence[str]
    told: list[str] = field(default_factory=list)
    executed: int = 5
    closed: int = 0
    name = "worker"

    def problems(self) -> list[Problem]:
        return []

    def open(self) -> Worker:
        return self

    def reset(self, subtask: str) -> None:
        self.told.append(subtask)

    def act(self, senses: Any) -> Any:
        if self.told[-1] == "go to rest":
            return np.tile([0.0, 0, 0, 0, 0, 0, 1], (10, 1))
        if self.told[-1] not in self.texts:
            return Refusal("words", f"{self.told[-1]!r} is not understood")
        number = self.texts.index(self.told[-1]) + 1
        return np.tile([number / 1000, 0, 0, 0, 0, 0, -1.0], (10, 1))

    def close(self) -> None:
        self.closed += 1


class Voices:
    """Answers in their order, by role; a text, or a text and the seconds that it took."""

    name = "voices"

    def __init__(self, **replies: Sequence[str | tuple[str, float]]) -> None:
        self.left = {role: list(given) for role, given in replies.items()}
        self.heard: list[tuple[str, Sequence[Message], Sampling]] = []

    def of(self, role: str) -> Any:
        voices = self

        class Voice:
            name = "voices"

            def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
                voices.heard.append((role, messages, sampling))
                found = voices.left[role].pop(0)
                text, seconds = found if isinstance(found, tuple) else (found, 0.0)
                return Reply(text, model="voices-1", completion_tokens=7, details={"seconds": seconds})

            def close(self) -> None:
                pass

        return Voice()

    def asked(self, role: str) -> list[str]:
        """The last message of each request."""
        return [messages[-1].text for asked, messages, _ in self.heard if asked == role]


@dataclass
class Play:
    """An episode and what it traced."""

    episode: Episode
    events: list[tuple[str, dict[str, Any]]]

    def of(self, name: str) -> list[dict[str, Any]]:
        return [data for event, data in self.events if event == name]


@pytest.fixture
def play() -> Callable[..., Play]:
    def begin(env: Any, voices: Voices, instruction: str = "Do the chores.") -> Play:
        events: list[tuple[str, dict[str, Any]]] = []
        episode = Episode(
            key=EpisodeKey("chores", 0, 0),
            task=Task("chores", (instruction,), 400),
            env=env,
            seeds=Seeds("hall", "chores", 0, 0),
            models=voices.of,
            sandbox=Sandbox(),
            trace=lambda event, **data: events.append((event, data)),
        )
        return Play(episode, events)

    return begin


@pytest.fixture
def hall() -> type[Hall]:
    return Hall


@pytest.fixture
def worker() -> type[Worker]:
    return Worker


@pytest.fixture
def voices() -> type[Voices]:
    return Voices
