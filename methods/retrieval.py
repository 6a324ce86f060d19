"""In which order records of the code memory are tried for an instruction. Each retriever is a config of
`conf/retriever/` or of a control method."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from harness.embedding import Embedder
from methods.code_memory import Record
from methods.code_memory.records import normalised


@dataclass(frozen=True)
class Hit:
    record: Record
    score: float


class Retriever(Protocol):
    def rank(self, instruction: str, records: Sequence[Record], seed: int) -> list[Hit]:
        """All records, best first; of equal ones the earlier first. `seed` is for what draws."""
        ...


@dataclass(frozen=True)
class Cosine:
    """The cosine of the embeddings of two instructions (MTP paper, equation 6)."""

    embedder: Embedder
    drop_duplicates: bool = True
    """Of records with the same program only the first is kept, so that rank 1 differs from rank 0; false is the
    paper's plain ranking."""

    def rank(self, instruction: str, records: Sequence[Record], seed: int) -> list[Hit]:
        if not records:
            return []
        import numpy as np

        asked = self.embedder.embed([instruction])[0]
        scores = np.nan_to_num(
            self.embedder.embed([record.instruction for record in records]) @ asked, nan=-2.0
        )
        order = np.argsort(-scores, kind="stable")
        hits = [Hit(records[i], float(scores[i])) for i in order]
        return distinct(hits) if self.drop_duplicates else hits


@dataclass(frozen=True)
class RandomRank:
    """Control: any order, drawn for the episode."""

    drop_duplicates: bool = True

    def rank(self, instruction: str, records: Sequence[Record], seed: int) -> list[Hit]:
        hits = [Hit(record, 0.0) for record in records]
        if self.drop_duplicates:
            hits = distinct(hits)
        random.Random(seed).shuffle(hits)
        return hits


@dataclass(frozen=True)
class FixedExample:
    """Control: the same order whatever is asked, beginning with the record at `index`."""

    index: int = 0

    def rank(self, instruction: str, records: Sequence[Record], seed: int) -> list[Hit]:
        hits = distinct([Hit(record, 0.0) for record in records])
        if not hits:
            return []
        start = self.index % len(hits)
        return hits[start:] + hits[:start]


def distinct(hits: Sequence[Hit]) -> list[Hit]:
    """Without those whose program stands further ahead already."""
    kept: dict[str, Hit] = {}
    for hit in hits:
        kept.setdefault(normalised(hit.record.code), hit)
    return list(kept.values())
