"""A metric over rows: its value, its spread over seeds, its interval over episodes and the counts that it is made of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, TypeVar

from analysis.contrasts import Chosen
from analysis.metrics import Measure, Quantile, Ratio, Verdicts
from analysis.statistics import ratios
from analysis.statistics.rates import Interval, IntervalMethod, Rate
from analysis.statistics.ratios import Sums

if TYPE_CHECKING:
    from analysis.rows import Rows

PERCENT = 100
T = TypeVar("T")


@dataclass(frozen=True)
class Measured:
    """`value` is exact, in the metric's unit; None where nothing was counted. `deviation` is the sample standard deviation
    over the seeds that have a value, None below two."""

    value: Fraction | None = None
    deviation: float | None = None
    interval: Interval | None = None
    """95 %, over episodes, in the metric's unit; None where none is meant or the episodes are too few for one."""
    part: int = 0
    whole: int = 0
    """What the value is a ratio of; of a quantile, how many values it is of."""
    left_out: int = 0
    """What would have been in `whole` if it could be judged."""
    saying: int = 0
    """Episodes with a verdict whose rows say what is counted."""
    seeds: int = 0
    tasks: Mapping[str, Rate] = field(default_factory=dict)
    """Of a success rate: each task's, over all seeds."""
    solved_within: tuple[int, ...] = ()
    """Of a success rate: how many episodes were solved within one trial, within two and so on, up to the most that any took."""


def measured(measure: Measure, rows: Rows, chosen: Chosen, interval: IntervalMethod) -> Measured:
    """A metric of the rows chosen. `interval` is the one of success rates."""
    match measure:
        case Verdicts():
            return _verdicts(measure, rows, chosen, interval)
        case Ratio():
            return _ratio(measure, rows, chosen)
        case Quantile():
            return _quantile(measure, rows, chosen)


def _verdicts(measure: Verdicts, rows: Rows, chosen: Chosen, method: IntervalMethod) -> Measured:
    sums = ", ".join(
        f"sum(CASE WHEN status != 'error' THEN {one} ELSE 0 END)" for one in (measure.part, measure.whole)
    )
    found = rows.query(
        f"SELECT seed, task, trial_count, {sums}, sum((status != 'error')::INT) FROM rows WHERE {chosen.condition} "
        "GROUP BY ALL ORDER BY ALL",
        *chosen.parameters,
    )
    lines = [(*of, (int(part), int(whole)), int(episodes)) for *of, part, whole, episodes in found if whole]
    if not lines:
        return Measured()
    seeds, tasks, trials = (_sums((line[place], line[3]) for line in lines) for place in range(3))
    values = [
        Fraction(PERCENT * part, whole) if measure.percent else Fraction(part)
        for part, whole in seeds.values()
    ]
    part, whole = (sum(sums) for sums in zip(*seeds.values(), strict=True))
    interval = Rate(part, whole).interval(method) if measure.interval else None
    return Measured(
        value=sum(values, Fraction(0)) / len(values),
        deviation=_deviation(values),
        interval=_scaled(interval, PERCENT),
        part=part,
        whole=whole,
        saying=sum(episodes for *_, episodes in lines),
        seeds=len(values),
        tasks={task: Rate(*sums) for task, sums in tasks.items()} if measure.interval else {},
        solved_within=_cumulated(trials) if measure.interval else (),
    )


def _cumulated(trials: Mapping[int | None, tuple[int, int]]) -> tuple[int, ...]:
    """Successes within one trial, two and so on, from those by the trials that an episode took; nothing where a row does
    not say it."""
    counts = [count for count in trials if count is not None]
    if len(counts) < len(trials):
        return ()
    most = max(counts)
    return tuple(accumulate(trials.get(count, (0, 0))[0] for count in range(1, most + 1)))


def _sums(counts: Iterable[tuple[T, tuple[int, int]]]) -> dict[T, tuple[int, int]]:
    """Of both numbers, by what they are of."""
    found: dict[T, tuple[int, int]] = {}
    for of, (part, whole) in counts:
        parts, wholes = found.get(of, (0, 0))
        found[of] = parts + part, wholes + whole
    return found


def _ratio(measure: Ratio, rows: Rows, chosen: Chosen) -> Measured:
    source = rows.with_facts if measure.facts else "rows"
    lines = rows.query(
        f"WITH counts AS (SELECT seed, {measure.part} AS part, {measure.whole} AS whole, {measure.left_out or 0} AS beside "
        f"FROM {source} WHERE status != 'error' AND {chosen.condition}) "
        "SELECT seed, count(*) FILTER (whole > 0), sum(part), sum(whole), sum(part * part), sum(whole * whole), sum(part * whole), "
        "sum(beside), count(*) FROM counts WHERE part IS NOT NULL AND whole IS NOT NULL GROUP BY seed ORDER BY seed",
        *chosen.parameters,
    )
    by_seed = [Sums(*map(int, line[1:7])) for line in lines]
    pooled = sum(by_seed, Sums.of(()))
    scale = PERCENT if measure.share else 1
    values = [scale * one.ratio for one in by_seed if one.ratio is not None]
    interval = (ratios.share if measure.share else ratios.ratio)(pooled) if measure.interval else None
    return Measured(
        value=None if pooled.ratio is None else scale * pooled.ratio,
        deviation=_deviation(values),
        interval=_scaled(interval, scale),
        part=pooled.part,
        whole=pooled.whole,
        left_out=sum(int(line[7] or 0) for line in lines),
        saying=sum(line[8] for line in lines),
        seeds=len(values),
    )


def _quantile(measure: Quantile, rows: Rows, chosen: Chosen) -> Measured:
    source = rows.with_facts if measure.facts else "rows"
    lines = rows.query(
        f"SELECT seed, {measure.values} AS found FROM {source} WHERE status != 'error' AND {chosen.condition} AND found IS NOT NULL",
        *chosen.parameters,
    )
    episodes: dict[int, list[list[float]]] = {}
    for seed, found in sorted(lines):
        episodes.setdefault(seed, []).append(found)
    pooled = [one for of_seed in episodes.values() for one in of_seed]
    values = [
        value for of_seed in episodes.values() if (value := ratios.quantile(of_seed, measure.at)) is not None
    ]
    value = ratios.quantile(pooled, measure.at)
    count = sum(map(len, pooled))
    return Measured(
        value=None if value is None else Fraction(value),
        deviation=_deviation([Fraction(value) for value in values]),
        interval=ratios.quantile_interval(pooled, measure.at),
        part=count,
        whole=count,
        saying=len(lines),
        seeds=len(values),
    )


def _scaled(interval: Interval | None, scale: int) -> Interval | None:
    return None if interval is None else (scale * interval[0], scale * interval[1])


def _deviation(values: Sequence[Fraction]) -> float | None:
    if len(values) < 2:
        return None
    mean = sum(values, Fraction(0)) / len(values)
    variance = float(sum(((value - mean) ** 2 for value in values), Fraction(0)) / (len(values) - 1))
    return math.sqrt(variance)
