"""The records and what changes them. Every change says how it went: what is refused, left out or pushed out
is told to whoever asked for it, so that it can be counted and told to the model. Nothing here raises for what
a model wrote."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from methods.record_memory.records import Picture, Record, normalise_tags
from methods.record_memory.retrieval import Found, Vectors, find
from methods.record_memory.rules import MemoryRules

if TYPE_CHECKING:
    from harness.embedding import Embedder

_NO_PICTURES = "pictures are not kept in this memory: it was left out"
_DOUBLE = "the same as an earlier record"


@dataclass(frozen=True)
class Change:
    """How a change went."""

    operation: Literal["create", "update", "delete"]
    id: int | None
    """Of the record that was changed or was to be; None for a Create that was refused."""
    refused: str = ""
    """Why nothing was changed; empty if it was."""
    notes: tuple[str, ...] = ()
    """What was done otherwise than it was asked for."""
    evicted: tuple[Record, ...] = ()
    """What a Create pushed out."""


class RecordMemory:
    """Not for two threads at once."""

    def __init__(self, rules: MemoryRules, embedder: Embedder) -> None:
        """`embedder` is asked at the first query that no tag answers; what was asked once is kept."""
        self.rules = rules
        self._records: dict[int, Record] = {}  # in the order of their ids
        self._next = 1
        self._vectors = Vectors(embedder)

    def __len__(self) -> int:
        return len(self._records)

    @property
    def records(self) -> tuple[Record, ...]:
        """By id."""
        return tuple(self._records.values())

    @property
    def next_id(self) -> int:
        """The id that the next record gets."""
        return self._next

    def tags(self) -> dict[str, int]:
        """How many records carry each tag, in the order in which tags appear."""
        counts: dict[str, int] = {}
        for record in self._records.values():
            for tag in record.tags:
                counts[tag] = counts.get(tag, 0) + 1
        return counts

    def query(self, term: str) -> Found:
        """See `retrieval.find`. Raises `ProviderError`."""
        return find(term, self.records, self.rules, self._vectors)

    def create(self, tags: Sequence[str], text: str, picture: Picture | None, step: int) -> Change:
        """Add a record at a control step. Refused without tags, without text, without a picture where a
        record needs one, and where the memory is full and evicts nothing."""
        tags, text = normalise_tags(tags), text.strip()
        picture, notes = self._allowed(picture)
        refused = ""
        if not tags or not text:
            refused = "a record needs " + " and ".join(
                name for name, given in (("tags", tags), ("text", text)) if not given
            )
        elif not picture and self.rules.modality == "image":
            refused = "a record of this memory needs a picture"
        elif self._is_full() and self.rules.when_full == "refuse":
            refused = f"the memory is full ({len(self)} of {self.rules.cap} records): delete a record first"
        if refused:
            return Change("create", None, refused, notes)
        if any((old.tags, old.text, old.picture) == (tags, text, picture) for old in self._records.values()):
            notes = (*notes, _DOUBLE)
        evicted = []
        while self._is_full():
            evicted.append(self._records.pop(min(self._records)))
        record = Record(self._next, tags, text, picture, step)
        self._records[record.id] = record
        self._next += 1
        return Change("create", record.id, notes=notes, evicted=tuple(evicted))

    def update(
        self,
        id: int,
        step: int,
        *,
        tags: Sequence[str] | None = None,
        text: str | None = None,
        picture: Picture | None = None,
    ) -> Change:
        """Write the given fields of a record anew at a control step; the others stay. A text record that gets
        a picture is an image record."""
        picture, notes = self._allowed(picture)
        new_tags = None if tags is None else normalise_tags(tags)
        new_text = None if text is None else text.strip()
        refused = self._cannot_change(id)
        if not refused and (new_tags == () or new_text == ""):
            refused = f"{'tags' if new_tags == () else 'text'} would be empty"
        elif not refused and new_tags is None and new_text is None and picture is None:
            refused = "it says nothing that is to be changed"
        if refused:
            return Change("update", id, refused, notes)
        old = self._records[id]
        self._records[id] = replace(
            old,
            tags=new_tags or old.tags,
            text=new_text or old.text,
            picture=picture or old.picture,
            updated_at=step,
        )
        return Change("update", id, notes=notes)

    def delete(self, id: int) -> Change:
        refused = self._cannot_change(id)
        if not refused:
            del self._records[id]
        return Change("delete", id, refused)

    def put_back(self, records: Iterable[Record], next_id: int) -> None:
        """Take over the records of a memory that was saved, ids included, in place of all that is here."""
        self._records = {record.id: record for record in sorted(records, key=lambda record: record.id)}
        self._next = next_id

    def _is_full(self) -> bool:
        return self.rules.cap is not None and len(self._records) >= self.rules.cap

    def _cannot_change(self, id: int) -> str:
        if self.rules.manage == "append":
            return "records of this memory cannot be changed or deleted"
        return "" if id in self._records else f"there is no record {id}"

    def _allowed(self, picture: Picture | None) -> tuple[Picture | None, tuple[str, ...]]:
        if picture and self.rules.modality == "text":
            return None, (_NO_PICTURES,)
        return picture, ()
