"""Exact interval of a success rate (Clopper and Pearson, 1934), in plain Python: the end-of-sweep table
needs no statistics library. The analysis, which has one, gives the same bounds."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, lgamma, log, log1p


def clopper_pearson(successes: float, trials: float, confidence: float = 0.95) -> tuple[float, float]:
    """Lower and upper bound of the rate. (0, 1) when there were no trials.

    Counts may be fractional: an effective sample size is one, too. Raises `ValueError` for counts that cannot be.
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes of {trials} trials cannot be.")
    if trials == 0:
        return 0.0, 1.0
    tail, failures = (1 - confidence) / 2, trials - successes
    lower = 0.0 if successes == 0 else _solve(lambda p: _beta_cdf(p, successes, failures + 1) - tail)
    upper = 1.0 if failures == 0 else _solve(lambda p: _beta_cdf(p, successes + 1, failures) - 1 + tail)
    return lower, upper


def _beta_cdf(x: float, a: float, b: float) -> float:
    """Regularised incomplete beta function, for x above 0: the probability of at least a successes in
    a + b - 1 trials at rate x."""
    if x >= 1:
        return 1.0
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _continued_fraction(x, a, b) / a
    return 1 - front * _continued_fraction(1 - x, b, a) / b


def _continued_fraction(x: float, a: float, b: float) -> float:
    """Lentz's method on the fraction of the incomplete beta function (DLMF 8.17.22); its terms are about as many as
    the square root of a + b."""
    tiny = 1e-300
    c, d = 1.0, 1 / _away_from_zero(1 - (a + b) * x / (a + 1), tiny)
    value, m = d, 0
    while True:
        m += 1
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _away_from_zero(1 + numerator * d, tiny)
            c = _away_from_zero(1 + numerator / c, tiny)
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            return value


def _away_from_zero(value: float, tiny: float) -> float:
    return value if abs(value) > tiny else tiny


def _solve(increasing: Callable[[float], float]) -> float:
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if increasing(middle) > 0 else (middle, high)
    return (low + high) / 2
