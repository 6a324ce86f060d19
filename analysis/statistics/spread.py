"""Mean and spread over seeds, as papers print them. The spread says how much a run differs from a run; it is no
interval of the rate."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from analysis.statistics.rates import Rate, tally
from harness.store import Row


@dataclass(frozen=True)
class Spread:
    """`mean` is over the seeds' values, one vote a seed; None without any. `deviation` is the sample standard
    deviation (n - 1 in the denominator); None below two seeds, which say nothing about it."""

    mean: float | None
    deviation: float | None
    seeds: int


def over_seeds(values: Sequence[float]) -> Spread:
    """Mean and spread of one value a seed."""
    mean = statistics.fmean(values) if values else None
    deviation = statistics.stdev(values) if len(values) > 1 else None
    return Spread(mean, deviation, len(values))


def rates_by_seed(rows: Iterable[Row]) -> Mapping[int, Rate]:
    """Each seed's rate, in the order of the seeds; seeds without a verdict have no entry."""
    groups: dict[int, list[Row]] = {}
    for row in rows:
        groups.setdefault(int(row["seed"]), []).append(row)
    found = {seed: tally(group).rate for seed, group in sorted(groups.items())}
    return {seed: rate for seed, rate in found.items() if rate.episodes}


def spread(rows: Iterable[Row]) -> Spread:
    """Mean and spread of the success rate over the seeds of one group of rows."""
    return over_seeds([rate.successes / rate.episodes for rate in rates_by_seed(rows).values()])
