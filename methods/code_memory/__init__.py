"""MTP's store: programs that worked, each with the environment, task and instruction it worked for and where it
came from. It ranks nothing (`methods.retrieval`) and rewrites nothing (`methods.replan.transfer`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

from harness.components import suggest
from harness.failures import UsageError
from harness.protocols import Problem
from methods.code_memory.pictures import decode
from methods.code_memory.records import Record, digest, load

__all__ = ["CodeMemory", "Record"]

SHIPPED = Path(__file__).parent / "shipped"
"""Memories that ship with the project, NAME.jsonl each; `python -m methods.code_memory build` made them."""


@dataclass(frozen=True)
class CodeMemory:
    """The config behind `conf/memory/*.yaml`."""

    sources: list[str] = field(default_factory=list)
    """Names of shipped memories, or paths of JSONL files."""
    allow_same_task: bool = False
    """Whether records of the same environment and task may be retrieved. Rows say so."""
    modality: Literal["text", "text_image"] = "text"
    """What retrieval compares: instructions, or instructions and the pictures of the scenes. Rows say which."""

    @property
    def with_images(self) -> bool:
        return self.modality == "text_image"

    def problems(self) -> list[Problem]:
        build = "python -m methods.code_memory build --from outputs/NAME --out FILE"
        try:
            records = self.records()
        except UsageError as error:
            return [Problem(str(error).rstrip("."), build)]
        if not self.with_images:
            return []
        if not any(record.image for record in records):
            what = (
                f"memory.modality=text_image, but none of the memory's {len(records)} records has a picture"
            )
            return [Problem(what, f"Play with record=images, then {build}; or memory.modality=text")]
        return _unreadable(records)

    def fingerprint(self) -> str:
        """Hash of what is used of the records; empty for none, and for sources that cannot be read, which
        `problems` names."""
        try:
            return digest(self.records(), self.with_images)
        except UsageError:
            return ""

    def records(self) -> tuple[Record, ...]:
        """All records in the order of the sources. Raises `UsageError` for a source that is not there or
        cannot be read."""
        return _read_all(tuple(self.sources))

    def allowed(self, record: Record, environment: str, task: str) -> bool:
        """Whether a record may be retrieved for a task."""
        return self.allow_same_task or (record.environment, record.task) != (environment, task)


def _unreadable(records: Sequence[Record]) -> list[Problem]:
    for number, record in enumerate(records, start=1):
        try:
            if record.image:
                decode(record.image)
        except UsageError as error:
            return [Problem(f"Record {number} ({record.instruction}): {error}", "Build the memory again")]
    return []


@cache
def _read_all(sources: tuple[str, ...]) -> tuple[Record, ...]:
    return tuple(record for source in sources for record in _read(source))


def _read(source: str) -> Sequence[Record]:
    path = SHIPPED / f"{source}.jsonl"
    if path.is_file():
        return load(path)
    if Path(source).is_file():
        return load(Path(source))
    shipped = sorted(path.stem for path in SHIPPED.glob("*.jsonl"))
    raise UsageError(
        f"There is no memory `{source}`: no file of that path, and no memory that ships. {suggest(source, shipped)}"
    )
