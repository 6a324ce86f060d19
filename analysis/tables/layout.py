"""Puts an item's numbers in the paper's order, as text. The rules, for every format:

- A value is the mean over seeds, rounded half away from zero to one decimal; ± is the sample standard deviation over
  seeds and is left out below two seeds.
- Bold is the best of a column at the printed precision: ties are all bold; what is published is never bold.
- Missing is a dash.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from analysis.items import WORLDS, Group
from analysis.tables.entries import Computed, Entry

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
                _value(entry, with_spread=not column.task),
                best[column.label] is not None and _printed(entry) == best[column.label],
            )
            for entry, column in zip(entries, item.columns, strict=True)
        )
        lines.append(Line("ours", row.label, ours))
        if any(entry.interval for entry in entries):
            lines.append(Line("interval", "", tuple(Text(_interval(entry)) for entry in entries)))
        if any(entry.published for entry in entries):
            lines.append(Line("published", "published", tuple(Text(_published(entry)) for entry in entries)))
    unit = "" if item.metric == "successes" else ", percent"
    heads = ("", *(column.label for column in item.columns))
    title = f"{item.paper.upper()}, {item.number.replace('table', 'Table ')}: {item.title}{unit}"
    return Layout(item.name, title, heads, tuple(lines), tuple(_notes(computed)))


def rounded(value: Fraction, decimals: int = 1) -> str:
    """Half away from zero, exactly: 0.125 is 0.13 with two decimals, and nothing prints as -0.0."""
    scaled = abs(value) * 10**decimals
    digits = str((2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)).rjust(
        decimals + 1, "0"
    )
    text = f"{digits[:-decimals]}.{digits[-decimals:]}" if decimals else digits
    return f"-{text}" if value < 0 and int(digits) else text


def _printed(entry: Entry) -> str | None:
    return None if entry.value is None else _number(entry, entry.value)


def _number(entry: Entry, value: Fraction) -> str:
    """A count that is whole has no decimal."""
    return rounded(value, 0 if entry.counts and value.denominator == 1 else 1)


def _best(computed: Computed, column: Group) -> str | None:
    entries = [computed.entries[row.label, column.label] for row in computed.item.rows]
    values = [entry.value for entry in entries if entry.value is not None]
    best = max(entries, key=lambda entry: -1 if entry.value is None else entry.value)
    return _printed(best) if len(values) > 1 else None


def _value(entry: Entry, with_spread: bool) -> str:
    if entry.value is None:
        return DASH
    spread = f" ± {rounded(Fraction(entry.deviation))}" if entry.deviation is not None and with_spread else ""
    return f"{_number(entry, entry.value)}{spread}"


def _interval(entry: Entry) -> str:
    if entry.interval is None:
        return DASH
    low, high = (rounded(Fraction(bound)) for bound in entry.interval)
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
    for column in item.columns:
        counts = [
            f"{row.label} {entry.successes} of {entry.episodes} in {entry.seeds} seed{'s' * (entry.seeds != 1)}"
            for row in item.rows
            if (entry := computed.entries[row.label, column.label]).episodes
        ]
        if counts and not column.task:
            yield f"{column.label}, episodes that succeeded: {', '.join(counts)}."
    yield "± is the sample standard deviation over seeds; brackets hold the exact 95 % interval over episodes."
    for label, found in computed.comparisons.items():
        for (first, second), comparison in found.comparisons.items():
            said = comparison.words(first, second, adjusted=found.adjusted[first, second])
            yield f"{label}: {said}"
    yield from computed.notes
