"""How many scenes a comparison takes, from the distribution of the exact tests themselves.

Rates are probabilities; `discordance` is the share of scenes that the two methods end differently. Power is the
chance that the test rejects at `alpha`, two-sided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

UNPAIRED_LIMIT = 1500
"""Scenes per method up to which Boschloo's test is enumerated (some seconds there)."""

SCENES_LIMIT = 10_000_000
"""No comparison is planned beyond this."""


@dataclass(frozen=True)
class Scenes:
    """`scenes` per method reach `power`. Not `exact` when it comes from the normal approximation."""

    scenes: int
    power: float
    exact: bool = True


def independent_discordance(first: float, second: float) -> float:
    """Discordance of two methods that have nothing in common but their rates: pairing then helps little."""
    return first * (1 - second) + second * (1 - first)


def check(first: float, second: float, discordance: float | None = None) -> None:
    """Raise `ValueError` for rates and a discordance that cannot be together."""
    for rate in (first, second):
        if not 0 <= rate <= 1:
            raise ValueError(f"A success rate of {rate:g} cannot be; it lies between 0 and 1.")
    if first == second:
        raise ValueError("A difference of 0 cannot be found with any number of scenes.")
    if discordance is None:
        return
    least, most = abs(first - second), min(first + second, 2 - first - second)
    if not least - 1e-9 <= discordance <= most + 1e-9:
        raise ValueError(
            f"With rates of {first:g} and {second:g} the share of scenes that end differently lies between "
            f"{least:g} and {most:g}; it cannot be {discordance:g}."
        )


def paired_power(scenes: int, effect: float, discordance: float, alpha: float = 0.05) -> float:
    """Power of the exact McNemar test: the number of discordant scenes is binomial, and so is, among them, the number
    that the better method wins."""
    import numpy as np
    from scipy.stats import binom

    low, high = (int(binom.ppf(tail, scenes, discordance)) for tail in (1e-12, 1 - 1e-12))
    found = np.arange(low, high + 1)
    return float(binom.pmf(found, scenes, discordance) @ _rejects(found, effect, discordance, alpha))


def _rejects(
    discordant: NDArray[np.int64], effect: float, discordance: float, alpha: float
) -> NDArray[np.float64]:
    """Chance that the test rejects, for each number of discordant scenes."""
    import numpy as np
    from scipy.stats import binom

    critical = binom.ppf(alpha / 2, discordant, 0.5)
    critical = np.where(binom.cdf(critical, discordant, 0.5) > alpha / 2, critical - 1, critical)
    share = min(1.0, (discordance + abs(effect)) / (2 * discordance))
    chances = binom.cdf(critical, discordant, share) + binom.sf(discordant - critical - 1, discordant, share)
    return np.where(critical < 0, 0.0, chances)


def scenes_paired(effect: float, discordance: float, alpha: float = 0.05, power: float = 0.8) -> Scenes:
    """Fewest scenes from which on the exact McNemar test keeps that power."""

    def reached(scenes: int) -> float:
        return paired_power(scenes, effect, discordance, alpha)

    z = _z(1 - alpha / 2), _z(power)
    guess = (z[0] * sqrt(discordance) + z[1] * sqrt(max(0.0, discordance - effect**2))) ** 2 / effect**2
    return _search(reached, guess, power, window=min(200, max(20, ceil(4 / discordance))))


def unpaired_power(scenes: int, first: float, second: float, alpha: float = 0.05) -> float:
    """Power of Boschloo's exact test with as many scenes for each method, over all outcomes of the two."""
    from scipy.stats import binom

    fewest = boschloo_region(scenes, alpha)  # the second method's successes from which on it is better
    counts = range(scenes + 1)
    chances = [binom.pmf(counts, scenes, rate) for rate in (first, second)]
    second_better = chances[0] @ binom.sf(fewest - 1, scenes, second)
    first_better = chances[1] @ binom.sf(fewest - 1, scenes, first)
    return float(second_better + first_better)


@lru_cache(maxsize=64)
def boschloo_region(scenes: int, alpha: float) -> NDArray[np.int64]:
    """For each number of the worse method's successes the fewest of the better one's at which Boschloo's test rejects
    (`scenes` + 1 when none does). One side of the two-sided test, so at alpha / 2.

    The test rejects where Fisher's one-sided p-value is at most c, for the largest c at which that happens with a
    chance of at most alpha / 2, whatever the common rate. Searched among rates close together.
    """
    import numpy as np
    from scipy.stats import binom

    fisher = _fisher(scenes)  # falls with the better method's successes
    rates = np.sin(np.linspace(0, np.pi / 2, 402)[1:-1]) ** 2
    counts = np.arange(scenes + 1)
    chances = binom.pmf(counts, scenes, rates[:, None])
    above = np.concatenate([np.cumsum(chances[:, ::-1], axis=1)[:, ::-1], np.zeros((len(rates), 1))], axis=1)

    def region(c: float) -> NDArray[np.int64]:
        rejected = np.count_nonzero(fisher <= c * (1 + 1e-12), axis=1)
        return np.asarray(scenes + 1 - rejected, dtype=np.int64)

    def size(c: float) -> float:
        return float((chances * above[:, region(c)]).sum(axis=1).max())

    values = np.unique(fisher[fisher <= min(1.0, 4 * alpha)])
    low, high = -1, len(values)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if size(values[middle]) <= alpha / 2 else (low, middle)
    return region(values[low] if low >= 0 else -1.0)


def _fisher(scenes: int) -> NDArray[np.float64]:
    """Fisher's one-sided p-value for each pair of successes (worse, better) of two methods with as many scenes."""
    import numpy as np
    from scipy.special import gammaln

    counts = np.arange(scenes + 1)
    ways = gammaln(scenes + 1) - gammaln(counts + 1) - gammaln(scenes - counts + 1)
    p_values = np.empty((scenes + 1, scenes + 1))
    for solved in range(2 * scenes + 1):
        better = np.arange(max(0, solved - scenes), min(scenes, solved) + 1)
        logs = ways[better] + ways[solved - better]
        weights = np.exp(logs - logs.max())
        p_values[solved - better, better] = np.cumsum(weights[::-1])[::-1] / weights.sum()
    return p_values


def scenes_unpaired(first: float, second: float, alpha: float = 0.05, power: float = 0.8) -> Scenes:
    """Fewest scenes per method from which on Boschloo's test keeps that power; from the normal approximation beyond
    `UNPAIRED_LIMIT`."""
    z = _z(1 - alpha / 2), _z(power)
    mean = (first + second) / 2
    spread = z[0] * sqrt(2 * mean * (1 - mean)) + z[1] * sqrt(first * (1 - first) + second * (1 - second))
    guess = (spread / (first - second)) ** 2
    if guess > UNPAIRED_LIMIT:
        return Scenes(ceil(guess), power, exact=False)
    return _search(lambda scenes: unpaired_power(scenes, first, second, alpha), guess, power, window=5)


def _search(reached: Callable[[int], float], guess: float, power: float, window: int) -> Scenes:
    """Fewest scenes from which on the power is reached. The power of an exact test goes up in steps and down between
    them, so the scenes after the first that reaches it are looked at, too, until a whole window of them does."""
    if guess > SCENES_LIMIT:
        return Scenes(ceil(guess), power, exact=False)
    known: dict[int, float] = {}

    def at(scenes: int) -> float:
        if scenes not in known:
            known[scenes] = reached(scenes)
        return known[scenes]

    high = max(2, ceil(guess))
    while at(high) < power:
        high += max(1, high // 8)
    low = max(1, high // 2)
    while low > 1 and at(low) >= power:
        low //= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if at(middle) >= power else (middle, high)
    start = after = low if at(low) >= power else high
    while after < start + window:
        after += 1
        if at(after) < power:
            start = after + 1
    while start > 1 and at(start - 1) >= power:
        start -= 1
    return Scenes(start, at(start))


def _z(probability: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(probability))
