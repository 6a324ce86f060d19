"""A method for the no-op world that asks a chat model once a trial and does nothing with the reply."""

from __future__ import annotations

from dataclasses import dataclass

from harness.episode import Episode
from harness.protocols import Message
from harness.testing.noop import NoopSimulator
from methods.lmp.writer import refuse_incomplete


@dataclass(frozen=True)
class Asking:
    def requires(self) -> tuple[type, ...]:
        return (NoopSimulator,)

    def play(self, episode: Episode) -> None:
        with episode.trial():
            reply = episode.chat("planner", [Message("user", f"What now? {episode.key}")])
            refuse_incomplete(reply, "the plan")
