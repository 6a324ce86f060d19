"""Rankings by what instructions say: the paper's cosine, and one that weighs the action apart."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.embedding import Embedder
from methods.code_memory import Record
from methods.retrieval.hits import Allowed, Hit, first

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from methods.retrieval.index import Index

_LEAD = frozenset(
    (
        "please",
        "now",
        "then",
        "first",
        "just",
        "kindly",
        "robot",
        "you",
        "can",
        "could",
        "would",
        "should",
        "to",
        "the",
        "a",
        "an",
        "and",
    )
)
_PARTICLES = frozenset(
    (
        "on",
        "off",
        "up",
        "down",
        "out",
        "in",
        "into",
        "onto",
        "open",
        "closed",
        "shut",
        "away",
        "from",
        "under",
        "left",
        "right",
        "over",
        "back",
        "top",
    )
)


@dataclass(frozen=True)
class Cosine:
    """The cosine of the embeddings of two instructions (MTP paper, equation 6)."""

    embedder: Embedder
    drop_duplicates: bool = True
    """A program comes once, so that rank 1 differs from rank 0; false is the paper's plain ranking."""

    def rank(
        self, instruction: str, records: Sequence[Record], allowed: Allowed, count: int, seed: int
    ) -> list[Hit]:
        hits = _ranking(self, records, instruction, self.embedder.embed)
        return first(hits, allowed, count, self.drop_duplicates)


@dataclass(frozen=True)
class Hybrid:
    """The cosine of the actions and that of the rest, weighed: "open the drawer" is then nearer to "open the
    cupboard" than to "close the drawer"."""

    embedder: Embedder
    action_weight: float = 0.5
    drop_duplicates: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.action_weight <= 1:
            raise ValueError(f"action_weight is {self.action_weight}; it is a share from 0 to 1")

    def rank(
        self, instruction: str, records: Sequence[Record], allowed: Allowed, count: int, seed: int
    ) -> list[Hit]:
        hits = _ranking(self, records, instruction, self._embed)
        return first(hits, allowed, count, self.drop_duplicates)

    def _embed(self, texts: Sequence[str]) -> Any:
        """(N, 2 D): the weighed halves side by side, so that a dot product is the weighed sum of cosines."""
        import numpy as np

        halves = [split_action(text) for text in texts]
        actions = self.embedder.embed([action for action, _ in halves])
        rest = self.embedder.embed([rest for _, rest in halves])
        weight = self.action_weight
        return np.hstack([np.sqrt(weight) * actions, np.sqrt(1 - weight) * rest]).astype(np.float32)


def split_action(instruction: str) -> tuple[str, str]:
    """The action of an instruction, its first content word and all particles, and the other words."""
    words = re.findall(r"\w+", instruction.lower())
    verb = next((i for i, word in enumerate(words) if word not in _LEAD), None)
    action = [word for i, word in enumerate(words) if i == verb or word in _PARTICLES]
    rest = [
        word for i, word in enumerate(words) if i != verb and word not in _PARTICLES and word not in _LEAD
    ]
    return " ".join(action), " ".join(rest)


_indices: dict[tuple[int, str], tuple[Sequence[Record], Index]] = {}
_KEPT = 4
"""How many memories are kept ready in a process."""


def _ranking(
    retriever: Any,
    records: Sequence[Record],
    instruction: str,
    embed: Callable[[Sequence[str]], NDArray[np.float32]],
) -> Any:
    """All records, best first. What is worked out for a memory is kept for the next question."""
    if not records:
        return
    from methods.retrieval.index import Index

    key = (id(records), repr(retriever))
    if key not in _indices:
        while len(_indices) >= _KEPT:
            del _indices[next(iter(_indices))]
        _indices[key] = records, Index(embed([record.instruction for record in records]))
    for row, score in _indices[key][1].ranking(embed([instruction])[0]):
        yield Hit(records[row], score)
