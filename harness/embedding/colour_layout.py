"""Where which colours and edges lie in a picture: an image embedder that needs nothing but NumPy. It tells scenes of
one camera apart; it knows no objects, and a thing seen elsewhere in the picture is another thing to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.protocols import Problem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from harness.protocols import Image


@dataclass(frozen=True)
class ColourLayout:
    """The config behind `conf/image_embedder/colour_layout.yaml`. Two halves of equal weight: the mean colours of a
    coarse grid's cells, and how strong the edges of each direction are in each cell."""

    grid: int = 8
    """Cells a side."""
    directions: int = 4
    """Directions of edges that are told apart, over half a turn."""

    def __post_init__(self) -> None:
        if self.grid < 1 or self.directions < 1:
            raise ValueError("grid and directions have to be at least 1")

    def problems(self) -> list[Problem]:
        return []

    def embed_images(self, images: Sequence[Image]) -> NDArray[np.float32]:
        """See `ImageEmbedder`; D is grid * grid * (3 + directions)."""
        import numpy as np

        rows = np.zeros((len(images), self.grid**2 * (3 + self.directions)), dtype=np.float32)
        for row, image in zip(rows, images, strict=True):
            pixels = np.asarray(image, dtype=np.float64) / 255
            halves = [_unit(self._colours(pixels)), _unit(self._edges(pixels.mean(axis=2)))]
            row[:] = _unit(np.concatenate(halves))
        return rows

    def _colours(self, pixels: Any) -> Any:
        """(grid * grid * 3,): mean colours, as distances from a middle grey: as they are, all would be alike."""
        return self._cells(pixels - 0.5).ravel()

    def _edges(self, grey: Any) -> Any:
        """(grid * grid * directions,): the mean slope of brightness in each cell, by direction."""
        import numpy as np

        if min(grey.shape) < 2:
            return np.zeros(self.grid**2 * self.directions)
        down, right = np.gradient(grey)
        turn = np.arctan2(down, right) / np.pi * self.directions
        direction = np.round(turn).astype(int) % self.directions
        strength = np.hypot(down, right)
        return self._cells(strength[..., None] * (direction[..., None] == np.arange(self.directions))).ravel()

    def _cells(self, values: Any) -> Any:
        """(grid, grid, C): means over the cells of (H, W, C), whatever H and W are."""
        import numpy as np

        down, across = (_shares(size, self.grid) for size in values.shape[:2])
        return np.einsum("gh,hwc,kw->gkc", down, values, across, optimize=True)


def _shares(size: int, cells: int) -> Any:
    """(cells, size): how much of each cell a pixel covers."""
    import numpy as np

    edges, pixels = np.arange(cells + 1) / cells, np.arange(size + 1) / size
    overlap = np.minimum(edges[1:, None], pixels[1:]) - np.maximum(edges[:-1, None], pixels[:-1])
    return np.clip(overlap, 0, None) * cells


def _unit(vector: Any) -> Any:
    import numpy as np

    length = np.linalg.norm(vector)
    return vector / length if length > 0 else vector
