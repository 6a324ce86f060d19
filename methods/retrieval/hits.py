"""What a retriever gives, and how a ranking is walked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from methods.code_memory import Record
from methods.code_memory.records import normalised

if TYPE_CHECKING:
    from harness.protocols import Image

Allowed = Callable[[Record], bool]


@dataclass(frozen=True)
class Hit:
    """`score` orders; with pictures it comes from the two others, `image` being None for a record without one."""

    record: Record
    score: float
    text: float | None = None
    image: float | None = None


class Retriever(Protocol):
    def rank(
        self,
        instruction: str,
        records: Sequence[Record],
        allowed: Allowed,
        count: int,
        seed: int,
        image: Image | None = None,
    ) -> list[Hit]:
        """The best `count` of the allowed records, or as many as there are; of equal ones the earlier first.
        `records` is the same object for the same memory, so that what is worked out for it can be kept;
        `seed` is for what draws; `image` is the scene's picture for a memory of text and images."""
        ...


def first(ranking: Iterable[Hit], allowed: Allowed, count: int, drop_duplicates: bool) -> list[Hit]:
    """The first `count` hits that are allowed; with `drop_duplicates` a program comes once."""
    kept: list[Hit] = []
    programs: set[str] = set()
    for hit in ranking:
        if len(kept) == count:
            break
        if not allowed(hit.record):
            continue
        if drop_duplicates:
            program = normalised(hit.record.code)
            if program in programs:
                continue
            programs.add(program)
        kept.append(hit)
    return kept
