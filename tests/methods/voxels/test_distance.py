"""Distances and smoothing against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import distance_transform_edt, gaussian_filter

from methods.voxels.distance import bounding_box, smooth, squared_distance_to


def masks() -> dict[str, np.ndarray]:
    """Targets by what they exercise: the short cut for boxes, the general way, borders, sides of unequal length."""
    rng = np.random.default_rng(0)
    made = {
        "corner": np.zeros((40, 40, 40), bool),
        "box": np.zeros((40, 40, 40), bool),
        "slab": np.zeros((40, 40, 40), bool),
        "hollow": np.zeros((40, 40, 40), bool),
        "two corners": np.zeros((40, 40, 40), bool),
        "all": np.ones((12, 12, 12), bool),
        "one voxel grid": np.ones((1, 1, 1), bool),
        "noise": rng.random((40, 40, 40)) < 0.01,
        "dense noise": rng.random((40, 40, 40)) < 0.6,
        "unequal sides": rng.random((7, 33, 18)) < 0.01,
        "unequal box": np.zeros((7, 33, 18), bool),
        "wide": np.zeros((130, 5, 4), bool),
    }
    made["corner"][39, 0, 39] = True
    made["box"][3:9, 30:40, 12:13] = True
    made["slab"][:, :, 25:] = True
    made["hollow"][5:20, 5:20, 5:20] = True
    made["hollow"][6:19, 6:19, 6:19] = False
    made["two corners"][0, 0, 0] = made["two corners"][39, 39, 39] = True
    made["unequal box"][2:4, 3:30, 17] = True
    made["wide"][0, 0, 0] = made["wide"][2, 4, 3] = True
    return made


@pytest.mark.parametrize("name", masks())
def test_distances_are_scipys(name: str) -> None:
    targets = masks()[name]
    squares = squared_distance_to(targets)
    assert squares.shape == targets.shape and squares.dtype.kind in "ui"
    np.testing.assert_allclose(
        np.sqrt(squares, dtype=float), distance_transform_edt(~targets), rtol=0, atol=1e-12
    )


def test_the_longest_distance_of_a_large_grid_does_not_overflow() -> None:
    """Corner to corner of 100 voxels fits in 16 bits; of 130 it would not, with the sums on the way."""
    for size in (100, 130):
        targets = np.zeros((size,) * 3, bool)
        targets[0, 0, 0] = targets[0, 1, 2] = True
        assert squared_distance_to(targets)[-1, -1, -1] == (size - 1) ** 2 + (size - 2) ** 2 + (size - 3) ** 2


def test_no_target_is_refused() -> None:
    with pytest.raises(ValueError, match="no voxel"):
        squared_distance_to(np.zeros((5, 5, 5), bool))


def test_the_box_round_numbers_and_round_nothing() -> None:
    values = np.zeros((6, 7, 8), np.float32)
    assert bounding_box(values) is None
    values[1, 2, 3], values[4, 2, 7] = -0.5, 2
    assert bounding_box(values) == (slice(1, 5), slice(2, 3), slice(3, 8))


@pytest.mark.parametrize("sigma", [1.0, 3.5, 10.0])
@pytest.mark.parametrize("kind", ["voxel in a corner", "box", "noise", "weights", "unequal sides"])
def test_smoothing_is_scipys(kind: str, sigma: float) -> None:
    rng = np.random.default_rng(1)
    values: np.ndarray = np.zeros((60, 60, 60), bool)
    if kind == "voxel in a corner":
        values[0, 59, 0] = True
    elif kind == "box":
        values[10:30, 5:9, 40:60] = True
    elif kind == "noise":
        values = rng.random((60, 60, 60)) < 0.05
    elif kind == "weights":
        values = rng.random((60, 60, 60)).astype(np.float32)
    else:
        values = rng.random((50, 60, 45)) < 0.05
    expected = gaussian_filter(values.astype(float), sigma, mode="reflect")
    np.testing.assert_allclose(smooth(values, sigma), expected, rtol=0, atol=1e-12)


def test_smoothing_nothing_gives_nothing() -> None:
    assert smooth(np.zeros((9, 9, 9), bool), 10.0) is None
