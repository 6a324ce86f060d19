"""How far an experiment is, from its files alone: also while a sweep writes them, here or on other machines. The
table at the end of a sweep is `harness.summary`'s."""

from __future__ import annotations

import json
import os
import re
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.cluster import record
from harness.failures import UsageError
from harness.records import VERDICTS, counts_after
from harness.stopping import record as standings
from harness.store import CELL, LOCK, PLAN, Row, read_description
from harness.tail import CellTail

WINDOW = 600.0
"""Seconds over which a rate is taken, as long as enough episodes ended in them."""
ENOUGH = 5
SLACK = 60.0
"""Seconds between machines' clocks, and until a file system shows what another machine wrote."""


@dataclass
class CellStatus:
    """One cell, as its files say. `look` reads what is new."""

    folder: Path
    method: str
    env: str
    seed: int
    timeout: float
    """Seconds after which an episode has its row, whatever happens (`run.episode_timeout`)."""
    expected: frozenset[str] = frozenset()
    """Episodes that the newest command asked for."""
    started: float = 0.0
    """When that command began, seconds since 1970."""
    statuses: dict[str, str] = field(default_factory=dict)
    """Episode to the status of the row that counts."""
    ends: dict[str, float] = field(default_factory=dict)
    """Episode to the end of that row."""
    counted: frozenset[str] | None = None
    """Episodes that count, where a sequential test has left out others; None for all."""
    tail: CellTail = field(init=False)

    def __post_init__(self) -> None:
        self.tail = CellTail(self.folder)

    def look(self) -> None:
        """Read what is new."""
        self.expected, self.started = read_plan(self.folder)
        for row in self.tail.rows():
            if counts_after(row["status"], self.statuses.get(row["episode"])):
                self.statuses[row["episode"]] = row["status"]
                self.ends[row["episode"]] = end_of(row)

    @property
    def counting(self) -> dict[str, str]:
        """Statuses of the episodes that count."""
        if self.counted is None:
            return self.statuses
        return {episode: status for episode, status in self.statuses.items() if episode in self.counted}

    @property
    def total(self) -> int:
        return len(self.expected | self.counting.keys())

    @property
    def done(self) -> int:
        """Episodes with a verdict."""
        return sum(status in VERDICTS for status in self.counting.values())

    @property
    def successes(self) -> int:
        return sum(status == "success" for status in self.counting.values())

    @property
    def errors(self) -> int:
        return sum(status not in VERDICTS for status in self.counting.values())

    @property
    def to_play(self) -> int:
        """Episodes that the running command has still to play: errors of its own wait for the next one."""
        return sum(
            status is None or (status not in VERDICTS and self.ends[episode] < self.started)
            for episode in self.expected
            for status in (self.statuses.get(episode),)
        )

    @property
    def complete(self) -> bool:
        return self.done == self.total

    @property
    def last(self) -> float | None:
        """When the newest row came."""
        return max(self.ends.values(), default=None)


@dataclass
class Status:
    """An experiment's folder. `now` is the time of the last look."""

    root: Path
    cells: list[CellStatus] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    """Why some cells are in none of these numbers, one message a cell."""
    comparisons: tuple[standings.Standing, ...] = ()
    """Of a sequential sweep."""
    running: str = ""
    """Who plays it, as far as one can tell from here; empty for nobody."""
    started: float = 0.0
    """When the newest command began."""
    now: float = 0.0

    def look(self) -> None:
        """Read what is new. Raises `UsageError` when the folder holds no cell that can be read."""
        known = {cell.folder for cell in self.cells}
        self.unreadable = []
        for description in sorted(self.root.glob(f"*/{CELL}")):
            if description.parent not in known:
                try:
                    self.cells.append(open_cell(description))
                except UsageError as error:
                    self.unreadable.append(str(error))
        if not self.cells and self.unreadable:
            raise UsageError("\n".join(self.unreadable))
        if not self.cells:
            raise UsageError(
                f"{self.root} holds no cell; name the folder of an experiment, such as outputs/mine."
            )
        self.cells.sort(key=lambda cell: (cell.method, cell.env, cell.seed, cell.folder.name))
        stopping = standings.read(self.root)
        self.comparisons = stopping.comparisons
        for cell in self.cells:
            cell.counted = stopping.counted.get(cell.folder.name)
            cell.look()
        self.now = time.time()
        self.started = max(cell.started for cell in self.cells)
        newest = max(self.started, *(cell.last or 0.0 for cell in self.cells))
        patience = max(cell.timeout for cell in self.cells) + SLACK
        self.running = holder(self.root, recent=self.now - newest < patience)
        if not self.running and any(cell.to_play for cell in self.cells):
            self.running = given_to(self.root)

    @property
    def total(self) -> int:
        return sum(cell.total for cell in self.cells)

    @property
    def done(self) -> int:
        return sum(cell.done for cell in self.cells)

    @property
    def errors(self) -> int:
        return sum(cell.errors for cell in self.cells)

    @property
    def complete(self) -> bool:
        return all(cell.complete for cell in self.cells)

    @property
    def damaged(self) -> int:
        return sum(cell.tail.damaged for cell in self.cells)

    def rate(self, cells: Sequence[CellStatus] | None = None) -> float | None:
        """Episodes a second of the command that runs; None before its first and when none runs."""
        if not self.running:
            return None
        ends = [end for cell in cells or self.cells for end in cell.ends.values() if end > self.started]
        since = max(self.started, self.now - WINDOW)
        recent = [end for end in ends if end > since]
        if len(recent) < ENOUGH:
            recent, since = ends, self.started
        return len(recent) / (self.now - since) if recent and self.now > since else None

    def seconds_left(self) -> float | None:
        """Of the command that runs; None when that cannot be said."""
        rate = self.rate()
        return (
            sum(cell.to_play for cell in self.cells if cell.started == self.started) / rate if rate else None
        )


def open_cell(description: Path) -> CellStatus:
    """Raises `UsageError` when it is damaged or of another format."""
    cell = read_description(description)
    timeout = float(cell["config"]["run"]["episode_timeout"])
    return CellStatus(description.parent, cell["method"], cell["env"], cell["seed"], timeout)


def read_plan(folder: Path) -> tuple[frozenset[str], float]:
    """The episodes that the newest command asked of a cell, and when it started; nothing where that is not on record: a
    machine that crashed may have left the file empty, and the next start writes it anew."""
    try:
        plan = json.loads((folder / PLAN).read_text(encoding="utf-8"))
        return frozenset(plan["episodes"]), float(plan["started"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return frozenset(), 0.0


def end_of(row: Row) -> float:
    """When an episode ended, seconds since 1970."""
    return float(row["started"]) + float(row["timings"].get("seconds", 0.0))


def holder(root: Path, recent: bool) -> str:
    """Who plays the experiment: a process of this machine that lives, or one of another machine, of which only
    `recent` rows can tell. Empty for nobody. The lock itself is left alone: trying it could turn a sweep away that is
    just starting."""
    try:
        text = (root / LOCK).read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    claim = re.match(r"(process (\d+)) on (\S+)", text)
    if claim is None:
        return ""
    if claim[3] != socket.gethostname():
        return claim[0] if recent else ""
    return claim[1] if _lives(int(claim[2])) else ""


def given_to(root: Path) -> str:
    """The jobs of a cluster that nobody waits for; empty for none. Files do not tell whether they have ended."""
    given = record.read(root)
    return f"{given.named}, unless it has ended" if given.jobs else ""


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's
        return True
    return True
