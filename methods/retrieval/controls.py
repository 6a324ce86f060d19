"""Rankings that look at no instruction: what similarity is to be compared with."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from methods.code_memory import Record
from methods.retrieval.hits import Allowed, Hit, first

if TYPE_CHECKING:
    from harness.protocols import Image


@dataclass(frozen=True)
class RandomRank:
    """Any order, drawn for each episode."""

    drop_duplicates: bool = True

    def rank(
        self,
        instruction: str,
        records: Sequence[Record],
        allowed: Allowed,
        count: int,
        seed: int,
        image: Image | None = None,
    ) -> list[Hit]:
        order = list(range(len(records)))
        random.Random(seed).shuffle(order)
        return first((Hit(records[i], 0.0) for i in order), allowed, count, self.drop_duplicates)


@dataclass(frozen=True)
class FixedExample:
    """The order of the memory whatever is asked, beginning with the record at `index` (after HELPER's ablation
    of its retrieval)."""

    index: int = 0

    def rank(
        self,
        instruction: str,
        records: Sequence[Record],
        allowed: Allowed,
        count: int,
        seed: int,
        image: Image | None = None,
    ) -> list[Hit]:
        start = self.index % len(records) if records else 0
        order = [*range(start, len(records)), *range(start)]
        return first((Hit(records[i], 0.0) for i in order), allowed, count, drop_duplicates=True)
