"""A method that only talks and a chat model that costs nothing, with faults on request: what is measured or broken is
the chat layer alone."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from harness.chat.keys import digest, request_key
from harness.episode import Episode
from harness.failures import ProviderError
from harness.protocols import Message, Problem, Reply, Sampling
from harness.testing.noop import NoopSimulator


@dataclass(frozen=True)
class Talk:
    """Asks each of `roles` `calls` questions a trial, and notes what they answered."""

    trials: int = 1
    calls: int = 2
    asked: list[str] = field(default_factory=lambda: ["planner"])
    """The roles."""
    says_so: bool = True
    """Whether it tells which roles it asks."""
    question: str = "What comes after {number} in {task}?"
    picture: str = ""
    """Text that stands for a picture's bytes."""
    temperature: float | None = None
    """Null: the one that all methods share."""

    @property
    def roles(self) -> Sequence[str]:
        if not self.says_so:
            raise AttributeError("roles")
        return self.asked

    def requires(self) -> tuple[type, ...]:
        return (NoopSimulator,)

    def play(self, episode: Episode) -> None:
        sampling = {} if self.temperature is None else {"temperature": self.temperature}
        images = (self.picture.encode(),) if self.picture else ()
        for _ in range(self.trials):
            with episode.trial() as trial:
                heard = trial.record.facts["heard"] = []
                for role in self.asked:
                    for number in range(self.calls):
                        text = self.question.format(number=number, task=episode.key.task)
                        messages = [Message("system", "You count."), Message("user", text, images)]
                        heard.append(episode.chat(role, messages, **sampling).text)
            if trial.success:
                return


@dataclass(frozen=True)
class Parrot:
    """Answers every request at once."""

    model: str = "parrot-1"
    text: str | None = None
    """Its answer; null: one that depends on all that is asked."""
    fickle: bool = False
    """Answers the same request differently each time, as a busy server may."""
    finish_reason: str = "stop"
    cost_usd: float | None = 0.25
    down_after: int | None = None
    """Answers after which there are only errors, in one process."""
    log: str = ""
    """A file that gets one line for each request, from all processes."""
    priced: bool = True

    incidental: ClassVar[frozenset[str]] = frozenset({"log", "down_after", "cost_usd", "priced"})

    def problems(self) -> list[Problem]:
        return []

    def is_priced(self) -> bool:
        return self.priced

    def open(self) -> OpenParrot:
        return OpenParrot(self)


class OpenParrot:
    def __init__(self, config: Parrot) -> None:
        self.name = config.model
        self._config = config
        self._answers = 0

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        config = self._config
        if self._answers == config.down_after:
            raise ProviderError("the parrot is asleep")
        self._answers += 1
        key = request_key(messages, sampling)
        if config.log:
            with open(config.log, "a", encoding="utf-8") as log:
                log.write(key + "\n")
        drawn = os.urandom(8).hex() if config.fickle else ""
        text = digest([config.model, key, drawn]) if config.text is None else config.text
        return Reply(
            text,
            config.finish_reason,
            config.model,
            prompt_tokens=30,
            completion_tokens=10,
            cost_usd=config.cost_usd,
            details={"thinking": "hm"},
        )

    def close(self) -> None:
        """Nothing to close."""
