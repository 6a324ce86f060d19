"""What an embedder is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from harness.protocols import Problem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """The dataclass behind `conf/embedder/*.yaml`."""

    def problems(self) -> list[Problem]: ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(N, D) float32, rows of unit length; an empty text is a row of zeros. Raises `ProviderError`."""
        ...
