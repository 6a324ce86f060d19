"""Rows as every embedder gives them: of unit length, zeros for an empty text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def unit_rows(
    texts: Sequence[str], dimensions: int, embed: Callable[[list[str]], NDArray[np.float32]]
) -> NDArray[np.float32]:
    """(N, D) float32; `embed` gives one row for each text that has words in it."""
    import numpy as np

    rows = np.zeros((len(texts), dimensions), dtype=np.float32)
    filled = [i for i, text in enumerate(texts) if text.strip()]
    if filled:
        rows[filled] = unit_length(embed([texts[i] for i in filled]))
    return rows


def unit_length(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each row of (N, D) divided by its length; zeros stay zeros."""
    import numpy as np

    found = np.asarray(vectors, dtype=np.float32)
    norms = np.linalg.norm(found, axis=1, keepdims=True)
    rows: NDArray[np.float32] = np.divide(found, norms, out=np.zeros_like(found), where=norms > 0)
    return rows
