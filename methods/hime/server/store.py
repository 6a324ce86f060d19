"""How tasks survive the server's process: a folder each, below one folder for each config that was served.

    task.json          all that has been decided and counted; replaced as a whole when a request has been carried out
    planner-HASH.json  the planner's plan list and memory, of which `task.json` names the one that counts
    frames/N.png       what the cameras saw, and `frames.jsonl` with a line for each: the step, and what is seen in words
    trace-N.jsonl      what was asked and answered, one file for each time that the task was opened; read by nobody here

A frame counts only as far as `task.json` counts it. A process that is killed at any moment so leaves the state after the
last request that it had carried out. A power cut can leave less."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, overload

from harness.failures import UsageError
from harness.tracing import Trace
from methods.hime.frames import Film, Frame
from methods.record_memory import Picture

FORMAT = "engram task 1"


class Reel(Film):
    """A task's frames, on disk: those that are kept, of which the first ones are seen, and are what it has as a film."""

    def __init__(self, folder: Path, kept: int = 0, seen: int = 0) -> None:
        """Frames behind the first `kept` ones are dropped. Raises `UsageError` when there are fewer."""
        self._pictures, self._index = folder / "frames", folder / "frames.jsonl"
        self._pictures.mkdir(parents=True, exist_ok=True)
        lines = self._index.read_bytes().splitlines(keepends=True)[:kept] if self._index.exists() else []
        if len(lines) < kept or not all(line.endswith(b"\n") for line in lines):
            raise UsageError(f"{self._index} has {len(lines)} whole lines, and {kept} frames were kept.")
        self._kept = [(int(entry["step"]), str(entry["seen"])) for entry in map(json.loads, lines)]
        self._bytes = sum(map(len, lines))
        self._seen = seen

    def keep(self, frames: Sequence[Frame]) -> None:
        """Write frames. Nothing is kept of those that cannot all be written: raises `OSError`."""
        lines = b""
        for number, frame in enumerate(frames, start=self.kept):
            self._path(number).write_bytes(frame.picture.png)
            lines += json.dumps({"step": frame.step, "seen": frame.picture.seen}).encode() + b"\n"
        with open(self._index, "ab") as file:
            file.truncate(self._bytes)
            file.write(lines)
        self._bytes += len(lines)
        self._kept += [(frame.step, frame.picture.seen) for frame in frames]

    @property
    def kept(self) -> int:
        return len(self._kept)

    def unseen(self) -> Iterator[Frame]:
        """The frames that are kept and not seen yet, one by one."""
        while self._seen < self.kept:
            yield self._frame(self._seen)

    def append(self, frame: Frame) -> None:
        """The next frame that was kept is seen now."""
        self._seen += 1

    def __len__(self) -> int:
        return self._seen

    @overload
    def __getitem__(self, index: int) -> Frame: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Frame]: ...
    def __getitem__(self, index: int | slice) -> Frame | Sequence[Frame]:
        numbers = range(self._seen)
        if isinstance(index, slice):
            return _Part(self, numbers[index])
        return self._frame(numbers[index])

    def _frame(self, number: int) -> Frame:
        step, seen = self._kept[number]
        return Frame(step, Picture(self._path(number).read_bytes(), seen))

    def _path(self, number: int) -> Path:
        return self._pictures / f"{number:06}.png"


class _Part(Sequence[Frame]):
    """Some of the frames of a reel, read when they are looked at."""

    def __init__(self, reel: Reel, numbers: range) -> None:
        self._reel, self._numbers = reel, numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> Frame: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Frame]: ...
    def __getitem__(self, index: int | slice) -> Frame | Sequence[Frame]:
        if isinstance(index, slice):
            return _Part(self._reel, self._numbers[index])
        return self._reel[self._numbers[index]]


def names(folder: Path) -> list[str]:
    """The tasks that a folder holds, the one that was written last at the end."""
    found = sorted(folder.glob("*/task.json"), key=lambda path: path.stat().st_mtime_ns)
    return [path.parent.name for path in found]


def write(folder: Path, task: Mapping[str, Any], planner: Mapping[str, Any]) -> None:
    """Replace a task's state. Raises `OSError`; then the state before stands."""
    text = json.dumps(planner)
    part = f"planner-{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
    if not (folder / part).exists():
        _write_whole(folder / part, text)
    _write_whole(folder / "task.json", json.dumps({"format": FORMAT, **task, "planner": part}, indent=1))
    for old in folder.glob("planner-*.json"):
        if old.name != part:
            with suppress(OSError):  # it is in nobody's way
                old.unlink()


def read(folder: Path, with_planner: bool = True) -> dict[str, Any]:
    """A task's state as `write` got it, with the planner's under `planner`. Raises `UsageError`."""
    try:
        task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
        if task["format"] != FORMAT:
            raise UsageError(
                f"{folder} holds a task in format {task['format']!r}; this version reads {FORMAT!r}. Serve with another "
                "--state, or with the version that wrote it."
            )
        if with_planner:
            task["planner"] = json.loads((folder / task["planner"]).read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{folder} cannot be read as a task ({type(error).__name__}: {error}). Move it away."
        ) from error
    return dict(task)


def trace(folder: Path) -> Trace:
    """A file of its own for each time that a task is opened."""
    return Trace(folder / f"trace-{len(list(folder.glob('trace-*.jsonl'))) + 1}.jsonl")


def _write_whole(path: Path, text: str) -> None:
    temporary = path.with_name(path.name + ".part")
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
