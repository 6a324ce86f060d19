"""A success rate and its interval, and the rate of rows: verdicts make it, an error is in no rate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Literal

from harness.records import VERDICTS
from harness.store import Row

Interval = tuple[float, float]
"""Lower and upper bound."""
IntervalMethod = Literal["clopper-pearson", "wilson", "jeffreys"]
INTERVALS: Mapping[IntervalMethod, str] = {
    "clopper-pearson": "the exact",
    "wilson": "Wilson's",
    "jeffreys": "Jeffreys'",
}
"""How a reader is told which one it is, as in "the exact 95 % interval"."""


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

    def interval(self, method: IntervalMethod = "clopper-pearson", confidence: float = 0.95) -> Interval:
        """Two-sided interval over episodes; (0, 1) when there were none.

        Clopper and Pearson's (1934) covers at least its confidence at any rate. Wilson's (1927) and Jeffreys' are shorter and
        hold theirs only on average over rates: near 0 and 1 both fall short of it (Brown, Cai and DasGupta, 2001).
        """
        if not self.episodes:
            return 0.0, 1.0
        match method:
            case "clopper-pearson":
                return _clopper_pearson(self.successes, self.episodes, confidence)
            case "wilson":
                return _wilson(self.successes, self.episodes, confidence)
            case "jeffreys":
                return _jeffreys(self.successes, self.episodes, confidence)


def rate(rows: Iterable[Row]) -> Rate:
    """Of one group of rows."""
    verdicts = [row["status"] for row in rows if row["status"] in VERDICTS]
    return Rate(verdicts.count("success"), len(verdicts))


def _clopper_pearson(successes: int, episodes: int, confidence: float) -> Interval:
    """As `harness.intervals`, which needs no SciPy and takes longer for many episodes."""
    from scipy.special import betaincinv

    tail, failures = (1 - confidence) / 2, episodes - successes
    low = 0.0 if successes == 0 else float(betaincinv(successes, failures + 1, tail))
    high = 1.0 if failures == 0 else float(betaincinv(successes + 1, failures, 1 - tail))
    return low, high


def _wilson(successes: int, episodes: int, confidence: float) -> Interval:
    from scipy.special import ndtri

    z = float(ndtri((1 + confidence) / 2))
    share = successes / episodes
    centre = share + z * z / (2 * episodes)
    half = z * sqrt(share * (1 - share) / episodes + z * z / (4 * episodes * episodes))
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
