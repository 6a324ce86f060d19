"""Which frames are shown, and how cameras become one picture."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from harness.protocols import Mark, View
from methods.hime.frames import frame, recent, side_by_side, uniform


@pytest.mark.parametrize(
    ("length", "count", "expected"),
    [
        (0, 8, []),
        (3, 8, [0, 1, 2]),
        (8, 8, list(range(8))),
        (9, 8, [0, 1, 2, 3, 4, 5, 6, 8]),
        (100, 8, [0, 14, 28, 42, 56, 70, 84, 99]),
        (100, 2, [0, 99]),
        (100, 1, [99]),
        (100, 0, []),
    ],
)
def test_uniform_frames_hold_the_first_and_the_last(length: int, count: int, expected: list[int]) -> None:
    assert list(uniform(range(length), count)) == expected


@pytest.mark.parametrize(
    ("length", "count", "expected"), [(5, 3, [2, 3, 4]), (2, 3, [0, 1]), (5, 0, []), (0, 3, [])]
)
def test_recent_frames(length: int, count: int, expected: list[int]) -> None:
    assert list(recent(range(length), count)) == expected


def view(height: int, width: int, colour: int, *marks: Mark) -> View:
    return View(np.full((height, width, 3), colour, dtype=np.uint8), marks, gripper=1.0)


def test_cameras_stand_side_by_side_at_the_height_of_the_highest() -> None:
    png = side_by_side([view(10, 20, 200).image, view(20, 30, 50).image])
    pixels = np.asarray(Image.open(io.BytesIO(png)))
    assert pixels.shape == (20, 70, 3)
    assert (pixels[:, :40] == 200).all() and (pixels[:, 40:] == 50).all()


def test_what_cameras_see_is_said_beside_the_picture() -> None:
    views = {
        "wrist": view(4, 4, 0, Mark("toy duck", (1, 2, 3, 4)), Mark("left box", (0, 0, 4, 4))),
        "main": view(4, 4, 0),
    }
    taken = frame(30, views)
    assert taken.step == 30
    assert taken.picture.seen == "wrist: toy duck 1 2 3 4; left box 0 0 4 4\nmain: nothing"
    assert frame(30, views, annotated=False).picture.seen == ""


def test_of_a_camera_that_names_nothing_nothing_is_said() -> None:
    wrist = View(np.zeros((2, 2, 3), dtype=np.uint8), (), gripper=1.0, named=False)
    named = View(wrist.image, (), gripper=1.0)
    assert frame(0, {"wrist": wrist}).picture.seen == ""
    assert frame(0, {"wrist": wrist, "third_person": named}).picture.seen == "third_person: nothing"
