"""How a query finds records: by tag, else by likeness of text. The order is fixed: of equal scores the
smaller id comes first, and what has no score is not given.

The public code looks for the stored tag that is most like the query among tags to which it has just added the
query itself, so that only equal ones are ever found (`exact`); what was meant is `fuzzy`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from methods.record_memory.records import Record, normalise_tag
from methods.record_memory.rules import MemoryRules

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from harness.embedding import Embedder

_DECIMALS = 6
"""Of a score: embedders round differently in batches, which is not to change an order."""


@dataclass(frozen=True)
class Hit:
    record: Record
    score: float
    """Cosine of the query with the tag or the text; 1 for an equal tag."""


@dataclass(frozen=True)
class Found:
    """The answer to one query."""

    term: str
    """As it was asked."""
    how: Literal["tag", "similar tag", "text", "nothing"]
    """`nothing`: there was nothing to search, or nothing to search for."""
    tag: str = ""
    """The tag that it was found by."""
    hits: tuple[Hit, ...] = ()


class Vectors:
    """Embeddings of texts, each asked for once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._rows: dict[str, NDArray[np.float32]] = {}

    def rows(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(N, D) float32 for N > 0 texts. Raises `ProviderError`."""
        import numpy as np

        missing = [text for text in dict.fromkeys(texts) if text not in self._rows]
        if missing:
            self._rows.update(zip(missing, self._embedder.embed(missing), strict=True))
        return np.stack([self._rows[text] for text in texts])


def find(term: str, records: Sequence[Record], rules: MemoryRules, vectors: Vectors) -> Found:
    """All records with the query's tag by id, else the nearest by text. `records` are in the order of their
    ids. Raises `ProviderError`."""
    tag = normalise_tag(term)
    if not tag or not records:
        return Found(term, "nothing")
    tagged = _carrying(tag, records)
    if tagged:
        return Found(term, "tag", tag, tuple(Hit(record, 1.0) for record in tagged))
    if rules.tags == "fuzzy":
        stored = list(dict.fromkeys(tag for record in records for tag in record.tags))
        nearest = _ranked(_words(tag), [_words(known) for known in stored], vectors)[:1]
        for index, score in nearest:
            if score >= rules.threshold:
                hits = tuple(Hit(record, score) for record in _carrying(stored[index], records))
                return Found(term, "similar tag", stored[index], hits)
    ranked = _ranked(term.strip(), [record.text for record in records], vectors)[: rules.top]
    return Found(term, "text", hits=tuple(Hit(records[index], score) for index, score in ranked))


def _carrying(tag: str, records: Sequence[Record]) -> list[Record]:
    return [record for record in records if tag in record.tags]


def _words(tag: str) -> str:
    """Embedders know words, not identifiers."""
    return tag.replace("_", " ")


def _ranked(asked: str, texts: Sequence[str], vectors: Vectors) -> list[tuple[int, float]]:
    """Index and cosine of each text that has one, best first."""
    import numpy as np

    if not texts:
        return []
    rows = vectors.rows([asked, *texts])
    scores = np.round((rows[1:] @ rows[0]).astype(np.float64), _DECIMALS)
    return [(int(i), float(scores[i])) for i in np.argsort(-scores, kind="stable") if np.isfinite(scores[i])]
