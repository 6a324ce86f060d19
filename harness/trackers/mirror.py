"""Brings an experiment's rows from its files to a tracker: those that are there, those that come, and in the end how
each cell ended. The same for a sweep that runs and for one that is long over; it knows no tracker."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness.records import VERDICTS, counts_after
from harness.status import read_plan
from harness.stopping import record
from harness.store import CELL, read_description
from harness.tail import CellTail, identity
from harness.trackers import figures, ledger
from harness.trackers.protocol import OpenTracker, Point, State, TrackedCell, Tracker

Ending = Literal["ended", "interrupted", "broken"]
"""How a sweep ended: by itself, by Ctrl-C, or by an exception or a signal."""

BATCH = 500
"""Rows that are handed over at once."""


@contextmanager
def mirroring(root: Path, tracker: Tracker, folders: Collection[str] | None = None) -> Iterator[Mirror]:
    """A mirror of the cells in `folders` (all, if None). Raises `BusyError` when another process is at it."""
    with ledger.held(root, tracker.destination()) as ledgers:
        mirror = Mirror(root, tracker, ledgers, folders)
        try:
            yield mirror
        finally:
            mirror.close()


class Mirror:
    """`catch_up` as often as there may be something new, then `finish`. The tracker is opened with the first row that
    it lacks: a sweep that has nothing new costs nothing."""

    def __init__(
        self, root: Path, tracker: Tracker, ledgers: Path, folders: Collection[str] | None = None
    ) -> None:
        self._root, self._tracker = root, tracker
        self._open: OpenTracker | None = None
        self.sent = 0
        """Rows handed over."""
        mark = ledger.folder_mark(root)
        self.runs = [
            _Run(self, describe(description, mark), tracker.media, ledgers)
            for description in sorted(root.glob(f"*/{CELL}"))
            if folders is None or description.parent.name in folders
        ]

    @property
    def address(self) -> str:
        """Where the runs can be seen; empty while nothing was sent."""
        return self._open.address if self._open is not None else ""

    def catch_up(self) -> None:
        for run in self.runs:
            run.catch_up()

    def finish(self, how: Ending) -> None:
        """What is left, and how each cell ended."""
        for run in self.runs:
            run.catch_up()
            run.finish(how)

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def opened(self) -> OpenTracker:
        if self._open is None:
            self._open = self._tracker.open(self._root)
        return self._open


@dataclass
class _Run:
    """A cell and its run."""

    mirror: Mirror
    cell: TrackedCell
    media: str
    ledgers: Path

    def __post_init__(self) -> None:
        self._tail = CellTail(self.cell.folder)
        self._ledger = ledger.Ledger(self.ledgers / f"{self.cell.identity}.jsonl")
        self._tally = figures.Tally()
        self._seen: set[tuple[str, float]] = set()
        self._newest: dict[str, Point] = {}
        self._earlier: list[Point] = []
        """Rows that an earlier process has handed over, as far as the ledger knows."""
        self._begun = False
        self._held = 0
        """Rows that the run held when it was begun."""

    def catch_up(self) -> None:
        new: list[Point] = []
        for row in self._tail.rows():
            if identity(row) in self._seen:  # the file was replaced
                continue
            self._seen.add(identity(row))
            so_far = self._tally.add(row)
            number = self._ledger.number(row)
            known = number is not None
            if number is None:
                if not self._begun:
                    new += self._begin(row["code"])
                number = self._ledger.give(row, at_least=self._held)
            point = figures.point(number, row, so_far, self.cell.folder, self.media)
            before = self._newest.get(point.episode)
            if counts_after(point.status, before.status if before else None):
                self._newest.pop(point.episode, None)
                self._newest[point.episode] = point
            (self._earlier if known else new).append(point)
        self._send(new)
        if self._begun and self._expected:
            counting = self._counting()
            if self._unfinished(counting) == 0:
                self._end("finished", counting)

    def finish(self, how: Ending) -> None:
        counting = self._counting()
        state = self._state(how, counting)
        if not self._newest or self._ledger.told == state:
            return
        if not self._begun:
            self._send(self._begin(list(self._newest.values())[-1].code))
        self._end(state, counting)

    def _begin(self, code: str) -> list[Point]:
        """Continue or create the run; returns what an earlier process was to hand over and could not."""
        self._ledger.tell("")
        held = self.mirror.opened().begin(self.cell, code)
        self._begun = True
        self._held = held or 0
        lacking = [] if held is None else [point for point in self._earlier if point.number >= held]
        self._earlier.clear()
        return lacking

    def _send(self, points: Sequence[Point]) -> None:
        for start in range(0, len(points), BATCH):
            self.mirror.opened().add(self.cell, points[start : start + BATCH])
        self.mirror.sent += len(points)

    def _end(self, state: State, counting: Mapping[str, Point]) -> None:
        newest = list(counting.values())
        summary = {"state": state, **figures.summary(newest, len(self._expected | counting.keys()))}
        self.mirror.opened().end(self.cell, newest, summary, state)
        self._ledger.tell(state)
        self._begun = False

    @property
    def _expected(self) -> frozenset[str]:
        return read_plan(self.cell.folder)[0]

    def _unfinished(self, counting: Mapping[str, Point]) -> int:
        """Episodes without a verdict."""
        wanted = self._expected | counting.keys()
        return sum(e not in counting or counting[e].status not in VERDICTS for e in wanted)

    def _counting(self) -> dict[str, Point]:
        """Newest rows, without those that a sequential test has left out, which a file says."""
        counts = record.read(self.cell.folder.parent).counts
        return {e: point for e, point in self._newest.items() if counts(self.cell.folder.name, e)}

    def _state(self, how: Ending, counting: Mapping[str, Point]) -> State:
        if self._unfinished(counting) == 0:
            return "finished"
        unplayed = bool(self._expected - self._newest.keys())
        errors = any(point.status == "error" for point in counting.values())
        if how == "interrupted" and unplayed:
            return "stopped"
        return "failed" if how == "broken" or errors else "stopped"


def describe(description: Path, mark: str) -> TrackedCell:
    """A cell from its `cell.json`. Raises `UsageError` when that is damaged or of another format."""
    cell = read_description(description)
    config = {key: value for key, value in cell["config"].items() if key != "tracker"}
    return TrackedCell(
        folder=description.parent,
        identity=cell["cell"],
        run=f"{cell['cell']}-{mark}",
        experiment=config["name"],
        method=cell["method"],
        env=cell["env"],
        seed=cell["seed"],
        choices=cell["choices"],
        config=config,
    )
