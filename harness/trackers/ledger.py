"""Which row of a cell has which number in its run: what makes a second start add the new rows only. Kept in the
experiment's `.tracking` folder, for each destination apart; one process at a time holds it."""

from __future__ import annotations

import fcntl
import hashlib
import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.store import Row
from harness.tail import identity

FOLDER = ".tracking"


class BusyError(Exception):
    """Another process mirrors this experiment to the same place."""


@contextmanager
def held(root: Path, destination: str) -> Iterator[Path]:
    """The folder of a destination's ledgers, for this process alone. Raises `BusyError`."""
    mark = hashlib.sha256(destination.encode()).hexdigest()[:12]
    folder = root / FOLDER / mark
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError(f"another process mirrors {root} to {destination}") from None
        yield folder


def folder_mark(root: Path) -> str:
    """Of an experiment's folder, drawn when it is first tracked: two people who run the same command have two runs,
    and a folder that is continued or copied keeps its own."""
    (root / FOLDER).mkdir(parents=True, exist_ok=True)
    with open(root / FOLDER / "id", "a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        found = file.read().strip()
        if not found:
            found = secrets.token_hex(3)
            file.write(found + "\n")
    return found


class Ledger:
    """Of one cell. Numbers are given before a row is sent, so that no row that was sent is unknown afterwards."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._numbers: dict[tuple[str, float], int] = {}
        self._next = 0
        self.told = ""
        """The state that the run was ended with after its last row; empty while it goes on."""
        if path.exists():
            self._read()

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, row: Row) -> int | None:
        return self._numbers.get(identity(row))

    def give(self, row: Row, at_least: int) -> int:
        """A number for a row that has none."""
        episode, started = identity(row)
        number = max(self._next, at_least)
        self._write({"number": number, "episode": episode, "started": started})
        self._know(number, episode, started)
        return number

    def tell(self, state: str) -> None:
        """The run has everything and was ended so; or goes on, with an empty `state`."""
        if state != self.told:
            self._write({"told": state})
            self.told = state

    def _know(self, number: int, episode: str, started: float) -> None:
        self._numbers[episode, started] = number
        self._next = max(self._next, number + 1)

    def _write(self, entry: dict[str, Any]) -> None:
        with open(self._path, "ab") as file:
            file.write(json.dumps(entry).encode() + b"\n")

    def _read(self) -> None:
        data = self._path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):  # a torn last line: its row was not sent yet
            with open(self._path, "r+b") as file:
                file.truncate(len(whole))
        for line in filter(None, whole.split(b"\n")):
            entry = json.loads(line)
            if "told" in entry:
                self.told = entry["told"]
            else:
                self._know(entry["number"], entry["episode"], entry["started"])
