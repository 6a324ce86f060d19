"""Recordings of chat: what was asked and answered in the episodes of an experiment, read from its traces or from one
file, and written into such a file, which is small enough to ship. It answers nothing; `harness.chat.replay` does.

A file is gzipped JSON lines: a line that says what it is, one for each cell, and one for each episode with its calls.
A text that stands in several messages is written once.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.failures import UsageError
from harness.protocols import Reply

if TYPE_CHECKING:
    from harness.cells import Cell

FORMAT = 1
REPLAY = "harness.chat.replay.Replay"
"""What answers where nothing is recorded anew."""
_KEPT = (
    *("role", "key", "model", "messages", "sampling"),
    *("reply", "finish_reason", "tokens", "cost_usd", "details"),
)
"""What a file has of a traced call."""


@dataclass(frozen=True)
class Call:
    """One request and its reply, as traced."""

    role: str
    key: str
    """As `harness.chat.keys.request_key` gives it."""
    messages: Sequence[Mapping[str, Any]]
    sampling: Mapping[str, Any]
    reply: Reply

    @classmethod
    def of(cls, event: Mapping[str, Any]) -> Call:
        prompt_tokens, completion_tokens = event["tokens"]
        reply = Reply(
            text=event["reply"],
            finish_reason=event["finish_reason"],
            model=event["model"],
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            cost_usd=event["cost_usd"],
            cached=True,
            details=event["details"],
        )
        return cls(event["role"], event["key"], event["messages"], event["sampling"], reply)


@dataclass(frozen=True)
class RecordedCell:
    """A cell whose calls are known."""

    method: str
    env: str
    seed: int
    llm: str
    """The option of the group `llm` that answered."""
    work: str
    """As `Cell.work`: what it has in common with a replay of it."""
    identity: str
    where: str
    """Its folder, or its name in the file."""
    calls: Callable[[str], Sequence[Call] | None]
    """Of an episode, by its key; None for one that was not recorded."""

    def is_of(self, cell: Cell) -> bool:
        return (self.method, self.env, self.seed) == (cell.method, cell.env, cell.seed)


def read(source: Path) -> list[RecordedCell]:
    """The cells of an experiment's folder, of one cell's folder, or of a file. Raises `UsageError` for what is none
    of them."""
    if source.is_file():
        return _in_file(source)
    return [_recorded(folder) for folder in _folders(source)]


def fingerprint(source: Path) -> str:
    """Hash of a recording: of a file its content, of folders that of their rows, each of which says when its episode
    was played. Raises `UsageError` for what is no recording."""
    from harness.store import row_files

    folders = [] if source.is_file() else _folders(source)
    files = [path for folder in folders for path in row_files(folder)] if folders else [source]
    hashes = [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]
    return hashlib.sha256("".join(sorted(hashes)).encode()).hexdigest()[:16]


def export(sources: Sequence[Path], target: Path) -> tuple[int, int, list[str]]:
    """Write the calls of every episode of `sources` that has a verdict into one file. Returns the numbers of
    episodes and calls, and what had to be left out. The same episodes give the same bytes."""
    from harness import __version__

    episodes = calls = 0
    left_out: list[str] = []
    seen: set[str] = set()
    with _writing(target) as write:
        write({"recording": FORMAT, "engram": __version__})
        for folder in {
            folder.resolve(): folder for source in sources for folder in _folders(source)
        }.values():
            cell = _recorded(folder)
            named = ("method", "env", "seed", "llm", "work")
            write({"cell": cell.identity, **{name: getattr(cell, name) for name in named}})
            for key, events, why_not in _finished(folder):
                if why_not:
                    left_out.append(f"{folder.name}: {key}: {why_not}")
                    continue
                write({"episode": key, "calls": [_compact(event, seen) for event in events]})
                episodes += 1
                calls += len(events)
    return episodes, calls, left_out


# Folders


def _folders(root: Path) -> list[Path]:
    """The cells' folders of an experiment, without those that are replays themselves, or the one that is a cell's."""
    from harness.store import CELL

    if not root.is_dir():
        raise UsageError(f"{root} is not there; name an experiment's folder, a cell's folder or a recording.")
    if (root / CELL).is_file():
        return [root]
    found = [description.parent for description in sorted(root.glob(f"*/{CELL}"))]
    made = [folder for folder in found if not _is_replay(folder)]
    if not made:
        raise UsageError(
            f"{root} holds no recording: no folder in it has the {CELL} of a cell that was recorded."
        )
    return made


def _is_replay(folder: Path) -> bool:
    description = _description(folder)
    return str(description["config"]["llm"]["_target_"]) == REPLAY


def _description(folder: Path) -> Any:
    from harness.store import CELL, read_description

    return read_description(folder / CELL)


def _recorded(folder: Path) -> RecordedCell:
    from harness.cells import Cell

    description = _description(folder)
    cell = Cell(description["config"], description["choices"])

    def calls(episode: str) -> list[Call] | None:
        trace = _trace(folder, episode)
        return [Call.of(event) for event in _chat(trace)] if trace.is_file() else None

    return RecordedCell(
        *(cell.method, cell.env, cell.seed, cell.choices["llm"], cell.work, description["cell"]),
        where=str(folder),
        calls=calls,
    )


def _trace(folder: Path, episode: str) -> Path:
    return folder / "traces" / f"{episode}.jsonl"


def _chat(trace: Path) -> list[dict[str, Any]]:
    from harness import tracing

    events = [event for event in tracing.read(trace) if event["event"] == "chat"]
    if any("key" not in event for event in events):
        raise UsageError(f"{trace} was written before calls could be replayed; record the experiment again.")
    return events


def _finished(folder: Path) -> Iterator[tuple[str, list[dict[str, Any]], str]]:
    """Episodes of a cell with what was asked in them, or with why that cannot be said."""
    from harness.records import VERDICTS
    from harness.store import read_cell

    for key, row in sorted(read_cell(folder).items()):
        trace = _trace(folder, key)
        if row["status"] not in VERDICTS:
            yield key, [], f"error {row['error']}"
        elif trace.is_file():
            yield key, _chat(trace), ""
        elif row["usage"].get("calls"):
            yield key, [], "it has no trace"
        else:
            yield key, [], ""


# Files


def _in_file(path: Path) -> list[RecordedCell]:
    from harness import tracing

    cells: list[dict[str, Any]] = []
    episodes: list[dict[str, list[Call]]] = []
    texts: dict[str, str] = {}
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            found = json.loads(next(file, "")).get("recording")
            if found != FORMAT:
                raise UsageError(f"{path} is in format {found}; this version reads format {FORMAT}.")
            for line in map(json.loads, file):
                if "cell" in line:
                    cells.append(line)
                    episodes.append({})
                    continue
                for call in line["calls"]:
                    for message in call["messages"]:
                        tracing.restore(message, texts)
                episodes[-1][line["episode"]] = [Call.of(call) for call in line["calls"]]
        return [
            RecordedCell(
                *(line["method"], line["env"], line["seed"], line["llm"], line["work"], line["cell"]),
                where=f"{path}, cell {line['cell']}",
                calls=own.get,
            )
            for line, own in zip(cells, episodes, strict=True)
        ]
    except (OSError, EOFError, zlib.error, ValueError, LookupError, AttributeError, TypeError) as error:
        raise UsageError(
            f"{path} is not a recording, or it was cut off ({type(error).__name__}: {error}). "
            "`python -m harness cache export` writes one."
        ) from error


@contextmanager
def _writing(target: Path) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """A gzipped file of JSON lines that is there once it is whole; equal lines give equal bytes."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(target.name + ".tmp")
    try:
        with open(temporary, "wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file:
            yield lambda line: _write(file, line)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _write(file: gzip.GzipFile, line: Mapping[str, Any]) -> None:
    file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")


def _compact(event: Mapping[str, Any], seen: set[str]) -> dict[str, Any]:
    from harness import tracing

    messages = [tracing.shortened(message, seen) for message in event["messages"]]
    return {**{key: event[key] for key in _KEPT}, "messages": messages}
