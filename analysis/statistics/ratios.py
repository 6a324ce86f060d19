"""Intervals of what is counted several times in an episode: a share of checks, calls a subtask, a percentile of seconds.

Checks of one episode resemble each other, so episodes are the sample, not checks. What they say together is a ratio of two
sums over episodes; its variance is linearised (Cochran, 1977, section 6.4). From it come, by closed forms that need no
random numbers: a share's interval, Clopper and Pearson's at the effective number of counts (Korn and Graubard, 1998, as in
`clusters`); any other ratio's, by Student's t; and a percentile's, the percentiles at the ends of the interval of the share of
values up to it (Woodruff, 1952). One episode says nothing about others: there is no interval below two."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING

from analysis.statistics.rates import Interval
from harness.intervals import clopper_pearson

if TYPE_CHECKING:
    from numpy import floating
    from numpy.typing import NDArray

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Sums:
    """Over the episodes that have something in the denominator: `part` of `whole`, and the sums of the squares and of the
    product of the episodes' own numbers. Whole numbers, so that nothing is rounded."""

    episodes: int
    part: int
    whole: int
    part_squares: int
    whole_squares: int
    products: int

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, int]]) -> Sums:
        """Of (part, whole) of each episode."""
        found = [(part, whole) for part, whole in pairs if whole]
        return cls(
            len(found),
            sum(part for part, _ in found),
            sum(whole for _, whole in found),
            sum(part * part for part, _ in found),
            sum(whole * whole for _, whole in found),
            sum(part * whole for part, whole in found),
        )

    def __add__(self, other: Sums) -> Sums:
        """Of both groups of episodes."""
        return Sums(*(ours + theirs for ours, theirs in zip(astuple(self), astuple(other), strict=True)))

    @property
    def ratio(self) -> Fraction | None:
        """None where the denominator is 0."""
        return Fraction(self.part, self.whole) if self.whole else None

    @property
    def variance(self) -> float | None:
        """Of the ratio, over episodes; None below two."""
        if self.ratio is None or self.episodes < 2:
            return None
        squares = self.part_squares - 2 * self.ratio * self.products + self.ratio**2 * self.whole_squares
        return float(squares * self.episodes / (self.episodes - 1) / self.whole**2)


def share(sums: Sums, confidence: float = CONFIDENCE) -> Interval | None:
    """Interval of a ratio of which each `part` is one of `whole`. Raises `ValueError` for a part above its whole."""
    effective = _effective(sums, confidence)
    if effective is None:
        return None
    return clopper_pearson(sums.part / sums.whole * effective, effective, confidence)


def ratio(sums: Sums, confidence: float = CONFIDENCE) -> Interval | None:
    """Interval of a ratio that has no upper bound; it is never below 0."""
    if sums.ratio is None or sums.variance is None:
        return None
    half = _student((1 + confidence) / 2, sums.episodes - 1) * sqrt(sums.variance)
    return max(0.0, float(sums.ratio) - half), float(sums.ratio) + half


def quantile(episodes: Sequence[Sequence[float]], at: float) -> float | None:
    """The value below which a part `at` of all episodes' values lie, interpolated; None without any."""
    import numpy as np

    pooled = _pooled(episodes)
    return float(np.quantile(pooled, at)) if pooled.size else None


def quantile_interval(
    episodes: Sequence[Sequence[float]], at: float, confidence: float = CONFIDENCE
) -> Interval | None:
    """Interval of `quantile`. None also where there are too few values to have one on both sides of it: the 99th percentile
    takes some 370 that are independent."""
    import numpy as np

    pooled = _pooled(episodes)
    if not pooled.size:
        return None
    value = np.quantile(pooled, at)
    sums = Sums.of((int(np.count_nonzero(np.asarray(one) <= value)), len(one)) for one in episodes)
    effective = _effective(sums, confidence)
    if effective is None or max(at, 1 - at) ** effective > (1 - confidence) / 2:
        return None
    low, high = np.quantile(pooled, clopper_pearson(at * effective, effective, confidence))
    return float(low), float(high)


def _effective(sums: Sums, confidence: float) -> float | None:
    """How many independent counts would tell as much; at most as many as there are, and all of them where none differs."""
    variance = sums.variance
    if variance is None:
        return None
    whole = float(sums.whole)
    if sums.part > sums.whole:
        raise ValueError(f"{sums.part} of {sums.whole} is no share.")
    if variance == 0 or whole <= 1:
        return whole
    rate, upper = sums.part / sums.whole, (1 + confidence) / 2
    few = (_student(upper, sums.whole - 1) / _student(upper, sums.episodes - 1)) ** 2
    return min(whole, rate * (1 - rate) / variance * few)


def _student(probability: float, freedom: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, probability))


def _pooled(episodes: Sequence[Sequence[float]]) -> NDArray[floating]:
    import numpy as np

    return np.concatenate([np.asarray(one, dtype=float) for one in episodes]) if episodes else np.empty(0)
