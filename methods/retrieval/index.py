"""The exact order of many unit vectors by their cosine with a query, without looking at all of every vector.

Vectors are turned so that most of what tells them apart stands in their first components (the principal axes of
a sample). The rest of a vector adds at most the product of two lengths (Cauchy and Schwarz), so that nearly all
vectors are out after the first components, and only the others are compared in full."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

HEAD = 64
"""Components that are compared for every vector."""
SMALL = 20_000
"""Up to so many vectors are compared in full."""
_SAMPLE = 20_000
_LAST = np.float32(-2)
"""Cosine of what has none."""
_FIRST = 64
"""Ranks that are worked out first; each further request works out eight times as many."""


class Index:
    """Ranks the rows of `vectors`, (N, D) float32; a row that is not finite comes last."""

    def __init__(self, vectors: Vectors) -> None:
        broken = np.logical_not(np.isfinite(vectors).all(axis=1))
        self._broken = np.flatnonzero(broken)
        if len(self._broken):
            vectors = vectors.copy()
            vectors[broken] = 0
        self._turn = _axes(vectors) if len(vectors) > SMALL else None
        turned = vectors if self._turn is None else vectors @ self._turn
        self._head = np.ascontiguousarray(turned[:, :HEAD])
        self._tail = np.ascontiguousarray(turned[:, HEAD:])
        self._tail_length = np.linalg.norm(self._tail, axis=1)

    def ranking(self, query: Vectors) -> Iterator[tuple[int, float]]:
        """Row and cosine, best first, of equal ones the first row first."""
        if not np.isfinite(query).all():
            query = np.zeros_like(query)
        asked = query if self._turn is None else query @ self._turn
        # Rounding differs with how many rows are multiplied at once: what was given is not given again.
        given: set[int] = set()
        count = len(self._head) if self._turn is None else min(_FIRST, len(self._head))
        while len(given) < len(self._head):
            for row, score in zip(*map(np.ndarray.tolist, self._best(asked, count)), strict=True):
                if row not in given:
                    given.add(row)
                    yield row, score
            count = min(8 * count, len(self._head))

    def _best(self, asked: Vectors, count: int) -> tuple[NDArray[Any], Vectors]:
        """The best `count` rows, exactly, and their cosines."""
        near = self._head @ asked[:HEAD]
        near[self._broken] = _LAST
        if count == len(near):
            rows = np.arange(len(near))
        else:
            limit = near + self._tail_length * np.linalg.norm(asked[HEAD:])
            # The cosines of the most promising rows bound what the others have to reach.
            promising = np.argpartition(limit, -count)[-count:]
            reached = float(self._full(near, promising, asked).min())
            rows = np.flatnonzero(limit >= reached - 1e-5)
        scores = self._full(near, rows, asked)
        order = np.argsort(-scores, kind="stable")[:count]
        return rows[order], scores[order]

    def _full(self, near: Vectors, rows: NDArray[np.intp], asked: Vectors) -> Vectors:
        tails = self._tail if len(rows) == len(self._tail) else self._tail[rows]
        return np.asarray(near[rows] + tails @ asked[HEAD:], dtype=np.float32)


def _axes(vectors: Vectors) -> Vectors:
    """(D, D), the principal axes of a sample as columns, those with most spread first."""
    sample = vectors[:: max(1, len(vectors) // _SAMPLE)]
    products = np.asarray(sample.T @ sample, dtype=np.float64)
    axes = np.linalg.eigh(products)[1]
    return np.ascontiguousarray(axes[:, ::-1], dtype=np.float32)
