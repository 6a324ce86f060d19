"""What a figure shows of an item: the marks with their intervals, where the paper has its own, what is missing, and the
caption that says all of it. It draws nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Literal

from analysis.items import Item
from analysis.metrics import Metric
from analysis.statistics.rates import Interval
from analysis.tables.entries import Computed, Entry
from analysis.tables.layout import conditions
from analysis.tables.measured import PERCENT
from harness.intervals import clopper_pearson


@dataclass(frozen=True)
class Mark:
    """One value, in the axis's unit; None where there is none."""

    value: Fraction | None
    interval: Interval | None
    published: float | None
    episodes: int
    """That the value is of."""


@dataclass(frozen=True)
class Chart:
    """Series of marks over groups."""

    kind: Literal["bars", "points"]
    """Bars stand side by side in a group; points of a series are joined over the groups, whose labels hold a number."""
    axis: str
    """What the values are, with their unit."""
    percent: bool
    series: tuple[str, ...]
    groups: tuple[str, ...]
    marks: Mapping[tuple[str, str], Mark]
    """By series and group."""
    own: str | None
    """The series that is the paper's own method, if one is."""
    caption: str

    @property
    def top(self) -> float:
        """The axis's highest tick: 100 for percents, else the least multiple of 5 that holds all marks."""
        if self.percent:
            return float(PERCENT)
        marks = self.marks.values()
        numbers = [number for mark in marks for number in (mark.value, mark.published) if number is not None]
        return 5.0 * max(1, ceil(max(numbers, default=0) / 5))

    def count(self, group: str, *series: str) -> str:
        """How many episodes a group's marks of these series (default: all) stand for, as `n = 21` or `n = 5 to 21`;
        empty without any."""
        counts = {self.marks[one, group].episodes for one in series or self.series} - {0}
        return f"n = {' to '.join(map(str, sorted({min(counts), max(counts)})))}" if counts else ""


def is_figure(item: Item) -> bool:
    return item.number.startswith("figure")


def chart(computed: Computed) -> Chart:
    """Bars of an item's rows in its columns. An item whose columns are different metrics gets a line for each of them over
    its rows."""
    item = computed.item
    marks = {
        (row.label, column.label): _mark(item.metric_of(column), computed.entries[row.label, column.label])
        for row in item.rows
        for column in item.columns
    }
    rows, columns = (tuple(group.label for group in groups) for groups in (item.rows, item.columns))
    metrics = {item.metric_of(column) for column in item.columns}
    units = {item.measure_of(column).unit for column in item.columns}
    percent, lines = units == {"percent"}, len(metrics) > 1
    what = " ".join(metrics).replace("_", " ").capitalize()
    return Chart(
        kind="points" if lines else "bars",
        axis=", ".join(sorted(units)).capitalize() if lines else f"{what} (%)" if percent else what,
        percent=percent,
        series=columns if lines else rows,
        groups=rows if lines else columns,
        marks={(column, row): mark for (row, column), mark in marks.items()} if lines else marks,
        own=next((row.label for row in item.rows if row.published == item.paper), None),
        caption=" ".join(_caption(computed, marks)),
    )


def _mark(metric: Metric, entry: Entry) -> Mark:
    return Mark(
        value=entry.value,
        interval=_interval(metric, entry),
        published=float(entry.published.value) if entry.published else None,
        episodes=entry.counted.saying,
    )


def _interval(metric: Metric, entry: Entry) -> Interval | None:
    """The table's, or for task progress Clopper and Pearson's with an episode as the unit: the subtasks of an episode
    depend on each other, and a share between 0 and 1 varies at most as much as a yes or no of the same mean."""
    if entry.interval is not None or entry.value is None or metric != "task_progress":
        return entry.interval
    episodes = entry.counted.saying
    low, high = clopper_pearson(float(entry.value) / PERCENT * episodes, episodes)
    return PERCENT * low, PERCENT * high


def _caption(computed: Computed, marks: Mapping[tuple[str, str], Mark]) -> Iterator[str]:
    item = computed.item
    yield f"{item.heading}."
    if any(mark.interval for mark in marks.values()):
        yield "Whiskers: 95 % intervals over episodes."
    if any(mark.published is not None for mark in marks.values()):
        yield "Diamonds: what the paper prints."
    yield f"n: episodes with a verdict{_uneven(item, marks)}."
    yield from _missing(item, marks)
    yield from conditions(computed)


def _uneven(item: Item, marks: Mapping[tuple[str, str], Mark]) -> str:
    """How many episodes each mark stands for, of columns where that differs."""
    found = []
    for column in item.columns:
        counts = {row.label: marks[row.label, column.label].episodes for row in item.rows}
        if len(set(counts.values()) - {0}) > 1:
            said = ", ".join(f"{label} {count}" for label, count in counts.items() if count)
            found.append(f"{column.label}: {said}")
    return f" ({'; '.join(found)})" if found else ""


def _missing(item: Item, marks: Mapping[tuple[str, str], Mark]) -> Iterator[str]:
    """Rows without any mark, then single ones."""
    columns = [column.label for column in item.columns]
    absent = {row.label: [c for c in columns if marks[row.label, c].value is None] for row in item.rows}
    whole = [label for label, missing in absent.items() if missing == columns]
    parts = [
        f"{label} ({', '.join(missing)})"
        for label, missing in absent.items()
        if 0 < len(missing) < len(columns)
    ]
    if whole or parts:
        yield f"Without a value, so left out: {', '.join([*whole, *parts])}."
