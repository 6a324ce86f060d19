"""Frames and names the objects in a picture, from what the camera sees of them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.protocols import Mark

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.protocols import Image

_FEWEST = 6
"""Fewer pixels than this are not an object that is seen."""
_EDGE = 4
"""Pixels around a label."""
_COLOURS = ((230, 60, 50), (40, 120, 230), (30, 160, 70), (200, 120, 0), (150, 60, 200), (0, 150, 160))


def marks(geoms: NDArray[np.int32], parts: Mapping[str, Collection[int]]) -> tuple[Mark, ...]:
    """The boxes of the objects in a segmentation (H, W) of geom ids, -1 for none; `parts` are the geoms of each."""
    height, width = geoms.shape
    shown = geoms + 1
    kinds = int(shown.max()) + 1
    down, across = np.arange(height)[:, None] * kinds, np.arange(width) * kinds
    by_row = np.bincount((shown + down).ravel(), minlength=height * kinds).reshape(height, kinds)
    by_column = np.bincount((shown + across).ravel(), minlength=width * kinds).reshape(width, kinds)
    found = []
    for name, ids in parts.items():
        mine = [geom + 1 for geom in ids if geom + 1 < kinds]
        in_row = by_row[:, mine].sum(axis=1)
        if in_row.sum() >= _FEWEST:
            rows, columns = np.flatnonzero(in_row), np.flatnonzero(by_column[:, mine].any(axis=1))
            found.append(Mark(name, (int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1)))
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
        above = top - 12 if top >= 12 else bottom
        picture.paste(colour, (across - _EDGE, above - _EDGE), _label(mark.name))
    return np.asarray(picture, dtype=np.uint8)


@lru_cache(maxsize=256)
def _label(text: str) -> Any:
    """How much of each pixel the letters cover, with an edge into which some of them reach. Kept, since a robot sees the
    same few names all the time."""
    from PIL import Image as Pillow
    from PIL import ImageDraw

    pen: Any = ImageDraw.Draw(Pillow.new("L", (1, 1)))
    _, _, width, height = pen.textbbox((0, 0), text)
    label = Pillow.new("L", (math.ceil(width) + 2 * _EDGE, math.ceil(height) + 2 * _EDGE))
    ImageDraw.Draw(label).text((_EDGE, _EDGE), text, fill=255)
    return label
