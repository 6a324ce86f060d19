"""Two success rates from scenes that are not the same: Boschloo's exact test, and Newcombe's interval of the
difference."""

from __future__ import annotations

from math import sqrt

from analysis.statistics.rates import Interval, Rate

BOSCHLOO_LIMIT = 250_000
"""Product of the two numbers of episodes up to which Boschloo's test is computed (about two seconds there)."""


def which_test(first: Rate, second: Rate) -> str:
    """Which test `p_value` uses for these counts."""
    return "Boschloo" if first.episodes * second.episodes <= BOSCHLOO_LIMIT else "Fisher"


def p_value(first: Rate, second: Rate) -> float:
    """Two-sided p-value of Boschloo's exact test (twice the smaller side), which is never weaker than Fisher's. With
    more episodes than `BOSCHLOO_LIMIT` allows it is Fisher's own: exact, too, and hardly weaker there.

    1 when either has no episodes, and when all succeeded or none did.
    """
    from scipy.stats import boschloo_exact, fisher_exact

    solved = first.successes + second.successes
    episodes = first.episodes + second.episodes
    if not first.episodes or not second.episodes or solved in (0, episodes):
        return 1.0
    table = [
        [first.successes, second.successes],
        [first.episodes - first.successes, second.episodes - second.successes],
    ]
    if which_test(first, second) == "Boschloo":
        return float(boschloo_exact(table).pvalue)
    return float(fisher_exact(table).pvalue)


def difference_interval(first: Rate, second: Rate, confidence: float = 0.95) -> Interval:
    """Newcombe's (1998, method 10) interval of the first rate minus the second, from the two Wilson intervals; (-1, 1)
    when either has no episodes. At 95 % it covers 95 % on average over rates and 90 % at the worst ones, and is no
    point where all succeeded or none did."""
    if first.value is None or second.value is None:
        return -1.0, 1.0
    difference = first.value - second.value
    low1, high1 = first.interval("wilson", confidence)
    low2, high2 = second.interval("wilson", confidence)
    below = sqrt((first.value - low1) ** 2 + (high2 - second.value) ** 2)
    above = sqrt((high1 - first.value) ** 2 + (second.value - low2) ** 2)
    return difference - below, difference + above
