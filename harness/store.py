"""The record of an experiment: one folder a cell, with `cell.json` (the resolved config), `plan.json` (the
episodes that the newest command asked for) and `episodes.jsonl` (one row a line). One writer a file; rows are
appended whole and flushed as they come. Jobs of a cluster write a part each, `episodes-*.jsonl`, beside it; readers
see all of them, and the next sweep gathers them into the one file."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.cells import Cell
from harness.failures import UsageError
from harness.records import Spent, counts_after

FORMAT = 1
"""Version of the files' layout. A folder of another format is refused, never rewritten."""

_SAID = {"cell": str, "method": str, "env": str, "seed": int, "choices": dict, "config": dict}
"""What a cell's description says that is read again."""

ROWS, CELL, PLAN, TORN, LOCK = "episodes.jsonl", "cell.json", "plan.json", "episodes.torn", ".lock"
PARTS = "episodes-*.jsonl"

Row = dict[str, Any]


class StorageError(Exception):
    """The disk refused a row. What was finished before is safe."""


@contextmanager
def claimed(root: Path) -> Iterator[None]:
    """Hold an experiment's folder: one sweep at a time. The lock goes with the process, however it ends.

    Raises `UsageError` naming the holder when another sweep is running on it.
    """
    root.mkdir(parents=True, exist_ok=True)
    with open(root / LOCK, "a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            holder = lock.read().strip() or "another process"
            raise UsageError(
                f"{root} is in use by {holder}. Wait for it, or give this sweep its own folder with name=..."
            ) from None
        lock.truncate(0)
        lock.write(f"process {os.getpid()} on {socket.gethostname()}\n")
        lock.flush()
        try:
            yield
        finally:
            lock.truncate(0)  # the process may live on, and nobody shall take it for a sweep


@dataclass(frozen=True, slots=True)
class Digest:
    """What a sweep keeps of a row in memory; the row itself is on disk."""

    episode: str
    task: str
    scene: int
    status: str
    failure: str | None
    error: str | None
    reason: str
    state_hash: str
    code: str
    models: tuple[str, ...]
    trials: int
    calls: int
    tokens: int
    cost_usd: float | None
    seconds: float
    trace: str | None
    spent: Spent = field(default_factory=Spent)
    chain: tuple[int, int] | None = None
    """Of a chain: how many of how many sentences are done."""

    @classmethod
    def of(cls, row: Row) -> Digest:
        usage = row["usage"] or {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost_usd": None}
        chain = row["trials"][-1]["facts"].get("chain") if row.get("trials") else None
        return cls(
            episode=row["episode"],
            task=row["task"],
            scene=row["scene"],
            status=row["status"],
            failure=row["failure"],
            error=row["error"],
            reason=row["reason"],
            state_hash=row["state_hash"],
            code=row["code"],
            models=tuple(row["models"]),
            trials=row["trial_count"],
            calls=usage["calls"],
            tokens=usage["prompt_tokens"] + usage["completion_tokens"],
            cost_usd=usage["cost_usd"],
            seconds=row["timings"].get("seconds", 0.0),
            trace=row["trace"],
            spent=Spent(**row.get("spent", {})),
            chain=(chain["done"], chain["of"]) if chain else None,
        )


class CellStore:
    """Rows of one cell. `digests()` holds the row of each episode that counts, in short."""

    def __init__(self, root: Path, cell: Cell, part: str = "") -> None:
        """`part` is the name of the file that a job of a cluster writes; it changes no other."""
        self.cell = cell
        self.folder = root / cell.folder_name
        self.torn = 0
        self._part = part
        self._path = self.folder / (part or ROWS)
        self._digests: dict[str, Digest] = {}

    def open(self, being_written: Collection[str] = ()) -> None:
        """Create or continue the cell's folder: check its format, put torn last lines aside, drop rows that a later
        attempt replaced, and gather parts, those left out that jobs write right now."""
        self.folder.mkdir(parents=True, exist_ok=True)
        description = self.folder / CELL
        if description.exists():
            read_description(description)
        else:
            write_whole(description, json.dumps(self._description(), indent=1, sort_keys=True) + "\n")
        files = row_files(self.folder)
        ours = [
            path for path in files if path == self._path or not (self._part or path.name in being_written)
        ]
        rows = self._mend(ours)
        for path in files:
            if path not in ours:
                _add(read_rows(path)[0].values(), rows)
        self._digests = {key: Digest.of(row) for key, row in rows.items()}

    def _mend(self, files: Sequence[Path]) -> dict[str, Row]:
        """Make the files one, with the whole row of each episode that counts; these are returned."""
        rows: dict[str, Row] = {}
        torn = lines = 0
        for path in files:
            found, cut, total = read_rows(path)
            _add(found.values(), rows)
            torn, lines = torn + cut, lines + total
            if cut:
                with open(self.folder / TORN, "ab") as aside:
                    aside.write(_torn_tail(path) + b"\n")
        if torn or lines > len(rows) or any(path != self._path for path in files):
            write_whole(self._path, "".join(_line(row) for row in rows.values()))
        for path in files:
            if path != self._path:
                path.unlink()
        self.torn = torn
        return rows

    def expect(self, episodes: Sequence[str], started: float) -> None:
        """Note which episodes a command asks for and when it started, in seconds since 1970 and the same for all of
        its cells: what `harness.status` counts against."""
        plan = {"started": started, "episodes": list(episodes)}
        temporary = self.folder / f"{PLAN}.tmp"
        temporary.write_text(json.dumps(plan) + "\n", encoding="utf-8")
        temporary.replace(self.folder / PLAN)  # not synced: it is written anew with each start

    def digests(self) -> Mapping[str, Digest]:
        """Episode key to the row that counts, in short."""
        return self._digests

    def append(self, row: Row) -> Digest:
        """Write a row whole or not at all. Raises `StorageError` when the disk refuses."""
        data = _line(row).encode()
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            size = os.fstat(descriptor).st_size
            try:
                written = os.write(descriptor, data)
                if written < len(data):
                    raise OSError(f"only {written} of {len(data)} bytes were written; the disk is full")
            except OSError as error:
                with suppress(OSError):  # what stays is a torn last line, which readers put aside
                    os.ftruncate(descriptor, size)
                raise StorageError(
                    f"Cannot write to {self._path}: {error}. Finished episodes are safe; free space and run "
                    "the same command again."
                ) from error
        finally:
            os.close(descriptor)
        digest = self._digests[row["episode"]] = Digest.of(row)
        return digest

    def sync(self) -> None:
        """Bring the rows to the disk itself; called once a cell is done."""
        if self._path.exists():
            descriptor = os.open(self._path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def _description(self) -> dict[str, Any]:
        cell = self.cell
        return {
            "format": FORMAT,
            "cell": cell.identity,
            "method": cell.method,
            "env": cell.env,
            "seed": cell.seed,
            "choices": dict(cell.choices),
            "overrides": list(cell.overrides),
            "config": dict(cell.config),
        }


def load(root: Path) -> list[Row]:
    """All rows of an experiment's folder that count, one an episode, in a stable order. Raises `UsageError` for
    a folder that is not one, and for a cell that is damaged or of another format."""
    if not root.is_dir():
        raise UsageError(f"{root} is not a folder; name one under outputs/.")
    rows: list[Row] = []
    for description in sorted(root.glob(f"*/{CELL}")):
        read_description(description)
        rows.extend(read_cell(description.parent).values())
    return rows


def row_files(folder: Path) -> list[Path]:
    """The files with rows of a cell: its own, then the parts of jobs, those of an earlier start first."""
    return [path for path in (folder / ROWS,) if path.exists()] + sorted(folder.glob(PARTS))


def read_cell(folder: Path) -> dict[str, Row]:
    """The row of each episode of a cell that counts, in the order in which they were written. Raises as `read_rows`
    does."""
    rows: dict[str, Row] = {}
    for path in row_files(folder):
        _add(read_rows(path)[0].values(), rows)
    return rows


def _add(found: Iterable[Row], rows: dict[str, Row]) -> None:
    """Add rows to those before them, of which they replace what no longer counts."""
    for row in found:
        key = row["episode"]
        before = rows.get(key)
        if counts_after(row["status"], before["status"] if before else None):
            rows.pop(key, None)
            rows[key] = row


def read_rows(path: Path) -> tuple[dict[str, Row], int, int]:
    """The row of each episode that counts, number of torn lines at the end (0 or 1), number of whole lines.

    Raises `UsageError` for a damaged line that is not the last: nothing is guessed and nothing is lost.
    """
    rows: dict[str, Row] = {}
    total = 0
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, start=1):
        last = number >= len(lines) - (lines[-1] == b"")
        if not line:
            continue
        try:
            row = json.loads(line)
            row["episode"], row["status"]
        except (ValueError, KeyError, TypeError) as error:
            if last:
                return rows, 1, total
            raise UsageError(
                f"{path}, line {number}, is not a row ({error}). Mend or delete that line; the file is untouched."
            ) from error
        if last and lines[-1] != b"":
            return rows, 1, total  # a row without its newline may have been cut inside a number
        total += 1
        _add([row], rows)
    return rows, 0, total


def read_description(description: Path) -> dict[str, Any]:
    """What a `cell.json` says. Raises `UsageError` for one that is damaged or of another format of this program."""
    try:
        found = json.loads(description.read_bytes())
        if not isinstance(found, dict):
            raise ValueError("it is no JSON object")
        if found["format"] != FORMAT:
            raise UsageError(
                f"{description.parent} was written in format {found['format']}; this version writes format {FORMAT}. "
                "Use another name=..., or the version that wrote it. Nothing was changed."
            )
        for key, kind in _SAID.items():
            if not isinstance(found[key], kind):
                raise ValueError(f"`{key}` is no {kind.__name__}")
        return found
    except OSError as error:
        raise UsageError(f"{description} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError) as error:
        raise damaged(
            description,
            error,
            "Delete that file and run the experiment's command again, which writes it anew and keeps the rows beside it; "
            "or move the folder away.",
        ) from error


def damaged(path: Path, why: Exception, what_to_do: str) -> UsageError:
    """For a file that this program wrote and cannot read any more."""
    said = f"it has no `{why.args[0]}`" if isinstance(why, KeyError) else str(why)
    return UsageError(f"{path} is damaged ({said}). {what_to_do}")


_encode = json.JSONEncoder(allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode


def _line(row: Row) -> str:
    # Half of a surrogate pair, which a model's text can hold, is no UTF-8; its escape is JSON and reads back.
    return _encode(row).encode(errors="backslashreplace").decode() + "\n"


def _torn_tail(path: Path) -> bytes:
    data = path.read_bytes().rstrip(b"\n")
    return data[data.rfind(b"\n") + 1 :]


def write_whole(path: Path, text: str) -> None:
    """Replace a file; after a crash of the machine it is the old one or the new one, whole."""
    temporary = path.with_name(path.name + ".tmp")
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
