"""What embedders are: of texts, and of pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from harness.protocols import Problem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from harness.protocols import Image


class Embedder(Protocol):
    """The dataclass behind `conf/embedder/*.yaml`."""

    # One that is paid for keeps what it has asked and has `usage()`, what the process has spent on it: not an
    # episode, for which text is asked first hangs on who was faster.

    def problems(self) -> list[Problem]: ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(N, D) float32, rows of unit length; an empty text is a row of zeros. Raises `ProviderError`."""
        ...


class ImageEmbedder(Protocol):
    """The dataclass behind `conf/image_embedder/*.yaml`."""

    def problems(self) -> list[Problem]: ...

    def embed_images(self, images: Sequence[Image]) -> NDArray[np.float32]:
        """(N, D) float32, rows of unit length, for RGB pictures (H, W, 3) uint8 of any size; a picture in which
        there is nothing to embed is a row of zeros. Raises `ProviderError`."""
        ...
