"""A success rate and its interval, and what rows say about it: verdicts make the rate, errors are counted beside
it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Literal

from harness.intervals import clopper_pearson
from harness.store import Row

Interval = tuple[float, float]
"""Lower and upper bound."""
IntervalMethod = Literal["clopper_pearson", "wilson", "jeffreys"]

TOO_MANY_ERRORS = 0.1
"""Share of errors among all episodes above which a rate is flagged: what is missing may not be missing by chance."""


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

    def interval(self, method: IntervalMethod = "clopper_pearson", confidence: float = 0.95) -> Interval:
        """Two-sided interval over episodes; (0, 1) when there were none.

        Clopper and Pearson's covers at least its confidence at any rate and is the default. Wilson's and Jeffreys'
        are shorter and hold their confidence only on average over rates; near 0 and 1 Wilson's falls short of it.
        """
        if self.episodes == 0:
            return 0.0, 1.0
        if method == "clopper_pearson":
            return clopper_pearson(self.successes, self.episodes, confidence)
        if method == "wilson":
            return _wilson(self.successes, self.episodes, confidence)
        if method == "jeffreys":
            return _jeffreys(self.successes, self.episodes, confidence)
        raise ValueError(f"There is no interval `{method}`; it can be clopper_pearson, wilson, jeffreys.")


@dataclass(frozen=True)
class Tally:
    """What became of a group of episodes. Kinds of failures and errors with their counts."""

    rate: Rate
    failures: Mapping[str, int]
    errors: Mapping[str, int]

    @property
    def flagged(self) -> bool:
        """Whether so many episodes ended in an error that the rate should not be read without them."""
        lost = sum(self.errors.values())
        return lost > TOO_MANY_ERRORS * (self.rate.episodes + lost)


def tally(rows: Iterable[Row]) -> Tally:
    """Count rows of one group. An error is in no rate; a reply that could not be used is the method's failure."""
    statuses: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    for row in rows:
        statuses[row["status"]] += 1
        if row["status"] == "failure":
            failures[str(row["failure"])] += 1
        elif row["status"] == "error":
            errors[str(row["error"])] += 1
    rate = Rate(statuses["success"], statuses["success"] + statuses["failure"])
    return Tally(rate, dict(failures), dict(errors))


def _wilson(successes: int, episodes: int, confidence: float) -> Interval:
    from scipy.special import ndtri

    z = float(ndtri((1 + confidence) / 2))
    rate = successes / episodes
    centre = rate + z * z / (2 * episodes)
    half = z * sqrt(rate * (1 - rate) / episodes + z * z / (4 * episodes * episodes))
    scale = 1 + z * z / episodes
    low = 0.0 if successes == 0 else (centre - half) / scale
    high = 1.0 if successes == episodes else (centre + half) / scale
    return low, high


def _jeffreys(successes: int, episodes: int, confidence: float) -> Interval:
    """Equal-tailed, from the prior Beta(1/2, 1/2); by convention it reaches 0 at no success and 1 at no failure."""
    from scipy.special import betaincinv

    tail, failures = (1 - confidence) / 2, episodes - successes
    low = 0.0 if successes == 0 else float(betaincinv(successes + 0.5, failures + 0.5, tail))
    high = 1.0 if failures == 0 else float(betaincinv(successes + 0.5, failures + 0.5, 1 - tail))
    return low, high
