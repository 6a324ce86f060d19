"""A method for the no-op world whose episodes of some tasks do not end before a file is there. What a test does to a
sweep in its middle then meets it there, however fast the machine is."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

from harness.episode import Episode
from harness.testing.noop import NoopSimulator


@dataclass(frozen=True)
class Waiting:
    gate: str
    """The file."""
    tasks: list[str] = field(default_factory=lambda: ["task1", "task2"])
    """Those that wait: after the five episodes of task0 in a usual no-op cell."""

    def requires(self) -> tuple[type, ...]:
        return (NoopSimulator,)

    def play(self, episode: Episode) -> None:
        with episode.trial():
            while episode.key.task in self.tasks and not Path(self.gate).exists():
                time.sleep(0.01)
