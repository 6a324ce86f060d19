"""Exact interval of a success rate (Clopper and Pearson, 1934), in plain Python: the end-of-sweep table
needs no statistics library."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, lgamma, log


def clopper_pearson(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Lower and upper bound of the rate. (0, 1) when there were no trials."""
    if trials == 0:
        return 0.0, 1.0
    tail = (1 - confidence) / 2
    lower = 0.0 if successes == 0 else _solve(lambda p: 1 - _cdf(successes - 1, trials, p) - tail)
    upper = 1.0 if successes == trials else _solve(lambda p: tail - _cdf(successes, trials, p))
    return lower, upper


def _cdf(k: int, n: int, p: float) -> float:
    """Probability of at most k successes."""
    if k < 0:
        return 0.0
    log_p, log_q, log_n = log(p), log(1 - p), lgamma(n + 1)
    return sum(
        exp(log_n - lgamma(i + 1) - lgamma(n - i + 1) + i * log_p + (n - i) * log_q) for i in range(k + 1)
    )


def _solve(increasing: Callable[[float], float]) -> float:
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if increasing(middle) > 0 else (middle, high)
    return (low + high) / 2
