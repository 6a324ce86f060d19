"""A record of the code memory, and its JSONL file: one record a line."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from harness.failures import UsageError

KEYS = ("environment", "task", "instruction", "code")


@dataclass(frozen=True)
class Record:
    """A planner's program that carried out an instruction."""

    environment: str
    """The environment's name, as `env=NAME` has it."""
    task: str
    instruction: str
    code: str
    source: Mapping[str, Any] = field(default_factory=dict)
    """Where it came from: experiment, method, model, seed, scene, trial."""
    image: str = ""
    """What the environment's first camera saw at the start, as `pictures.encode` gives it; empty: not recorded."""


def load(path: Path) -> tuple[Record, ...]:
    """Raises `UsageError` with the line for what is no record."""
    try:
        text = path.read_text(encoding="utf-8-sig")  # some editors begin a file with a byte order mark
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8: {error}. Save it as UTF-8.") from None
    records = []
    for number, line in enumerate(text.split("\n"), start=1):  # other line separators may stand in a string
        if line.strip():
            records.append(_record(line, f"{path}, line {number}"))
    return tuple(records)


def save(records: Iterable[Record], path: Path) -> None:
    """Replaces the file as a whole, so that it is never half written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".part")
    lines = [json.dumps(_plain(record), ensure_ascii=False) for record in records]
    temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    temporary.replace(path)


def digest(records: Sequence[Record], images: bool = True) -> str:
    """16 hex digits over the records in their order, with or without their pictures; empty for none."""
    if not records:
        return ""
    lines = "\n".join(json.dumps(_plain(record, images), sort_keys=True) for record in records)
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


def normalised(code: str) -> str:
    """The code without comments, blank lines and differences in layout; as it is where it does not parse."""
    try:
        return ast.unparse(ast.parse(code))
    except (
        SyntaxError,
        ValueError,
        RecursionError,
        MemoryError,
    ):  # null bytes, lone surrogates, deep nesting
        return "\n".join(line.strip() for line in code.splitlines() if line.strip())


def program_id(code: str) -> str:
    """8 hex digits that name a program, whatever its layout."""
    return hashlib.sha256(normalised(code).encode(errors="surrogatepass")).hexdigest()[:8]


def _plain(record: Record, images: bool = True) -> dict[str, Any]:
    """As the file has it: without the key of a picture that is not there."""
    found = asdict(record)
    if not (images and record.image):
        del found["image"]
    return found


def _record(line: str, where: str) -> Record:
    try:
        found = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise UsageError(f"{where}: not JSON: {error}") from None
    if not isinstance(found, dict):
        raise UsageError(f"{where}: a record is an object with {', '.join(KEYS)} and source")
    for key in KEYS:
        if not isinstance(found.get(key), str):
            raise UsageError(f"{where}: the record has no text `{key}`")
    source = found.get("source", {})
    if not isinstance(source, dict):
        raise UsageError(f"{where}: `source` is not an object")
    image = found.get("image", "")
    if not isinstance(image, str):
        raise UsageError(f"{where}: `image` is not a text")
    environment, task, instruction, code = (found[key] for key in KEYS)
    return Record(environment, task, instruction, code, source, image)
