"""Frames and names the objects in a picture, from what the camera sees of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.protocols import Mark

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.protocols import Image

_FEWEST = 6
"""Fewer pixels than this are not an object that is seen."""
_COLOURS = ((230, 60, 50), (40, 120, 230), (30, 160, 70), (200, 120, 0), (150, 60, 200), (0, 150, 160))


def marks(geoms: NDArray[np.int32], parts: Mapping[str, Collection[int]]) -> tuple[Mark, ...]:
    """The boxes of the objects in a segmentation (H, W) of geom ids; `parts` are the geoms of each."""
    found = []
    for name, ids in parts.items():
        rows, columns = np.nonzero(np.isin(geoms, list(ids)))
        if len(rows) >= _FEWEST:
            left, top = int(columns.min()), int(rows.min())
            found.append(Mark(name, (left, top, int(columns.max()) + 1, int(rows.max()) + 1)))
    return tuple(found)


def draw(image: Image, found: Collection[Mark]) -> Image:
    """A copy of the picture (H, W, 3) with the frames and names in it."""
    from PIL import Image as Pillow
    from PIL import ImageDraw

    picture = Pillow.fromarray(image)
    pen: Any = ImageDraw.Draw(picture)
    for index, mark in enumerate(found):
        colour = _COLOURS[index % len(_COLOURS)]
        left, top, right, bottom = mark.box
        pen.rectangle((left - 1, top - 1, right, bottom), outline=colour)
        across = min(max(left, 0), max(0, picture.width - 6 * len(mark.name)))
        pen.text((across, top - 12 if top >= 12 else bottom), mark.name, fill=colour)
    return np.asarray(picture, dtype=np.uint8)
