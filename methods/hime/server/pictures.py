"""What a client sends as pictures and as words about them, checked and made into the pictures of frames."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

from harness.protocols import Mark, View
from methods.hime.frames import frame
from methods.hime.server.shapes import Annotation, Refused
from methods.record_memory import Picture

if TYPE_CHECKING:
    from harness.protocols import Image

LARGEST = 16 << 20
"""Bytes of a picture's file."""
PIXELS = 9_000_000
"""Of a picture; 4096 x 2160 are fewer."""
MOST = 64
"""Moments in a step."""
LONGEST_WORDS = 100_000
"""Characters of an annotation."""


@dataclass(frozen=True)
class Sent:
    """A picture as it came: its content, and what to call it in messages."""

    name: str
    content: bytes


def moments(
    cameras: Sequence[str],
    waist: Sequence[Sent],
    main: Sequence[Sent],
    annotations: Sequence[str],
) -> list[Picture]:
    """A picture of both cameras for each pair. `cameras` are the names of the wrist's camera and the main one. Raises
    `Refused`."""
    if len(waist) != len(main):
        raise Refused(
            422,
            f"waist_image came {len(waist)} times and image {len(main)} times: each moment has one of both.",
        )
    if len(main) > MOST:
        raise Refused(413, f"{len(main)} moments came; a step takes {MOST} at most.")
    if annotations and len(annotations) != len(main):
        raise Refused(
            422,
            f"annotation came {len(annotations)} times for {len(main)} moments: send one for each, or none.",
        )
    marks = [annotated(text, cameras, index) for index, text in enumerate(annotations)]
    found = []
    for index, pair in enumerate(zip(waist, main, strict=True)):
        images = [picture(sent) for sent in pair]
        _check_pair(images, index)
        seen = marks[index] if marks else dict.fromkeys(cameras, ())
        views = {
            camera: View(image, seen[camera], 1.0) for camera, image in zip(cameras, images, strict=True)
        }
        for camera, view in views.items():
            _check_marks(view, f"annotation {index + 1}, {camera}")
        found.append(frame(0, views, annotated=bool(marks)).picture)
    return found


def picture(sent: Sent) -> Image:
    """RGB (H, W, 3) uint8 of a PNG or JPEG. Raises `Refused`."""
    import numpy as np
    from PIL import Image as Pictures
    from PIL import UnidentifiedImageError

    if not sent.content:
        raise Refused(422, f"{sent.name} is empty.")
    if len(sent.content) > LARGEST:
        raise Refused(413, f"{sent.name} has {len(sent.content)} bytes; a picture has {LARGEST} at most.")
    try:
        opened = Pictures.open(io.BytesIO(sent.content), formats=("PNG", "JPEG"))
        if opened.width * opened.height > PIXELS:
            raise Refused(
                413,
                f"{sent.name} is {opened.width} x {opened.height}; a picture has {PIXELS} pixels at most.",
            )
        if opened.mode.startswith(("I", "F")):
            raise Refused(
                415, f"{sent.name} has the mode {opened.mode}: send 8 bits a channel, such as an RGB picture."
            )
        return np.asarray(opened.convert("RGB"))
    except UnidentifiedImageError:
        raise Refused(415, f"{sent.name} is neither a PNG nor a JPEG.") from None
    except Pictures.DecompressionBombError as error:
        raise Refused(413, f"{sent.name} is too large: {error}") from None
    except (OSError, SyntaxError, ValueError) as error:
        raise Refused(422, f"{sent.name} cannot be decoded: {error}.") from None


def annotated(text: str, cameras: Sequence[str], index: int) -> dict[str, tuple[Mark, ...]]:
    """What each camera sees, by its name. Raises `Refused`."""
    where = f"annotation {index + 1}"
    if len(text) > LONGEST_WORDS:
        raise Refused(413, f"{where} has {len(text)} characters; it has {LONGEST_WORDS} at most.")
    try:
        said = Annotation.model_validate_json(text).root
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise Refused(422, f"{where}{', ' if place else ''}{place}: {first['msg']}.") from None
    if set(said) != set(cameras):
        raise Refused(
            422,
            f"{where} names the cameras {', '.join(said) or 'none'}; it has to name {', '.join(cameras)}.",
        )
    return {camera: tuple(Mark(mark.name, mark.box) for mark in said[camera]) for camera in cameras}


def _check_marks(view: View, where: str) -> None:
    height, width = view.image.shape[:2]
    for mark in view.marks:
        if mark.box[2] > width or mark.box[3] > height:
            raise Refused(
                422, f"{where}: the box of {mark.name}, {mark.box}, leaves the picture, {width} x {height}."
            )


def _check_pair(images: Sequence[Image], index: int) -> None:
    """Pictures are brought to one height; where they differ much, a thin one would become very wide."""
    height = max(image.shape[0] for image in images)
    width = sum(round(image.shape[1] * height / image.shape[0]) for image in images)
    if width * height > 2 * PIXELS:
        sizes = " and ".join(f"{image.shape[1]} x {image.shape[0]}" for image in images)
        raise Refused(
            422,
            f"The pictures of moment {index + 1} are {sizes}: side by side at one height they are too large.",
        )
