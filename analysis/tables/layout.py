"""Puts an item's numbers in the paper's order, as text. The rules, for every format:

- A value is rounded half away from zero to its metric's decimals; ± is the sample standard deviation over seeds and is
  left out below two seeds.
- Bold is the best of a column at the printed precision: ties are all bold; what is published is never bold, nor is a column
  in which more is neither better nor worse.
- Missing is a dash.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Literal

from analysis.items import WORLDS, Group, Item
from analysis.metrics import Measure, Ratio, Verdicts
from analysis.statistics import clusters
from analysis.statistics.rates import INTERVALS
from analysis.tables.entries import Computed, Entry
from analysis.tables.measured import PERCENT, Measured

DASH = "–"


@dataclass(frozen=True)
class Text:
    """What stands in a place of a table; `best` is bold."""

    text: str
    best: bool = False


@dataclass(frozen=True)
class Line:
    kind: Literal["ours", "interval", "published"]
    label: str
    texts: tuple[Text, ...]


@dataclass(frozen=True)
class Layout:
    """A table as text that is not escaped yet."""

    name: str
    title: str
    heads: tuple[str, ...]
    """The first is the one of the labels."""
    lines: tuple[Line, ...]
    notes: tuple[str, ...]


def arrange(computed: Computed) -> Layout:
    """Lay out an item: for each row our values, their intervals, and what the paper prints where it prints any."""
    item = computed.item
    best = {column.label: _best(computed, column) for column in item.columns}
    lines: list[Line] = []
    for row in item.rows:
        entries = [computed.entries[row.label, column.label] for column in item.columns]
        ours = tuple(
            Text(
                _value(entry, item.measure_of(column), with_spread=item.sums_up(column)),
                best[column.label] is not None
                and _printed(entry, item.measure_of(column)) == best[column.label],
            )
            for entry, column in zip(entries, item.columns, strict=True)
        )
        lines.append(Line("ours", row.label, ours))
        if any(entry.interval for entry in entries):
            intervals = tuple(
                Text(_interval(entry, item.measure_of(column)))
                for entry, column in zip(entries, item.columns, strict=True)
            )
            lines.append(Line("interval", "", intervals))
        if any(entry.published for entry in entries):
            lines.append(Line("published", "published", tuple(Text(_published(entry)) for entry in entries)))
    unit = ", percent" if all(item.measure_of(column).unit == "percent" for column in item.columns) else ""
    heads = ("", *(column.label for column in item.columns))
    return Layout(item.name, f"{item.heading}{unit}", heads, tuple(lines), tuple(_notes(computed)))


def grouped(heads: Sequence[str]) -> tuple[list[tuple[str, int]], list[str]]:
    """Heads like `Group: column` apart: the groups side by side, each with its number of columns (an empty name for none),
    and the columns. No groups where no head has one."""
    parts = [head.rpartition(": ") for head in heads]
    groups = [(name, len(list(members))) for name, members in groupby(name for name, _, _ in parts)]
    return groups if any(name for name, _ in groups) else [], [column for _, _, column in parts]


def rounded(value: Fraction, decimals: int = 1) -> str:
    """Half away from zero, exactly: 0.125 is 0.13 with two decimals, and nothing prints as -0.0."""
    scaled = abs(value) * 10**decimals
    digits = str((2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)).rjust(
        decimals + 1, "0"
    )
    text = f"{digits[:-decimals]}.{digits[-decimals:]}" if decimals else digits
    return f"-{text}" if value < 0 and int(digits) else text


def _printed(entry: Entry, measure: Measure) -> str | None:
    return None if entry.value is None else _number(entry.value, measure)


def _number(value: Fraction, measure: Measure) -> str:
    """A count that is whole has no decimal."""
    whole = value.denominator == 1 and _counts(measure)
    return rounded(value, 0 if whole else measure.decimals)


def _counts(measure: Measure) -> bool:
    """Whether a whole value is a number of things, as successes and an environment's subtasks are."""
    if isinstance(measure, Verdicts):
        return not measure.percent
    return isinstance(measure, Ratio) and not measure.interval


def _best(computed: Computed, column: Group) -> str | None:
    measure = computed.item.measure_of(column)
    entries = [computed.entries[row.label, column.label] for row in computed.item.rows]
    values = [entry.value for entry in entries if entry.value is not None]
    if len(values) < 2 or not measure.better:
        return None
    return _number(max(values) if measure.better == "higher" else min(values), measure)


def _value(entry: Entry, measure: Measure, with_spread: bool) -> str:
    if entry.value is None:
        return DASH
    spread = ""
    if entry.deviation is not None and with_spread:
        spread = f" ± {rounded(Fraction(entry.deviation), measure.decimals)}"
    return f"{_number(entry.value, measure)}{spread}"


def _interval(entry: Entry, measure: Measure) -> str:
    if entry.interval is None:
        return DASH
    low, high = (rounded(Fraction(bound), measure.decimals) for bound in entry.interval)
    return f"[{low}, {high}]"


def _published(entry: Entry) -> str:
    if entry.published is None:
        return DASH
    spread = f" ± {entry.published.spread}" if entry.published.spread else ""
    return f"{entry.published.value}{spread}"


def conditions(computed: Computed) -> Iterator[str]:
    """Notes on what the numbers were made with, where the paper had something else."""
    worlds = [f"{env} stands for {name}" for name, env in computed.worlds.items() if env != WORLDS[name][0]]
    if worlds:
        yield f"Not the paper's benchmark: {', '.join(worlds)}."
    for group, what in (("llm", "model"), ("embedder", "embedder"), ("memory", "memory")):
        users = [cell for cell in computed.cells if group == "llm" or group in cell.parts]
        options = sorted({cell.choices[group] for cell in users})
        if options:
            yield f"{what.capitalize()}: {', '.join(options)}."


def _notes(computed: Computed) -> Iterator[str]:
    item = computed.item
    yield from conditions(computed)
    yield from _role_models(computed)
    for column in item.columns:
        counts = [
            f"{row.label} {entry.successes} of {entry.episodes} in {entry.seeds} seed{'s' * (entry.seeds != 1)}"
            for row in item.rows
            if (entry := computed.entries[row.label, column.label]).episodes
        ]
        if counts and item.sums_up(column) and isinstance(item.measure_of(column), Verdicts):
            yield f"{column.label}, episodes that succeeded: {', '.join(counts)}."
    yield from _counted(computed)
    brackets = f"brackets hold {INTERVALS[computed.interval]} 95 % interval over episodes."
    if any(not isinstance(item.measure_of(column), Verdicts) for column in item.columns):
        brackets = (
            "brackets hold the 95 % interval over episodes; what is counted several times in one is not taken for "
            "independent."
        )
    yield f"± is the sample standard deviation over seeds; {brackets}"
    yield from _over_tasks(computed)
    yield from _within_trials(computed)
    for label, found in computed.comparisons.items():
        for said in found.words():
            yield f"{label}: {said}"
    yield from computed.notes


def _over_tasks(computed: Computed) -> Iterator[str]:
    """What averages say of tasks that were not played."""
    for column in computed.item.columns:
        found = [
            (row.label, clusters.rate(computed.entries[row.label, column.label].counted.tasks))
            for row in computed.item.rows
        ]
        said = [
            f"{label} {_percent(average.value)} [{_percent(low)}, {_percent(high)}] ({average.tasks} tasks)"
            for label, average in found
            if average.value is not None and average.interval
            for low, high in [average.interval]
        ]
        if said:
            yield (
                f"{column.label}, mean over tasks with its 95 % interval if they are a sample of tasks: {', '.join(said)}."
            )


def _within_trials(computed: Computed) -> Iterator[str]:
    """pass@k, where an episode has several trials."""
    for column in computed.item.columns:
        found = {row.label: computed.entries[row.label, column.label].counted for row in computed.item.rows}
        most = max(len(counted.solved_within) for counted in found.values())
        if most < 2 or not computed.item.sums_up(column):
            continue
        said = [
            f"{label} {', '.join(_percent(solved / counted.whole) for solved in counted.solved_within)}"
            for label, counted in found.items()
            if counted.solved_within
        ]
        yield f"{column.label}, pass@k: percent solved within 1 to {most} trials: {'; '.join(said)}."


def _percent(share: float) -> str:
    return rounded(Fraction(PERCENT * share))


def _role_models(computed: Computed) -> Iterator[str]:
    """Which model plays a role, where the item hangs on it and the option of the group does not say it."""
    for role in _roles(computed.item):
        found = {said for cell in computed.cells if (said := cell.says(f"llm.roles.{role}")) is not None}
        if found - {cell.choices["llm"] for cell in computed.cells}:
            yield f"Model of the {role}: {', '.join(sorted(found))}."


def _roles(item: Item) -> list[str]:
    groups = [item.where, item.prefer, *(group.where for group in [*item.rows, *item.columns])]
    keys = {key for where in groups for key in where if key.startswith("llm.roles.")}
    return sorted({key.split(".")[2] for key in keys})


def _counted(computed: Computed) -> Iterator[str]:
    """The whole numbers behind what is no verdict. Columns that have the same ones share a line."""
    item = computed.item
    lines: dict[str, list[str]] = {}
    for column in item.columns:
        measure = item.measure_of(column)
        filled = [
            (row.label, entry.counted)
            for row in item.rows
            if (entry := computed.entries[row.label, column.label]).value is not None
        ]
        if not filled or isinstance(measure, Verdicts):
            continue
        if isinstance(measure, Ratio):
            joint = "of" if measure.share else "in"
            what = f"{measure.parts} {joint} {measure.wholes}"
            numbers = [f"{label} {_ratio_in_words(counted, joint)}" for label, counted in filled]
        else:
            what, numbers = measure.things, [f"{label} {counted.whole}" for label, counted in filled]
        lines.setdefault(f"{what}: {', '.join(numbers)}", []).append(column.label)
    for said, labels in lines.items():
        yield f"{', '.join(labels)}, {said}."


def _ratio_in_words(counted: Measured, joint: str) -> str:
    beside = f" ({counted.left_out} more could not be judged)" if counted.left_out else ""
    return f"{counted.part} {joint} {counted.whole}{beside}"
