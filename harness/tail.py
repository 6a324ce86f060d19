"""Follows a cell's rows while somebody else writes them: reads each whole line once. It writes nothing, never waits
and does not mind a line that is still being written."""

from __future__ import annotations

import json
import os
from pathlib import Path

from harness.store import Row, row_files


class Tail:
    """The new rows of one `episodes.jsonl`. When the file was replaced (a sweep that starts drops rows which a later
    attempt replaced), all of its rows come again: who must not count twice goes by `identity`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._inode = 0
        self._offset = 0
        self.damaged = 0
        """Whole lines that are no rows."""

    def rows(self) -> list[Row]:
        """What came since the last call; nothing while there is no file."""
        try:
            file = open(self._path, "rb")  # noqa: SIM115 - what follows must not be taken for a missing file
        except FileNotFoundError:
            return []
        with file:
            found = os.fstat(file.fileno())
            if found.st_ino != self._inode or found.st_size < self._offset:
                self._inode, self._offset, self.damaged = found.st_ino, 0, 0
            file.seek(self._offset)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        self._offset += len(whole)
        return [row for line in whole.split(b"\n") if line and (row := self._row(line)) is not None]

    def _row(self, line: bytes) -> Row | None:
        try:
            row = json.loads(line)
            identity(row), row["status"]
        except (ValueError, KeyError, TypeError):
            self.damaged += 1
            return None
        return dict(row)


class CellTail:
    """The new rows of a cell, from all its files. Gathered parts come again, as those of a replaced file do."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tails: dict[Path, Tail] = {}

    def rows(self) -> list[Row]:
        found: list[Row] = []
        for path in row_files(self._folder):
            found += self._tails.setdefault(path, Tail(path)).rows()
        return found

    @property
    def damaged(self) -> int:
        """Whole lines that are no rows."""
        return sum(tail.damaged for tail in self._tails.values())


def identity(row: Row) -> tuple[str, float]:
    """What tells a row from all others of its cell: the episode and when it was started."""
    return str(row["episode"]), float(row["started"])
