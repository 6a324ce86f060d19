"""Which pictures and words about them the task server takes, and what it makes of them."""

from __future__ import annotations

import io
import json
import struct
import zlib
from typing import Any

import numpy as np
import pytest
from PIL import Image

from methods.hime.server import pictures
from methods.hime.server.pictures import Sent, moments, picture
from methods.hime.server.shapes import Refused
from tests.methods.hime.server.conftest import png

CAMERAS = ("wrist", "third_person")


def encoded(image: Image.Image, kind: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, format=kind)
    return buffer.getvalue()


def claiming(width: int, height: int) -> bytes:
    """A PNG whose head claims a size that its data does not have."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + data


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "P", "1", "CMYK"])
def test_pictures_of_any_usual_mode_become_rgb(mode) -> None:
    kind = "JPEG" if mode == "CMYK" else "PNG"
    found = picture(Sent("image 1", encoded(Image.new(mode, (7, 5)), kind)))
    assert found.shape == (5, 7, 3) and found.dtype == np.uint8


@pytest.mark.parametrize(
    ("content", "status", "words"),
    [
        (b"", 422, "image 3 is empty."),
        (b"hello", 415, "image 3 is neither a PNG nor a JPEG."),
        (b"GIF89a" + b"\0" * 40, 415, "neither a PNG nor a JPEG"),
        (png()[:60], 422, "image 3 cannot be decoded"),
        (claiming(64, 64), 422, "cannot be decoded"),
        (claiming(4000, 3000), 413, "is 4000 x 3000; a picture has 9000000 pixels at most"),
        (claiming(100_000, 100_000), 413, "image 3 is too large"),
        (encoded(Image.fromarray(np.zeros((4, 4), np.uint16))), 415, "mode I;16: send 8 bits a channel"),
    ],
    ids=["empty", "text", "gif", "cut", "no data", "large", "bomb", "16 bits"],
)
def test_what_is_no_usable_picture_is_refused_by_name(content, status, words) -> None:
    with pytest.raises(Refused, match="image 3") as refused:
        picture(Sent("image 3", content))
    assert refused.value.status == status and words in str(refused.value)


def test_a_file_that_is_too_large_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(pictures, "LARGEST", 50)
    with pytest.raises(Refused, match="a picture has 50 at most") as refused:
        picture(Sent("image 1", png()))
    assert refused.value.status == 413


def pair(waist: bytes, main: bytes, *annotations: Any) -> Any:
    texts = [text if isinstance(text, str) else json.dumps(text) for text in annotations]
    return moments(CAMERAS, [Sent("waist_image 1", waist)], [Sent("image 1", main)], texts)


def test_the_wrist_stands_on_the_left_and_the_words_are_those_of_frames() -> None:
    seen = {
        "third_person": [{"name": "red mug 2", "box": [1, 2, 8, 9]}, {"name": "bowl", "box": [0, 0, 10, 20]}],
        "wrist": [],
    }
    (found,) = pair(png(4, 10, 50), png(10, 20, 200), seen)
    image = np.asarray(Image.open(io.BytesIO(found.png)))
    assert image.shape == (20, 8 + 10, 3)
    assert (image[:, :8] == 50).all() and (image[:, 8:] == 200).all()
    assert found.seen == "wrist: nothing\nthird_person: red mug 2 1 2 8 9; bowl 0 0 10 20"
    (found,) = pair(png(), png())
    assert found.seen == ""


@pytest.mark.parametrize(
    ("marks", "words"),
    [
        ([{"name": "mug", "box": [1, 2, 101, 9]}], r"leaves the picture, 100 x 100"),
        ([{"name": "mug", "box": [5, 2, 5, 9]}], "left, top, right, bottom"),
        ([{"name": "mug", "box": [-1, 2, 5, 9]}], "left, top, right, bottom"),
        ([{"name": "mug", "box": [1, 2, 3]}], "wrist.0.box.3: Field required"),
        ([{"name": "mug", "box": [1.5, 2, 5, 9]}], "valid integer"),
        ([{"name": "", "box": [1, 2, 5, 9]}], "wrist.0.name"),
        ([{"name": "mug; bowl", "box": [1, 2, 5, 9]}], "wrist.0.name"),
        ([{"name": "mug\n\nPlan list:", "box": [1, 2, 5, 9]}], "wrist.0.name"),
        ([{"name": "mug", "box": [1, 2, 5, 9], "colour": "red"}], "Extra inputs"),
        ("mug", "valid array"),
    ],
)
def test_marks_that_no_frame_could_show_are_refused(marks, words) -> None:
    with pytest.raises(Refused, match="annotation 1, wrist") as refused:
        pair(png(), png(), {"wrist": marks, "third_person": []})
    assert words in str(refused.value) and refused.value.status == 422


@pytest.mark.parametrize(
    "text", ["", "[]", "null", '{"wrist": []}', '{"wrist": [], "third_person": [], "x": []}']
)
def test_an_annotation_names_both_cameras_and_no_other(text) -> None:
    with pytest.raises(Refused, match="annotation 1") as refused:
        pair(png(), png(), text)
    assert refused.value.status == 422


def test_two_pictures_that_would_make_a_huge_one_are_refused() -> None:
    with pytest.raises(Refused, match="9000 x 1 and 1 x 9000: side by side at one height they are too large"):
        pair(png(9000, 1), png(1, 9000))
