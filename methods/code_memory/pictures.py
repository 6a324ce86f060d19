"""The picture of a record: what a camera saw at the start, small enough to stand in a line of text."""

from __future__ import annotations

import base64
import binascii
import io
from typing import TYPE_CHECKING

from harness.failures import UsageError

if TYPE_CHECKING:
    from harness.protocols import Image

SIDE = 64
COLOURS = 128


def encode(image: Image) -> str:
    """A square picture of `SIDE` pixels a side and at most `COLOURS` colours, as PNG in base64."""
    from PIL import Image as Pictures

    small = Pictures.fromarray(image).resize((SIDE, SIDE), Pictures.Resampling.BOX)
    buffer = io.BytesIO()
    small.quantize(COLOURS, dither=Pictures.Dither.NONE).save(buffer, format="PNG", optimize=True)
    return base64.b64encode(buffer.getvalue()).decode("ascii")


def decode(text: str) -> Image:
    """(H, W, 3) uint8. Raises `UsageError` for what is no picture."""
    import numpy as np
    from PIL import Image as Pictures

    try:
        # A damaged PNG raises OSError or SyntaxError.
        found = Pictures.open(io.BytesIO(base64.b64decode(text, validate=True)), formats=("PNG",))
        return np.asarray(found.convert("RGB"), dtype=np.uint8)
    except (binascii.Error, OSError, SyntaxError, ValueError) as error:
        raise UsageError(f"`image` is no PNG in base64: {error}") from None


def reduced(image: Image) -> Image:
    """A picture as a record would hold it, so that two are compared after the same losses."""
    return decode(encode(image))
