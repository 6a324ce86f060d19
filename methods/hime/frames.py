"""Frames: what the cameras saw at a control step, in one picture, and which of many are shown to whom."""

from __future__ import annotations

import io
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from methods.record_memory import Picture

if TYPE_CHECKING:
    from harness.protocols import Image, View

_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Frame:
    step: int
    """Control step at which it was taken."""
    picture: Picture


class Film(Sequence[Frame]):
    """Frames of an episode that lie elsewhere than in memory."""

    @abstractmethod
    def append(self, frame: Frame) -> None: ...


def frame(step: int, views: Mapping[str, View], annotated: bool = True) -> Frame:
    """The views side by side, the first one left, which is the wrist camera's in the paper. Smaller ones are
    scaled to the height of the highest. With `annotated`, what each camera sees is beside it in words, in
    pixels of that camera: without, a model has to look."""
    png = side_by_side([view.image for view in views.values()])
    return Frame(step, Picture(png, annotation(views) if annotated else ""))


def annotation(views: Mapping[str, View]) -> str:
    """A line for each camera that names what it sees: `wrist: mug 10 20 30 40; bowl 5 5 9 9`, boxes as left, top, right,
    bottom in pixels."""
    lines = []
    for camera, view in views.items():
        if view.named:
            marks = [f"{mark.name} {' '.join(map(str, mark.box))}" for mark in view.marks]
            lines.append(f"{camera}: {'; '.join(marks) or 'nothing'}")
    return "\n".join(lines)


def side_by_side(images: Sequence[Image]) -> bytes:
    """PNG of RGB pictures (H, W, 3) uint8 from left to right."""
    import numpy as np
    from PIL import Image as Pictures

    height = max(image.shape[0] for image in images)
    scaled = []
    for image in images:
        picture = Pictures.fromarray(image)
        if picture.height != height:
            size = (max(1, round(picture.width * height / picture.height)), height)
            picture = picture.resize(size, Pictures.Resampling.BILINEAR)
        scaled.append(np.asarray(picture))
    buffer = io.BytesIO()
    Pictures.fromarray(np.concatenate(scaled, axis=1)).save(buffer, format="PNG")
    return buffer.getvalue()


def recent(frames: Sequence[_Item], count: int) -> tuple[_Item, ...]:
    """The last `count`, or as many as there are."""
    return tuple(frames[-count:]) if count else ()


def uniform(frames: Sequence[_Item], count: int) -> tuple[_Item, ...]:
    """`count` frames spread over all of them, the first and the last always among them (the last alone for
    1)."""
    if count < 2 or len(frames) <= count:
        return recent(frames, count)
    return tuple(frames[index * (len(frames) - 1) // (count - 1)] for index in range(count))
