"""Averages over tasks that shall speak of tasks, not only of these scenes: episodes of one task resemble each other,
so the tasks are the sample.

With the papers' 9 tasks a bootstrap over tasks and sandwich variances come out too short; what is here is chosen for
few clusters. A rate gets Korn and Graubard's (1998) interval: Clopper and Pearson's at the effective number of
episodes, with Student's t for the few tasks; a difference gets Student's t over the tasks' differences and the exact
sign-flip test. Neither is ever narrower than the interval that takes episodes for independent: with few tasks,
agreement between them may be luck. Where the question is about these very tasks, `rates` and `paired` answer it."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from analysis.statistics import paired
from analysis.statistics.paired import Pairs
from analysis.statistics.rates import Interval, Rate
from harness.intervals import clopper_pearson


@dataclass(frozen=True)
class Average:
    """Mean over tasks, one vote a task; None without tasks. The interval is None below two tasks: one task says
    nothing about others."""

    value: float | None
    interval: Interval | None
    tasks: int


def rate(tasks: Mapping[str, Rate], confidence: float = 0.95) -> Average:
    """Mean success rate over tasks. Tasks without episodes are left out."""
    from scipy.stats import t

    found = [task for task in tasks.values() if task.episodes]
    values = [task.successes / task.episodes for task in found]
    if len(values) < 2:
        return Average(values[0] if values else None, None, len(values))
    mean, episodes = statistics.fmean(values), sum(task.episodes for task in found)
    variance = statistics.variance(values) / len(values)
    effective = float(episodes)
    if variance > 0 and episodes > 1:
        upper = (1 + confidence) / 2
        shrink = (float(t.ppf(upper, episodes - 1)) / float(t.ppf(upper, len(values) - 1))) ** 2
        effective = min(effective, mean * (1 - mean) / variance * shrink)
    return Average(mean, clopper_pearson(mean * effective, effective, confidence), len(values))


def difference(tasks: Mapping[str, Pairs], confidence: float = 0.95) -> Average:
    """Mean over tasks of the first rate minus the second. Tasks without pairs are left out."""
    from scipy.stats import t

    found = [task for task in tasks.values() if task.total]
    values = [(task.first_only - task.second_only) / task.total for task in found]
    if len(values) < 2:
        return Average(values[0] if values else None, None, len(values))
    mean = statistics.fmean(values)
    half = float(t.ppf((1 + confidence) / 2, len(values) - 1)) * statistics.stdev(values) / len(values) ** 0.5
    low, high = paired.difference_interval(paired.total(found), confidence)
    return Average(mean, (max(-1.0, min(low, mean - half)), min(1.0, max(high, mean + half))), len(values))


def sign_flip(tasks: Iterable[Pairs]) -> float:
    """Two-sided p-value of the exact sign-flip test on the tasks' surpluses of solved scenes: were the two methods
    alike, each task's surplus could as well have gone the other way. 1 when no task shows a surplus; with T tasks it
    cannot fall below 2 / 2^T."""
    surpluses = [task.first_only - task.second_only for task in tasks]
    ways = Counter({0: 1})
    for surplus in surpluses:
        flipped: Counter[int] = Counter()
        for total, count in ways.items():
            flipped[total + surplus] += count
            flipped[total - surplus] += count
        ways = flipped
    observed = abs(sum(surpluses))
    as_far = sum(count for total, count in ways.items() if abs(total) >= observed)
    return float(as_far / 2 ** len(surpluses))
