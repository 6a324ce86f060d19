"""Hashed words and character n-grams: an embedder that needs nothing but NumPy and knows no synonyms."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.protocols import Problem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Lexical:
    """Signed feature hashing of words and of character n-grams within words."""

    dimensions: int = 512
    ngram: int = 3

    def __post_init__(self) -> None:
        if self.dimensions < 1 or self.ngram < 1:
            raise ValueError("dimensions and ngram have to be at least 1")

    def problems(self) -> list[Problem]:
        return []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            for feature in self._features(text):
                digest = int.from_bytes(hashlib.blake2b(feature.encode(), digest_size=8).digest(), "little")
                vectors[row, (digest >> 1) % self.dimensions] += 1.0 if digest & 1 else -1.0
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        np.divide(vectors, norms, out=vectors, where=norms > 0)
        return vectors

    def _features(self, text: str) -> list[str]:
        features = []
        for word in re.findall(r"\w+", text.lower()):
            padded = f"<{word}>"
            features.append(padded)
            features += [padded[i : i + self.ngram] for i in range(len(padded) - self.ngram + 1)]
        return features
