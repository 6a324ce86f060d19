"""Works out a paper's item from rows: for each row and column the value, its spread over seeds, its interval over
episodes and what the paper prints. Cells that differ in more than the seed are never averaged."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from analysis.items import WORLDS, Group, Item
from analysis.published import Published, numbers
from analysis.rows import CellInfo, Rows
from analysis.statistics.comparisons import Comparison, Family, compare, family, of_pairs
from analysis.statistics.paired import Pairs
from analysis.statistics.rates import Interval, Rate
from harness.failures import UsageError
from harness.stopping.record import Standing

PERCENT = 100


@dataclass(frozen=True)
class Entry:
    """One number of a table. `value` is exact, in the metric's unit (percent for rates), the mean over seeds; None
    without a verdict. `deviation` is the sample standard deviation over seeds, None below two."""

    value: Fraction | None = None
    deviation: float | None = None
    interval: Interval | None = None
    """95 %, exact, over episodes, in percent; None where the metric is no rate of episodes."""
    successes: int = 0
    episodes: int = 0
    errors: int = 0
    seeds: int = 0
    published: Published | None = None
    counts: bool = False
    """Whether the metric is a count."""


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

    @property
    def empty(self) -> bool:
        return not any(entry.episodes or entry.errors for entry in self.entries.values())


def compute(item: Item, rows: Rows, where: Mapping[str, str] = {}) -> Computed:
    """Fill an item. `where` narrows which cells count: a config group's option, or a key's
    value as it is typed.

    Raises `UsageError` when two cells of one entry have the same seed but differ in something that is not in the item,
    and when two environments could stand for one benchmark: `where` has to choose.
    """
    worlds = _worlds(item, rows, where)
    entries: dict[tuple[str, str], Entry] = {}
    chosen: dict[tuple[str, str], list[CellInfo]] = {}
    for row in item.rows:
        for column in item.columns:
            found = _cells(row, column, rows, worlds, where)
            _refuse_mixture(item, row, column, found)
            chosen[row.label, column.label] = found
            entries[row.label, column.label] = _entry(item, row, column, rows, found)
    used = {cell.identity: cell for found in chosen.values() for cell in found}
    return Computed(
        item,
        entries,
        _comparisons(item, rows, chosen, entries),
        worlds,
        list(used.values()),
        _notes(item, rows, chosen, entries),
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
    row: Group, column: Group, rows: Rows, worlds: Mapping[str, str], where: Mapping[str, str]
) -> list[CellInfo]:
    wanted = [*row.where.items(), *column.where.items()]
    return [
        cell
        for cell in rows.cells.values()
        if cell.env == worlds.get(column.benchmark)
        and all(cell.choices.get(group) in options for group, options in wanted if _uses(cell, group))
        and all(cell.says(key) == value for key, value in where.items())
    ]


def _uses(cell: CellInfo, group: str) -> bool:
    """Whether an option of a group makes a difference to a cell: a memory does not to a method that has none."""
    return group in ("method", "env", "llm") or group in cell.parts


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


def _condition(column: Group, cells: Sequence[CellInfo]) -> tuple[str, list[object]]:
    clauses = ["cell IN (SELECT unnest(?))"]
    parameters: list[object] = [[cell.identity for cell in cells]]
    if column.task:
        clauses.append("task = ?")
        parameters.append(column.task)
    if column.instructions != "any":
        clauses.append(
            "instruction_index = 0" if column.instructions == "single" else "instruction_index > 0"
        )
    return " AND ".join(clauses), parameters


_SUMS = {
    "success_rate": ("sum((status = 'success')::INT)", "sum((status != 'error')::INT)"),
    "successes": ("sum((status = 'success')::INT)", "sum((status != 'error')::INT)"),
    "task_progress": (
        "sum(CASE WHEN status != 'error' THEN subtasks_done ELSE 0 END)",
        "sum(CASE WHEN status != 'error' THEN subtasks ELSE 0 END)",
    ),
}
"""Numerator and denominator of each metric."""


def _entry(item: Item, row: Group, column: Group, rows: Rows, cells: Sequence[CellInfo]) -> Entry:
    key = (
        item.paper,
        item.number,
        row.published,
        column.benchmark,
        column.published or column.task,
        item.metric,
    )
    published = numbers().get(key)
    if not cells:
        return Entry(published=published)
    part, whole = _SUMS[item.metric]
    condition, parameters = _condition(column, cells)
    found = rows.query(
        f"SELECT seed, {part}, {whole}, sum((status != 'error')::INT), sum((status = 'success')::INT), "
        f"sum((status = 'error')::INT) FROM rows WHERE {condition} GROUP BY seed ORDER BY seed",
        *parameters,
    )
    played = [line for line in found if line[2]]
    values = [_value(item, line[1], line[2]) for line in played]
    episodes, successes = sum(line[3] for line in played), sum(line[4] for line in played)
    interval = None
    if item.metric == "success_rate" and episodes:
        low, high = Rate(successes, episodes).interval()
        interval = PERCENT * low, PERCENT * high
    return Entry(
        value=sum(values, Fraction(0)) / len(values) if values else None,
        deviation=_deviation(values),
        interval=interval,
        successes=successes,
        episodes=episodes,
        errors=sum(line[5] for line in found),
        seeds=len(played),
        published=published,
        counts=item.metric == "successes",
    )


def _value(item: Item, part: int, whole: int) -> Fraction:
    return Fraction(part) if item.metric == "successes" else Fraction(PERCENT * part, whole)


def _deviation(values: Sequence[Fraction]) -> float | None:
    if len(values) < 2:
        return None
    mean = sum(values, Fraction(0)) / len(values)
    variance = float(sum(((value - mean) ** 2 for value in values), Fraction(0)) / (len(values) - 1))
    return math.sqrt(variance)


_COMPARED = (
    "status",
    "failure",
    "error",
    "method",
    "env",
    "env_config",
    "task",
    "instruction_index",
    "scene",
    "seed",
    "state_hash",
    "cell",
)


def _comparisons(
    item: Item,
    rows: Rows,
    chosen: Mapping[tuple[str, str], Sequence[CellInfo]],
    entries: Mapping[tuple[str, str], Entry],
) -> dict[str, Family]:
    families = {}
    for column in item.columns:
        pairs: dict[tuple[str, str], Comparison] = {}
        for first, second in item.comparisons:
            both = (first, second)
            if _sequential(rows, *(chosen[label, column.label] for label in both)) is not None:
                continue  # a test for one look does not hold beside it; what it found is in the notes
            if not column.task and all(entries[label, column.label].episodes for label in both):
                pairs[first, second] = _compare(
                    rows, column, *(chosen[label, column.label] for label in both)
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


def _compare(rows: Rows, column: Group, first: Sequence[CellInfo], second: Sequence[CellInfo]) -> Comparison:
    """As `comparisons.compare`, which is asked itself where the two did not meet the same scenes: it says why."""
    ours, theirs = _condition(column, first), _condition(column, second)
    chosen = "SELECT *, status = 'success' AS solved FROM rows WHERE status != 'error' AND"
    ((shared, other_scene, both, only_first, only_second, verdicts),) = rows.query(
        f"WITH ours AS ({chosen} {ours[0]}), theirs AS ({chosen} {theirs[0]}) "
        "SELECT count(*), count_if(coalesce(ours.state_hash, '') = '' OR ours.state_hash != theirs.state_hash), "
        "count_if(ours.solved AND theirs.solved), count_if(ours.solved AND NOT theirs.solved), "
        "count_if(theirs.solved AND NOT ours.solved), "
        "(SELECT count(*) FROM ours) + (SELECT count(*) FROM theirs) "
        "FROM ours JOIN theirs USING (env, env_config, task, instruction_index, scene, seed)",
        *ours[1],
        *theirs[1],
    )
    if other_scene or not shared:
        return compare(_rows_of(rows, column, first), _rows_of(rows, column, second))
    pairs = Pairs(both, only_first, only_second, shared - both - only_first - only_second)
    return of_pairs(pairs, unmatched=verdicts - 2 * shared)


def _rows_of(rows: Rows, column: Group, cells: Sequence[CellInfo]) -> list[dict[str, object]]:
    condition, parameters = _condition(column, cells)
    found = rows.query(f"SELECT {', '.join(_COMPARED)} FROM rows WHERE {condition}", *parameters)
    return [dict(zip(_COMPARED, line, strict=True)) for line in found]


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
    for (row, column), entry in entries.items():
        if entry.errors:
            notes.append(f"{row}, {column}: {entry.errors} episodes ended in an error and are in no rate.")
    last = item.columns[-1].label
    for row in (group.label for group in item.rows):
        entry = entries[row, last]
        if 0 < entry.episodes < item.episodes and stopped[row, last]:
            notes.append(f"{row}: {entry.episodes} episodes; a sequential test left out others.")
        elif 0 < entry.episodes < item.episodes:
            notes.append(f"{row}: {entry.episodes} episodes; the experiment asks for {item.episodes}.")
    return notes
