"""Plan again from nothing: what a budget of several trials buys without any memory (pass@k)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from methods.replan import Attempt, Plain, Proposal

if TYPE_CHECKING:
    from harness.episode import Episode


@dataclass(frozen=True)
class Resample(Plain):
    """An independent plan for each trial; the first one is that of all methods."""

    temperature: float = 0.7
    """At 0 every plan would be the first one again."""

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise ValueError(f"temperature is {self.temperature}; independent plans need one above 0")

    def propose(self, episode: Episode, attempts: Sequence[Attempt]) -> Proposal:
        return Proposal(temperature=self.temperature, facts={"propose": "resample"})
