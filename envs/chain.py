"""A chain of tasks that are asked for one after the other: how far it has come, and the instruction that tells it whole.
What a task takes to be done, and in how many control steps, is each environment's to say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

LENGTH = 5
_ORDINALS = ("first", "second", "third", "fourth", "fifth")
INSTRUCTION = ", then ".join(f"{{{ordinal}}}" for ordinal in _ORDINALS)
"""Its braces are filled by `words`."""


def words(sentences: Iterable[str]) -> dict[str, str]:
    """What fills the braces, from the sentences of a chain."""
    return dict(zip(_ORDINALS, sentences, strict=True))


@dataclass
class Progress:
    """How far a scene's chain has come."""

    tasks: tuple[str, ...]
    asked: int = -1
    """Index of the task that was asked for last; below 0 before the first one is."""
    done: int = 0
    fresh: bool = True
    """False as long as the task that was asked for has held ever since: what is so already is not done."""

    @property
    def complete(self) -> bool:
        return self.done == len(self.tasks)

    @property
    def waiting(self) -> bool:
        """Whether the next task is yet to be asked for: the one before is done, or the scene has not begun."""
        return self.done > self.asked

    def next_task(self) -> tuple[str | None, bool]:
        """Ask for the first task that is not done, if there is one; whether it was not asked for before."""
        if self.complete:
            return None, False
        new, self.asked = self.waiting, self.done
        return self.tasks[self.asked], new

    def notice(self, holds: bool) -> None:
        """Whether the task that was asked for holds now."""
        if not holds:
            self.fresh = True
        elif self.fresh:
            self.done += 1
