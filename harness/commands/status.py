"""How far an experiment is: cells, episodes, errors, rate and remaining time, also while it runs.

Reads files only, so it can be asked on any machine that sees the folder."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.failures import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from harness.status import CellStatus, Status

WIDE = 100
"""Columns from which each cell has a bar and the age of its last row."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("experiment", type=Path, help="a folder under outputs/")
    parser.add_argument(
        "--watch",
        nargs="?",
        type=float,
        const=2.0,
        metavar="SECONDS",
        help="keep it up until everything is played; how often to look (2 s)",
    )


def run(options: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.text import Text

    from harness.status import Status

    if options.watch is not None and not options.watch > 0:
        raise UsageError(f"--watch {options.watch:g}: the seconds between two looks have to be above 0.")
    status = Status(options.experiment)
    status.look()
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = WIDE
    try:
        if options.watch is None:
            for part in _page(status, console, rows=len(status.cells)):
                console.print(part, soft_wrap=isinstance(part, Text))
        elif console.is_terminal:
            _keep_up(status, console, options.watch)
        else:
            _tell(status, options.watch)
    except KeyboardInterrupt:
        return 130
    return 0


def _keep_up(status: Status, console: Console, seconds: float) -> None:
    from rich.console import Group
    from rich.live import Live

    def page() -> Group:
        return Group(*_page(status, console, rows=console.height - 5))

    with Live(page(), console=console, auto_refresh=False) as live:
        while not status.complete:
            time.sleep(seconds)
            status.look()
            live.update(page(), refresh=True)


def _tell(status: Status, seconds: float) -> None:
    """Without a terminal: a line whenever there is something new."""
    told = -1
    for trouble in status.unreadable:
        print(trouble, file=sys.stderr)
    while True:
        if status.done + status.errors != told:
            print(headline(status), flush=True)
            told = status.done + status.errors
        if status.complete:
            return
        time.sleep(seconds)
        status.look()


def headline(status: Status) -> str:
    share = f" ({100 * status.done / status.total:.0f} %)" if status.total else ""
    parts = [f"{status.done} of {status.total} episodes{share}"]
    if status.errors:
        parts.append(_count(status.errors, "error"))
    rate, left = status.rate(), status.seconds_left()
    if rate:
        parts.append(f"{60 * rate:.3g} a minute")
    if left:
        parts.append(f"about {duration(left)} left")
    return f"{_count(len(status.cells), 'cell')}, {', '.join(parts)}"


def state(status: Status) -> str:
    if status.complete:
        return "complete, but for cells that cannot be read" if status.unreadable else "complete"
    if status.running:
        return f"running ({status.running})"
    return "not running; its command, run again, plays what is missing"


def _page(status: Status, console: Console, rows: int) -> list[Any]:
    """Headline and table, with at most `rows` cells: those that are not complete first."""
    from rich.text import Text

    cells = status.cells
    rest = ""
    if len(cells) > rows:
        cells = sorted(cells, key=lambda cell: (cell.complete, not cell.statuses))[: max(1, rows - 1)]
        hidden = [cell for cell in status.cells if cell not in cells]
        kinds = Counter("complete" if cell.complete else "not complete" for cell in hidden)
        rest = "and " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    lines = [Text(f"{status.root}: {state(status)}", style="bold"), Text(headline(status)), Text()]
    notes = [Text(rest, style="dim")] if rest else []
    notes += [Text(f"Sequential test: {one.words()}") for one in status.comparisons]
    notes += [Text(trouble, style="red") for trouble in status.unreadable]
    if status.damaged:
        notes.append(Text(f"{_count(status.damaged, 'line')} of episodes.jsonl cannot be read", style="red"))
    return [*lines, _table(status, cells, wide=console.width >= WIDE), *notes]


def _table(status: Status, cells: Sequence[CellStatus], wide: bool) -> Any:
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    bars = wide and sys.stdout.isatty()
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2 if wide else 1, 0, 0))
    table.add_column("cell", overflow="fold")
    if bars:
        table.add_column("", width=24)
    for heading in ["episodes", "success", "errors", "a minute", *(["last row"] if wide else [])]:
        table.add_column(heading, justify="right", no_wrap=True)
    named = Counter(_name(cell) for cell in status.cells)
    for cell in cells:
        name = _name(cell)
        if named[name] > 1:  # they differ in something else: the folder's name ends in the cell's own mark
            name += f" {cell.folder.name.rpartition('-')[2]}"
        rate = status.rate([cell])
        line: list[Any] = [Text(name, style="dim" if cell.complete else "")]
        if bars:
            line.append(ProgressBar(total=max(1, cell.total), completed=cell.done, width=24))
        line.append(f"{cell.done}/{cell.total}")
        line.append(f"{100 * cell.successes / cell.done:.0f} %" if cell.done else "-")
        line.append(Text(str(cell.errors), style="red" if cell.errors else ""))
        line.append(f"{60 * rate:.3g}" if rate else "-")
        if wide:
            line.append(f"{duration(status.now - cell.last)} ago" if cell.last else "-")
        table.add_row(*line)
    return table


def _name(cell: CellStatus) -> str:
    return f"{cell.method} {cell.env} s{cell.seed}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def duration(seconds: float) -> str:
    """In the largest unit that leaves at least two of it."""
    for unit, name in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.0f} {name}"
    return f"{max(0.0, seconds):.0f} s"
