"""The table at the end of a sweep, and the list of what could not be finished. Rates are of verdicts:
errors are shown beside them and never counted in them."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from harness.intervals import clopper_pearson
from harness.store import Digest
from harness.sweep import CellResult, SweepResult


@dataclass(frozen=True)
class Line:
    """One row of the table: a method on an environment with one model, over seeds."""

    method: str
    env: str
    llm: str
    seeds: int
    episodes: int
    successes: int
    errors: int
    unplayed: int
    solved_by: tuple[int, ...]
    """Episodes solved within one trial, within two and so on, up to the most that any episode took."""
    calls: int
    tokens: int
    cost_usd: float | None
    seconds: float
    """Median wall-clock time of an episode."""
    failures: dict[str, int]
    in_a_row: tuple[int, ...] = ()
    """Of chains: episodes with the first sentence done, with the first two, and so on; empty where they are none."""

    @property
    def rate(self) -> float | None:
        return self.successes / self.episodes if self.episodes else None

    @property
    def interval(self) -> tuple[float, float]:
        return clopper_pearson(self.successes, self.episodes)


def summarise(cells: Sequence[CellResult]) -> list[Line]:
    """Lines in the order in which the cells were given."""
    groups: dict[tuple[str, str, str, str], list[CellResult]] = {}
    common = in_common(cells)
    for result in cells:
        cell = result.cell
        variant = " ".join(override for override in cell.variant if override not in common)
        groups.setdefault((cell.method, cell.env, variant, cell.choices["llm"]), []).append(result)
    return [_line(key, results) for key, results in groups.items()]


def in_common(cells: Sequence[CellResult]) -> list[str]:
    """What was typed for all cells alike: it tells no line from another."""
    if not cells:
        return []
    return [
        override
        for override in cells[0].cell.variant
        if all(override in result.cell.variant for result in cells)
    ]


WIDE = 140
"""Columns from which the table shows everything; also its width where there is no terminal."""


def _line(key: tuple[str, str, str, str], results: Sequence[CellResult]) -> Line:
    rows = [row for result in results for row in result.rows.values() if row.status != "error"]
    costs = [row.cost_usd for row in rows]
    models = sorted({model for row in rows for model in row.models}) or [results[0].cell.choices["llm"]]
    return Line(
        method=key[0] + (f" ({key[2]})" if key[2] else ""),
        env=key[1],
        llm=", ".join(models),
        seeds=len({result.cell.seed for result in results}),
        episodes=len(rows),
        successes=sum(row.status == "success" for row in rows),
        errors=sum(len(result.errors) for result in results),
        unplayed=sum(result.unplayed for result in results),
        solved_by=_solved_by(rows),
        calls=sum(row.calls for row in rows),
        tokens=sum(row.tokens for row in rows),
        cost_usd=None if None in costs else sum(filter(None, costs)),
        seconds=statistics.median(row.seconds for row in rows) if rows else 0.0,
        failures=dict(Counter(str(row.failure) for row in rows if row.status == "failure")),
        in_a_row=_in_a_row(rows),
    )


def _in_a_row(rows: Sequence[Digest]) -> tuple[int, ...]:
    chains = [row.chain for row in rows if row.chain]
    longest = max((total for _, total in chains), default=0)
    return tuple(sum(done >= length for done, _ in chains) for length in range(1, longest + 1))


def _solved_by(rows: Sequence[Digest]) -> tuple[int, ...]:
    solved = [row.trials for row in rows if row.status == "success"]
    most = max((row.trials for row in rows), default=0)
    return tuple(sum(trials <= limit for trials in solved) for limit in range(1, most + 1))


def unpaired_scenes(cells: Iterable[CellResult]) -> list[str]:
    """Scenes whose initial state was not the same in all rows; comparisons on them are not paired."""
    hashes: dict[tuple[str, str, int], set[str]] = {}
    for result in cells:
        for row in result.rows.values():
            if row.state_hash:
                hashes.setdefault((result.cell.env_identity, row.task, row.scene), set()).add(row.state_hash)
    return [f"{task} scene {scene}" for (_, task, scene), found in sorted(hashes.items()) if len(found) > 1]


def show(result: SweepResult) -> None:
    """Print the table to stdout and what is incomplete to stderr."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console.width = WIDE
    methods = summarise(result.cells)
    models = {method.llm for method in methods}
    console.print(_table(methods, wide=console.width >= WIDE, models=len(models) > 1))
    if len(models) == 1:  # once: names are long, and the table has many columns
        console.print(f"Model: {models.pop()}", highlight=False, markup=False, soft_wrap=True)
    if common := in_common(result.cells):
        console.print(f"For all: {' '.join(common)}", highlight=False, markup=False, soft_wrap=True)
    for method in methods:
        if method.in_a_row:
            console.print(chain_line(method), highlight=False, markup=False, soft_wrap=True)
    console.print(f"Rows: {result.root}/*/episodes.jsonl", highlight=False, soft_wrap=True)
    for said in _comparisons(result):
        console.print(said, highlight=False, markup=False, soft_wrap=True)
    complain = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    unpaired = unpaired_scenes(result.cells)
    if unpaired:
        complain.print(f"Not the same initial state in all rows, so not paired: {', '.join(unpaired)}")
    for note in result.notes:
        complain.print(f"Note: {note}")
    incomplete = [cell for cell in result.cells if not cell.complete]
    if incomplete:
        complain.print(f"\n{len(incomplete)} of {len(result.cells)} cells are not complete:")
    for cell in incomplete:
        complain.print(
            f"  {cell.folder.name}: {len(cell.errors)} errors, {cell.unplayed} not played. {cell.stopped}"
        )
        complain.print(f"    overrides: {' '.join(cell.cell.overrides) or '(none)'}")
        for row in cell.errors:
            where = f" (trace: {cell.folder / row.trace})" if row.trace else ""
            complain.print(f"    {row.episode}: {row.error}: {row.reason}{where}")
    if incomplete:
        complain.print("Run the same command again to play what is missing.")


def chain_line(line: Line) -> str:
    """CALVIN's figures of chains: how many sentences are done in a row."""
    rates = ", ".join(
        f"{length}: {100 * done / line.episodes:.1f} %" for length, done in enumerate(line.in_a_row, start=1)
    )
    average = sum(line.in_a_row) / line.episodes
    return f"{line.method} on {line.env}, sentences in a row: {rates}; average length {average:.2f}"


def _comparisons(result: SweepResult) -> Iterator[str]:
    """What a sequential sweep has found, and what its stops left out."""
    for one in result.comparisons:
        yield f"Sequential test: {one.words()}"
    if result.saved or result.unneeded:
        asked = sum(len(cell.wanted) for cell in result.cells) + result.saved + result.unneeded
        beyond = (
            f" {result.unneeded} more had been played, and count in no number." if result.unneeded else ""
        )
        yield f"Stopping saved {result.saved} of {asked} episodes.{beyond}"
        yield (
            "The table's intervals are for a number of episodes that was fixed before; where a test chose it, its "
            "confidence sequence holds instead."
        )


def _table(lines: Sequence[Line], wide: bool, models: bool) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2 if wide else 1, 0, 0))
    for heading in ("method", "env", *(["model"] if models else [])):
        table.add_column(heading, overflow="fold")
    numbers = ["seeds", "episodes", "success", "95 % interval", "errors", "pass@k", "calls", "tokens"]
    numbers += ["cost", "s/episode"] if wide else ["s"]
    for heading in numbers:
        table.add_column(heading, justify="right", no_wrap=True)
    if wide:
        table.add_column("failures", overflow="fold")
    for line in lines:
        table.add_row(*map(Text, _cells(line, wide, models)))  # brackets in what was typed are no markup
    return table


def _cells(line: Line, wide: bool, models: bool) -> list[str]:
    low, high = line.interval
    known = line.rate is not None
    cells = [line.method, line.env, *([line.llm] if models else []), str(line.seeds), str(line.episodes)]
    cells += [
        f"{100 * (line.rate or 0):.1f} %" if known else "-",
        f"{100 * low:.0f} to {100 * high:.0f}" if known else "-",
    ]
    cells += [f"{line.errors}" + (f" ({line.unplayed} not played)" if line.unplayed else "")]
    passed = " ".join(f"{100 * solved / line.episodes:.0f}" for solved in line.solved_by)
    cells += [passed or "-", str(line.calls), str(line.tokens)]
    if wide:
        cells += ["unknown" if line.cost_usd is None else f"${line.cost_usd:.2f}"]
    cells += [f"{line.seconds:.2f}" if known else "-"]
    if wide:
        cells += [", ".join(f"{kind} {count}" for kind, count in sorted(line.failures.items())) or "-"]
    return cells
