"""A paired comparison that may be looked at after every scene and stopped as soon as it has decided.

The test bets on the discordant pairs, which are fair coins where the two methods are alike: its wealth is that of a
mixture of bets, Beta(2, 2) over the chance that the first method wins one. Were the coins fair, the wealth would ever
reach 1 / alpha with a chance of at most alpha (Ville's inequality), however often one looks and whenever one stops.

The same bets test any other difference of the success rates. A pair is worth d = 1, 0 or -1 to the first method, and a
bet k multiplies the wealth by (1 + k d) / (1 + k D), which is fair where D is the pair's difference of the two chances
of success. Over pairs whose differences vary, the product with their average in each place is the smaller one, as log(1
+ k D) is concave. So the differences that are never refuted are a confidence sequence for the average over the pairs so
far: it holds at every pair at once with a chance of at least 1 - alpha, for scenes and tasks however unlike, and leaves
out 0 where the test rejects.

Scenes have to be given in an order that was fixed before they were played. In the order in which they end they are
not fair coins: a method that fails fast would be seen winning or losing first. No simulator, no rows, no scheduling
here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from math import ceil, exp, inf, lgamma, log
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_PRIOR = 2.0
"""Of 0.5, 1, 2, 5 and 10 the one with which differences of 0.65 to 0.9 in favour of one method take the fewest pairs
overall."""


@dataclass(frozen=True)
class Sequential:
    """Where the comparison stands: how many pairs so far only the first method solved, only the second, and both or
    neither. `decided` names the better one once the test has rejected, or says that they are alike; it stays, whatever
    comes after."""

    alpha: float = 0.05
    margin: float = 0.0
    """Difference of the success rates up to which the two count as alike; with 0 that is never said."""
    first_only: int = 0
    second_only: int = 0
    concordant: int = 0
    decided: Literal["first", "second", "alike"] | None = None
    strongest: float = 0.0
    """Largest logarithm of the wealth so far."""

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise ValueError(f"alpha is {self.alpha}; it lies between 0 and 1.")
        if not 0 <= self.margin < 1:
            raise ValueError(f"margin is {self.margin}; it is a difference of rates, as 0.1 for 10 points.")

    def update(self, first: bool, second: bool) -> Sequential:
        """The comparison after one more pair, given who solved it."""
        if first == second:
            after = replace(self, concordant=self.concordant + 1)
        else:
            wins, losses = self.first_only + first, self.second_only + second
            strongest = max(self.strongest, _log_wealth(wins, losses))
            after = replace(self, first_only=wins, second_only=losses, strongest=strongest)
        return after if after.decided else replace(after, decided=after._verdict())

    @property
    def pairs(self) -> int:
        return self.first_only + self.second_only + self.concordant

    @property
    def p_value(self) -> float:
        """Valid at any time, also at a stop that the data chose; 1 before there is evidence."""
        return exp(-self.strongest)

    @property
    def interval(self) -> tuple[float, float]:
        """Confidence sequence for the first rate minus the second, on the pairs so far, at a level of 1 - alpha."""
        if not self.pairs:
            return -1.0, 1.0
        seen = (self.first_only - self.second_only) / self.pairs
        return self._bound(seen, -1.0), self._bound(seen, 1.0)

    def _verdict(self) -> Literal["first", "second", "alike"] | None:
        if self.strongest >= -log(self.alpha):
            return "first" if self.first_only > self.second_only else "second"
        within = abs(self.first_only - self.second_only) < self.margin * self.pairs
        if within and self._refutes(self.margin) and self._refutes(-self.margin):
            return "alike"
        return None

    def _refutes(self, difference: float) -> bool:
        return _log_wealth_against(difference, self.first_only, self.second_only, self.concordant) >= -log(
            self.alpha
        )

    def _bound(self, inside: float, outside: float) -> float:
        """The wealth is convex in the difference and at most 1 at the one that was seen."""
        if not self._refutes(outside):
            return outside
        for _ in range(16):
            middle = (inside + outside) / 2
            inside, outside = (inside, middle) if self._refutes(middle) else (middle, outside)
        return outside


def _log_wealth(wins: int, losses: int) -> float:
    """Against no difference."""
    pairs = wins + losses
    return _log_beta(_PRIOR + wins, _PRIOR + losses) - _log_beta(_PRIOR, _PRIOR) + pairs * log(2)


def _log_wealth_against(difference: float, wins: int, losses: int, ties: int) -> float:
    """Against any difference from -1 to 1, by the trapezoidal rule over the log-odds of the bets."""
    import numpy as np

    pairs = wins + losses + ties
    step = 0.1 / 2 ** max(0, ceil(log(pairs / 16, 4))) if pairs else 0.1
    bets, weights, win, loss = _bets(step)
    with np.errstate(divide="ignore"):
        logs = weights + wins * win + losses * loss - pairs * np.log1p(bets * difference)
    most = float(logs.max())
    return most + log(step * float(np.exp(logs - most).sum())) if most < inf else inf


@cache
def _bets(step: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Bets k, the logarithms of their weights, and those of what a win and a loss multiply the wealth by."""
    import numpy as np

    odds = step * np.arange(-round(20 / step), round(20 / step) + 1)
    first, second = -np.logaddexp(0, -odds), -np.logaddexp(0, odds)  # logarithms of the two chances of a bet
    weights = _PRIOR * (first + second) - _log_beta(_PRIOR, _PRIOR)
    return np.exp(first) - np.exp(second), weights, first + log(2), second + log(2)


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)
