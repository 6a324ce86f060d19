"""Works out a paper's item from rows: for each row and column the value, its spread over seeds, its interval over
episodes and what the paper prints. Cells that differ in more than the seed are never averaged."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from analysis.contrasts import Chosen, contrast
from analysis.items import WORLDS, Group, Item, Where
from analysis.metrics import Quantile, Verdicts
from analysis.published import Published, numbers
from analysis.rows import CellInfo, Rows
from analysis.statistics.comparisons import Comparison, Family, family
from analysis.statistics.rates import Interval, IntervalMethod
from analysis.tables.measured import PERCENT, Measured, measured
from harness.failures import UsageError
from harness.stopping.record import Standing

__all__ = ["PERCENT", "Computed", "Entry", "compute"]


@dataclass(frozen=True)
class Entry:
    """One number of a table. `value` is exact, in the metric's unit (percent for rates): the mean over seeds for verdicts,
    else over all episodes together (`analysis.metrics`); None where there is nothing to count. `deviation` is the sample
    standard deviation over seeds, None below two."""

    value: Fraction | None = None
    deviation: float | None = None
    interval: Interval | None = None
    """95 %, over episodes, in the metric's unit; None where none is given."""
    successes: int = 0
    episodes: int = 0
    errors: int = 0
    seeds: int = 0
    published: Published | None = None
    counts: bool = False
    """Whether the metric is a count."""
    counted: Measured = field(default_factory=Measured)
    """The counts that the value is made of."""

    @property
    def silent(self) -> int:
        """Episodes with a verdict whose rows do not say what is counted."""
        return self.episodes - self.counted.saying


@dataclass(frozen=True)
class Computed:
    """An item with its numbers."""

    item: Item
    entries: Mapping[tuple[str, str], Entry]
    """By labels of row and column."""
    comparisons: Mapping[str, Family]
    """By label of column."""
    worlds: Mapping[str, str]
    """Benchmark of the paper to the environment that stands for it here."""
    cells: Sequence[CellInfo] = ()
    """Those that the numbers come from."""
    notes: list[str] = field(default_factory=list)
    interval: IntervalMethod = "clopper-pearson"
    """Of success rates."""

    @property
    def empty(self) -> bool:
        return not any(entry.episodes or entry.errors for entry in self.entries.values())


def compute(
    item: Item, rows: Rows, where: Mapping[str, str] = {}, interval: IntervalMethod = "clopper-pearson"
) -> Computed:
    """Fill an item. `where` narrows which cells count: a config group's option, or a key's
    value as it is typed. `interval` is the one of success rates.

    Raises `UsageError` when two cells of one entry have the same seed but differ in something that is not in the item,
    and when two environments could stand for one benchmark: `where` has to choose.
    """
    worlds = _worlds(item, rows, where)
    fitting = {
        (row.label, column.label): _cells(item, row, column, rows, worlds, where)
        for row in item.rows
        for column in item.columns
    }
    chosen, preferred = _preferred(item, fitting)
    entries: dict[tuple[str, str], Entry] = {}
    for row in item.rows:
        for column in item.columns:
            found = chosen[row.label, column.label]
            _refuse_mixture(item, row, column, found)
            entries[row.label, column.label] = _entry(item, row, column, rows, found, interval)
    used = {cell.identity: cell for found in chosen.values() for cell in found}
    return Computed(
        item,
        entries,
        _comparisons(item, rows, chosen, entries),
        worlds,
        list(used.values()),
        [*_notes(item, rows, chosen, entries), *preferred],
        interval,
    )


def _worlds(item: Item, rows: Rows, where: Mapping[str, str]) -> dict[str, str]:
    present = {cell.env for cell in rows.cells.values()}
    found = {}
    for benchmark in {column.benchmark: None for column in item.columns}:
        options = [env for env in WORLDS[benchmark] if env in present and where.get("env", env) == env]
        if len(options) > 1:
            raise UsageError(
                f"{item.name}: {' and '.join(options)} could both stand for {benchmark}. "
                f"Choose one: --where env={options[0]}."
            )
        if options:
            found[benchmark] = options[0]
    return found


def _cells(
    item: Item,
    row: Group,
    column: Group,
    rows: Rows,
    worlds: Mapping[str, str],
    where: Mapping[str, str],
) -> list[CellInfo]:
    return [
        cell
        for cell in rows.cells.values()
        if cell.env == worlds.get(column.benchmark)
        and all(_belongs(cell, wanted) for wanted in (item.where, row.where, column.where))
        and all(cell.says(key) == value for key, value in where.items())
    ]


def _belongs(cell: CellInfo, wanted: Where) -> bool:
    """As `items.Group.where` says."""
    for key, options in wanted.items():
        if "." in key:
            if not _is_one_of(cell.says(key) or "null", options):
                return False
        elif _uses(cell, key) and not _is_one_of(cell.choices.get(key, ""), options):
            return False
    return True


def _is_one_of(said: str, options: Sequence[str]) -> bool:
    patterns = (".*".join(map(re.escape, option.split("*"))) for option in options)
    return any(re.fullmatch(pattern, said, re.IGNORECASE | re.DOTALL) for pattern in patterns)


def _uses(cell: CellInfo, group: str) -> bool:
    """Whether an option of a group makes a difference to a cell: a memory does not to a method that has none."""
    return group in ("method", "env", "llm") or group in cell.parts


Fitting = dict[tuple[str, str], list[CellInfo]]
"""Cells by labels of row and column."""


def _preferred(item: Item, fitting: Fitting) -> tuple[Fitting, list[str]]:
    """As `items.Item.prefer` says, for all entries alike, and what was left out. Cells without a key, as those of a method
    that has no such part, are not concerned."""
    notes = []
    for key, options in item.prefer.items():
        cells = {cell.identity: cell for found in fitting.values() for cell in found}
        values = {said for cell in cells.values() if (said := cell.says(key)) is not None}
        liked = {said for said in values if _is_one_of(said, options)}
        if liked and values - liked:
            fitting = {
                place: [cell for cell in found if cell.says(key) is None or cell.says(key) in liked]
                for place, found in fitting.items()
            }
            notes.append(
                f"Of the cells that differ in {key}, those with {', '.join(sorted(liked))} count here, not those with "
                f"{', '.join(sorted(values - liked))}."
            )
    return fitting, notes


def _refuse_mixture(item: Item, row: Group, column: Group, cells: Sequence[CellInfo]) -> None:
    by_seed: dict[int, CellInfo] = {}
    for cell in cells:
        other = by_seed.setdefault(cell.seed, cell)
        if other is not cell:
            raise UsageError(
                f"{item.name}, {row.label}, {column.label}: {other.folder.name} and {cell.folder.name} differ in "
                f"{', '.join(other.differences(cell)) or 'the files that the method reads'}, so their episodes are "
                "not put together. Choose with --where KEY=VALUE, or keep them in experiments of their own."
            )
    plain = {cell.without_seed for cell in cells}
    if len(plain) > 1:
        first, second = cells[0], next(c for c in cells if c.without_seed != cells[0].without_seed)
        raise UsageError(
            f"{item.name}, {row.label}, {column.label}: the cells of different seeds differ also in "
            f"{', '.join(first.differences(second))} ({first.folder.name}, {second.folder.name})."
        )


def _condition(column: Group, cells: Sequence[CellInfo]) -> Chosen:
    clauses = ["cell IN (SELECT unnest(?))"]
    parameters: list[object] = [[cell.identity for cell in cells]]
    if column.task:
        clauses.append("task = ?")
        parameters.append(column.task)
    if column.instructions != "any":
        clauses.append(
            "instruction_index = 0" if column.instructions == "single" else "instruction_index > 0"
        )
    return Chosen(" AND ".join(clauses), parameters)


def _statuses(column: Group, rows: Rows, cells: Sequence[CellInfo]) -> Counter[str]:
    """How many episodes ended how, of those that `_condition` chooses."""
    mine = {cell.identity for cell in cells}
    found: Counter[str] = Counter()
    for cell, task, paraphrased, status, count in rows.statuses:
        wording = column.instructions == "any" or paraphrased == (column.instructions == "paraphrased")
        if cell in mine and wording and column.task in ("", task):
            found[status] += count
    return found


def _entry(
    item: Item,
    row: Group,
    column: Group,
    rows: Rows,
    cells: Sequence[CellInfo],
    interval: IntervalMethod,
) -> Entry:
    key = (
        item.paper,
        item.number,
        row.published,
        column.benchmark,
        column.published or column.task,
        item.metric_of(column),
    )
    published = numbers().get(key)
    if not cells:
        return Entry(published=published)
    measure = item.measure_of(column)
    found = measured(measure, rows, _condition(column, cells), interval)
    statuses = _statuses(column, rows, cells)
    return Entry(
        value=found.value,
        deviation=found.deviation,
        interval=found.interval,
        successes=statuses["success"],
        episodes=statuses.total() - statuses["error"],
        errors=statuses["error"],
        seeds=found.seeds,
        published=published,
        counts=isinstance(measure, Verdicts) and not measure.percent,
        counted=found,
    )


def _comparisons(
    item: Item,
    rows: Rows,
    chosen: Mapping[tuple[str, str], Sequence[CellInfo]],
    entries: Mapping[tuple[str, str], Entry],
) -> dict[str, Family]:
    families = {}
    for column in item.columns:
        if not item.sums_up(column) or not isinstance(item.measure_of(column), Verdicts):
            continue
        pairs: dict[tuple[str, str], Comparison] = {}
        for first, second in item.comparisons:
            both = (first, second)
            if _sequential(rows, *(chosen[label, column.label] for label in both)) is not None:
                continue  # a test for one look does not hold beside it; what it found is in the notes
            if all(entries[label, column.label].episodes for label in both):
                pairs[first, second] = contrast(
                    rows, *(_condition(column, chosen[label, column.label]) for label in both)
                )
        if pairs:
            families[column.label] = family(pairs)
    return families


def _sequential(rows: Rows, first: Sequence[CellInfo], second: Sequence[CellInfo]) -> Standing | None:
    """How the sequential test of these cells stands, if they had one."""
    wanted = [{cell.folder for cell in first}, {cell.folder for cell in second}]
    for experiment, stopping in rows.stopping.items():
        for one in stopping.comparisons:
            sides = [{experiment / folder for folder in side} for side in zip(*one.folders, strict=True)]
            if wanted in (sides, sides[::-1]):
                return one
    return None


def _notes(
    item: Item,
    rows: Rows,
    chosen: Mapping[tuple[str, str], Sequence[CellInfo]],
    entries: Mapping[tuple[str, str], Entry],
) -> list[str]:
    notes = [item.note] if item.note else []
    stopped = {place: any(map(rows.stopped, cells)) for place, cells in chosen.items()}
    if any(stopped.values()):
        notes.append(
            "Brackets are for a number of episodes that was fixed before. Where a sequential test chose it, its "
            "confidence sequence holds instead."
        )
    for group in item.columns:
        for pair in item.comparisons:
            standing = _sequential(rows, *(chosen[label, group.label] for label in pair))
            if standing is not None and (said := f"Sequential test: {standing.words()}") not in notes:
                notes.append(said)
    for row, columns, entry in _alike(item, entries):
        if entry.errors:
            notes.append(f"{row}, {columns[0]}: {_episodes(entry.errors)} ended in an error: in no rate.")
    notes += _silent(item, entries)
    last = item.columns[-1].label
    for row in (group.label for group in item.rows):
        entry = entries[row, last]
        if 0 < entry.episodes < item.episodes and stopped[row, last]:
            notes.append(f"{row}: {_episodes(entry.episodes)}; a sequential test left out others.")
        elif 0 < entry.episodes < item.episodes:
            notes.append(f"{row}: {_episodes(entry.episodes)}; the experiment asks for {item.episodes}.")
    return notes


def _episodes(count: int) -> str:
    return f"{count} episode{'s' * (count != 1)}"


def _alike(item: Item, entries: Mapping[tuple[str, str], Entry]) -> Iterator[tuple[str, list[str], Entry]]:
    """Row, the columns that are of the same episodes, and the entry of the first of them."""
    for row in item.rows:
        groups: dict[str, list[str]] = {}
        for column in item.columns:
            of = (column.benchmark, column.task, column.instructions, column.where)
            groups.setdefault(repr(of), []).append(column.label)
        for labels in groups.values():
            yield row.label, labels, entries[row.label, labels[0]]


def _silent(item: Item, entries: Mapping[tuple[str, str], Entry]) -> Iterator[str]:
    """Why there is a dash, or a number of fewer episodes, where episodes were played."""
    for row in item.rows:
        told: dict[tuple[int, int, bool], list[str]] = {}
        for column in item.columns:
            entry = entries[row.label, column.label]
            if entry.silent:
                timed = isinstance(item.measure_of(column), Quantile)
                told.setdefault((entry.silent, entry.episodes, timed), []).append(column.label)
        for (silent, episodes, timed), columns in told.items():
            why = (
                "a model that says no time, as rules, has no latency"
                if timed
                else "their rows do not say it, being older or of a method without that part"
            )
            yield f"{row.label}, {', '.join(columns)}: {silent} of {episodes} episodes are not in it; {why}."
