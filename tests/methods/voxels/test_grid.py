"""Voxels and metres, and lengths in voxels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.voxels.grid import Grid

WORKSPACE = np.array([[-0.3, -0.6, 0.75], [0.7, 0.6, 1.75]])
GRID = Grid.over(WORKSPACE)
"""1 m, 1.2 m and 1 m: voxels of 1.01, 1.212 and 1.01 cm."""


def test_the_ends_of_the_workspace_are_the_first_and_last_voxel() -> None:
    np.testing.assert_array_equal(GRID.to_voxel(WORKSPACE), [[0, 0, 0], [99, 99, 99]])
    np.testing.assert_allclose(GRID.to_world([[0, 0, 0], [99, 99, 99]]), WORKSPACE)
    np.testing.assert_allclose(GRID.voxel, np.array([1.0, 1.2, 1.0]) / 99)


def test_points_outside_are_clipped() -> None:
    np.testing.assert_array_equal(GRID.to_voxel([[-9, 0, 9], [9, -9, 1.26]]), [[0, 50, 99], [99, 0, 50]])


@given(st.tuples(*(st.integers(0, 99),) * 3))
def test_there_and_back(voxel: tuple[int, int, int]) -> None:
    np.testing.assert_array_equal(GRID.to_voxel(GRID.to_world(voxel)), voxel)


@given(st.tuples(st.floats(-0.3, 0.7), st.floats(-0.6, 0.6), st.floats(0.75, 1.75)))
def test_a_point_is_at_most_half_a_voxel_from_its_voxel(point: tuple[float, float, float]) -> None:
    away = np.abs(GRID.to_world(GRID.to_voxel(point)) - point)
    assert (away <= GRID.voxel / 2 + 1e-12).all()


def test_occupancy_leaves_out_what_is_outside() -> None:
    points = np.array([[-0.3, -0.6, 0.75], [0.2, 0.0, 1.26], [0.2, 0.0, 1.2601], [0.8, 0, 1], [0, 0, 0.74]])
    filled = GRID.occupancy(points)
    np.testing.assert_array_equal(np.argwhere(filled), [[0, 0, 0], GRID.to_voxel([0.2, 0.0, 1.26])])
    assert not GRID.occupancy(np.empty((0, 3))).any()


@pytest.mark.parametrize(
    ("cm", "axis", "voxels"),
    [
        (10, "x", 10),  # 9.9
        (10, "y", 8),  # 8.25
        (-10, "z", -10),
        (1.5, "y", 1),  # 1.24
        (2, "y", 2),  # 1.65: to the nearest, where truncation gives 1
        (0, "x", 0),
        (0.3, "x", 1),  # at least one
        (-0.3, 1, -1),
        (1, 1, 1),
        (5, np.int64(2), 5),
        (100, 0, 99),
    ],
)
def test_a_length_is_rounded_to_voxels(cm: float, axis: object, voxels: int) -> None:
    found = GRID.cm2index(cm, axis)
    assert type(found) is int and found == voxels


def test_one_centimetre_is_one_voxel_of_any_size() -> None:
    """Truncation made it none where voxels are wider than a centimetre (fact page A2)."""
    assert [GRID.cm2index(1, axis) for axis in "xyz"] == [1, 1, 1]


def test_a_length_along_a_direction() -> None:
    found = GRID.cm2index(10, [0, 0, 5])
    np.testing.assert_array_equal(found, [0, 0, 10])
    assert found.dtype.kind == "i"
    np.testing.assert_array_equal(GRID.cm2index(-10, np.array([1, 1, 0])), [-7, -6, 0])  # 7.07 cm
    np.testing.assert_array_equal(GRID.cm2index(10, (3, -4, 0)), [6, -7, 0])  # 6 cm, -8 cm


@pytest.mark.parametrize("axis", ["w", "X", "", 3, -1, [0, 0, 0], [1, 2], [1, np.nan, 0], "xy"])
def test_no_such_axis(axis: object) -> None:
    with pytest.raises(ValueError, match=r"axis|direction"):
        GRID.cm2index(5, axis)


def test_voxels_in_centimetres() -> None:
    assert GRID.index2cm(10, "y") == pytest.approx(10 * 120 / 99)
    assert GRID.index2cm(10, 0) == pytest.approx(10 * 100 / 99)
    assert GRID.index2cm(-3) == pytest.approx(-3 * (100 + 120 + 100) / 3 / 99)
    with pytest.raises(ValueError, match="axis"):
        GRID.index2cm(3, [0, 0, 1])


@given(st.integers(-99, 99), st.sampled_from("xyz"))
def test_voxels_in_centimetres_and_back(index: int, axis: str) -> None:
    assert GRID.cm2index(GRID.index2cm(index, axis), axis) == index
