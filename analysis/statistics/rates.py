"""A success rate and its interval, and the rate of rows: verdicts make it, an error is in no rate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harness.intervals import clopper_pearson
from harness.records import VERDICTS
from harness.store import Row

Interval = tuple[float, float]
"""Lower and upper bound."""


@dataclass(frozen=True)
class Rate:
    """Successes among the episodes that have a verdict."""

    successes: int
    episodes: int

    def __post_init__(self) -> None:
        if not 0 <= self.successes <= self.episodes:
            raise ValueError(f"{self.successes} successes of {self.episodes} episodes cannot be.")

    @property
    def value(self) -> float | None:
        """None when there were no episodes."""
        return self.successes / self.episodes if self.episodes else None

    def interval(self, confidence: float = 0.95) -> Interval:
        """Two-sided interval over episodes; (0, 1) when there were none. Clopper and Pearson's: it covers at least its
        confidence at any rate, which Wilson's and Jeffreys' do only on average."""
        return clopper_pearson(self.successes, self.episodes, confidence)


def rate(rows: Iterable[Row]) -> Rate:
    """Of one group of rows."""
    verdicts = [row["status"] for row in rows if row["status"] in VERDICTS]
    return Rate(verdicts.count("success"), len(verdicts))
