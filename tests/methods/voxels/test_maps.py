"""Value maps: what they forgive and count, and rotation maps without the array."""

from __future__ import annotations

import pickle
import tracemalloc
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from harness.failures import CodeFailure
from methods.voxels.grid import Grid
from methods.voxels.maps import RotationMap, ValueMap, orientation, set_voxel_by_radius

SIZE = 100
ROUNDED, CLAMPED = "map: index rounded", "map: index clamped"
DOWN, SIDE = [0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]
GRID = Grid.over(np.array([[0.0, 0, 0], [1.0, 1.2, 1.0]]))


@pytest.fixture
def counted() -> Counter[str]:
    return Counter()


@pytest.fixture
def values(counted: Counter[str]) -> ValueMap:
    return ValueMap.filled(SIZE, 0, lambda event: counted.update([event]))


@pytest.fixture
def rotations(counted: Counter[str]) -> RotationMap:
    return RotationMap(SIZE, np.array(DOWN), lambda event: counted.update([event]))


def set_voxels(values: ValueMap) -> list[list[int]]:
    return np.argwhere(np.asarray(values)).tolist()


@pytest.mark.parametrize(
    ("key", "voxel", "events"),
    [
        ((1, 2, 3), [1, 2, 3], {}),
        ((1.0, np.float32(2), np.int64(3)), [1, 2, 3], {}),
        ((1.4, 2, 2.6), [1, 2, 3], {ROUNDED: 2}),
        ((-1, 50, 50), [0, 50, 50], {CLAMPED: 1}),
        ((-0.6, 50, 50), [0, 50, 50], {ROUNDED: 1, CLAMPED: 1}),
        ((100, 99, 1e9), [99, 99, 99], {CLAMPED: 2}),
        ((99.4, 99.6, -500), [99, 99, 0], {ROUNDED: 2, CLAMPED: 2}),
    ],
)
def test_a_voxel(
    values: ValueMap, counted: Counter[str], key: Any, voxel: list[int], events: dict[str, int]
) -> None:
    values[key] = 1
    assert set_voxels(values) == [voxel]
    assert counted == events
    assert values[key] == 1
    assert counted == {name: 2 * number for name, number in events.items()}


def test_minus_one_is_the_first_voxel_not_the_last(values: ValueMap) -> None:
    """A target one voxel below the table must not become the ceiling."""
    values[50, 50, -1] = 1
    assert set_voxels(values) == [[50, 50, 0]]


@pytest.mark.parametrize(
    ("part", "expected", "events"),
    [
        (slice(10, 20), range(10, 20), {}),
        (slice(None), range(100), {}),
        (slice(90, 100), range(90, 100), {}),
        (slice(None, None, 7), range(0, 100, 7), {}),
        (slice(9.6, 20.2), range(10, 20), {ROUNDED: 2}),
        (slice(-5, 5), range(5), {CLAMPED: 1}),
        (slice(95, 140), range(95, 100), {CLAMPED: 1}),
        (slice(-10, -2), range(0), {CLAMPED: 2}),
        (slice(None, -1), range(0), {CLAMPED: 1}),
        (slice(120, 140), range(0), {CLAMPED: 2}),
    ],
)
def test_slices(
    values: ValueMap, counted: Counter[str], part: slice, expected: range, events: dict[str, int]
) -> None:
    values[3, part, 4] = 1
    assert set_voxels(values) == [[3, y, 4] for y in expected]
    assert counted == events
    values[3, part] = 2
    assert set_voxels(values) == [[3, y, z] for y in expected for z in range(SIZE)]


def test_arrays_lists_and_masks(values: ValueMap, counted: Counter[str]) -> None:
    values[[1, 2.0, 200], np.array([4, 5, 6]), np.array([7.7, -3, 9])] = 1
    assert set_voxels(values) == [[1, 4, 8], [2, 5, 0], [99, 6, 9]]
    assert counted == {ROUNDED: 1, CLAMPED: 2}  # an array counts once
    values[values > 0] = 0.5
    assert values[1, 4, 8] == 0.5 and np.count_nonzero(np.asarray(values)) == 3
    mask = np.zeros(SIZE, bool)
    mask[[3, 5]] = True
    values[mask, 0, 0] = 2
    assert set_voxels(values)[2:4] == [[3, 0, 0], [5, 0, 0]]
    values[...] = 0
    assert not set_voxels(values)
    assert sum(counted.values()) == 3


@pytest.mark.parametrize("key", [(np.nan, 1, 2), (1, np.inf, 2), (1, 2, 3, 4), ([1, np.nan], 2, 3)])
def test_what_is_no_index(values: ValueMap, key: Any) -> None:
    with pytest.raises(IndexError):
        values[key] = 1
    assert not set_voxels(values)


def test_a_word_is_no_index(values: ValueMap) -> None:
    with pytest.raises(ValueError, match="could not convert"):
        values["red", 1, 2] = 1


def test_reads_are_ordinary_arrays_and_pickles_too(values: ValueMap) -> None:
    assert values.dtype == np.float32 and values.shape == (SIZE,) * 3
    assert type(values[2:4]) is np.ndarray and values[2:4].shape == (2, SIZE, SIZE)
    assert np.ndim(values[1, 2, 3]) == 0
    assert type(pickle.loads(pickle.dumps(values))) is np.ndarray


@pytest.mark.parametrize(
    "function",
    [
        lambda array: np.roll(array, 3, axis=1),
        lambda array: np.diff(array, axis=0),
        lambda array: np.gradient(array)[2],
        np.unique,
        lambda array: np.stack([array, array])[:, 1:-1],
        lambda array: np.concatenate((array, array), axis=2),
        lambda array: np.clip(array, 0, 0.5),
        lambda array: np.where(array > 0, array, -1),
    ],
    ids=["roll", "diff", "gradient", "unique", "stack", "concatenate", "clip", "where"],
)
def test_numpys_functions_give_what_they_give_for_an_array(
    values: ValueMap, counted: Counter[str], function: Callable[[Any], Any]
) -> None:
    """NumPy itself counts from the end, which a map would take for the first voxel."""
    values[4, 5, 6] = 1
    values[99, 0, 50] = 2
    np.testing.assert_array_equal(np.asarray(function(values)), function(np.asarray(values).copy()))
    assert not counted


def test_what_numpy_makes_of_a_map_is_as_forgiving(values: ValueMap, counted: Counter[str]) -> None:
    for made in (
        np.clip(values, 0, 1),
        np.roll(values, 1),
        np.zeros_like(values),
        np.copy(values, subok=True),
    ):
        made[SIZE + 7, 0, 0] = 5
        assert np.asarray(made)[-1, 0, 0] == 5
    assert counted == {"map: index clamped": 4}
    np.copyto(values, 3.0)  # in place
    assert (np.asarray(values) == 3).all()


def test_looking_at_a_map_counts_nothing(values: ValueMap, counted: Counter[str]) -> None:
    """`print(map)` is no mistake, however NumPy abridges it."""
    plain = np.asarray(values)
    assert (repr(values), str(values), f"{values}") == (repr(plain), str(plain), str(plain))
    assert not counted


def test_arithmetic_keeps_the_forgiveness(values: ValueMap, counted: Counter[str]) -> None:
    values[5, 5, 5] += 1
    values[5, 5, 5] += 1
    doubled = values * 2
    assert doubled[5, 5, 5] == 4
    doubled[1000, 0, 0] = 1
    assert counted == {CLAMPED: 1} and np.asarray(doubled)[99, 0, 0] == 1


def test_a_rotation_map_is_one_quaternion_until_it_is_set(rotations: RotationMap) -> None:
    assert rotations.shape == (SIZE, SIZE, SIZE, 4)
    np.testing.assert_array_equal(rotations[0, 50, 99], DOWN)
    rotations[:, :, :] = [2, 0, 0, 0]  # brought to unit length
    np.testing.assert_array_equal(rotations[0, 50, 99], SIDE)
    rotations[...] = DOWN
    np.testing.assert_array_equal(rotations[1, 2, 3], DOWN)


def test_the_newest_region_of_a_rotation_map_wins(rotations: RotationMap, counted: Counter[str]) -> None:
    first, second, third = np.eye(4)[[0, 2, 3]]
    rotations[10:20, :, 5] = first
    rotations[15, 15, 5] = second
    rotations[10:20:3] = third  # 10, 13, 16, 19
    for voxel, expected in [
        ((11, 0, 5), first),
        ((11, 0, 6), DOWN),
        ((20, 0, 5), DOWN),
        ((15, 15, 5), second),
        ((15, 14, 5), first),
        ((13, 99, 5), third),
        ((16, 15, 77), third),
    ]:
        np.testing.assert_array_equal(rotations[voxel], expected)
        np.testing.assert_array_equal(orientation(rotations, np.array(voxel)), expected)
    assert not counted
    rotations[:] = DOWN
    np.testing.assert_array_equal(rotations[13, 99, 5], DOWN)


def test_every_other_plane_is_not_everywhere(rotations: RotationMap) -> None:
    rotations[::2, :, :] = SIDE
    np.testing.assert_array_equal(rotations[4, 1, 1], SIDE)
    np.testing.assert_array_equal(rotations[5, 1, 1], DOWN)


def test_a_rotation_map_forgives_indices_and_counts(rotations: RotationMap, counted: Counter[str]) -> None:
    rotations[3.2, -4, 100] = SIDE
    np.testing.assert_array_equal(orientation(rotations, (3, 0, 99)), SIDE)
    assert counted == {ROUNDED: 1, CLAMPED: 2}
    rotations[4, 5, 6, :] = SIDE
    np.testing.assert_array_equal(rotations[4, 5, 6], SIDE)


def test_a_mask_sets_rotations(rotations: RotationMap) -> None:
    mask = np.zeros((SIZE,) * 3, bool)
    mask[7, 8, 9] = True
    rotations[mask] = SIDE
    mask[:] = True  # the map keeps what the mask was
    np.testing.assert_array_equal(rotations[7, 8, 9], SIDE)
    np.testing.assert_array_equal(rotations[7, 8, 10], DOWN)


@pytest.mark.parametrize(
    "value",
    [
        *([0, 0, 0, 0], [1, 0, 0], [1, 0, 0, np.nan], 1.0, [[1, 0, 0, 0]] * 2),
        *("down", None, {}, [1, [0], 0, 0], [10**400, 0, 0, 0]),
    ],
)
def test_what_is_no_quaternion(rotations: RotationMap, value: Any) -> None:
    with pytest.raises(CodeFailure, match="quaternions"):
        rotations[...] = value


@pytest.mark.parametrize(
    "key",
    [
        *(([1, 2], 3, 4), (1, 2, 3, 4), (np.zeros(SIZE, bool), 0, 0), (np.nan, 1, 2)),
        *(
            "red",
            ("red", 1, 2),
            slice("a", 3),
            slice(None, None, 0),
            (10**400, 1, 2),
            (slice(np.inf, None), 1, 2),
        ),
    ],
)
def test_what_is_no_region(rotations: RotationMap, key: Any) -> None:
    """Always an `IndexError`: the sandbox takes that for the program's mistake, and others for the harness's."""
    with pytest.raises(IndexError):
        rotations[key] = SIDE
    with pytest.raises(IndexError):
        rotations[key]
    np.testing.assert_array_equal(rotations[1, 2, 3], DOWN)


def test_rotations_are_read_one_voxel_at_a_time(rotations: RotationMap) -> None:
    with pytest.raises(IndexError, match="one voxel"):
        rotations[1:3, 2, 3]
    read = rotations[1, 2, 3]
    read[:] = 7  # a copy
    np.testing.assert_array_equal(rotations[1, 2, 3], DOWN)


def test_a_rotation_map_takes_no_array_of_quaternions() -> None:
    """The array would be 32 MB (fact page A6)."""
    tracemalloc.start()
    rotations = RotationMap(SIZE, np.array(DOWN), lambda event: None)
    for x in range(50):
        rotations[x : x + 10, :, :] = SIDE
    rotations[...] = DOWN
    rotations[3:, 2, 1] = SIDE
    assert rotations[4, 2, 1][0] == 1
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200_000


@pytest.mark.parametrize(
    ("voxel", "radius_cm", "box"),
    [
        ([50, 50, 50], 3, [(47, 53), (48, 52), (47, 53)]),  # 2.97 and 2.475 voxels
        ([50, 50, 50], 1, [(49, 51), (49, 51), (49, 51)]),  # at least one voxel, on the wider axis too
        ([50, 50, 50], 0, [(50, 50), (50, 50), (50, 50)]),
        ([1, 98, 0], 3, [(0, 4), (96, 99), (0, 3)]),
        ([-20, 50.4, 300], 1, [(0, 1), (49, 51), (98, 99)]),
        ([50, 50, 50], 500, [(0, 99), (0, 99), (0, 99)]),
    ],
)
def test_set_voxel_by_radius(
    values: ValueMap,
    rotations: RotationMap,
    counted: Counter[str],
    voxel: list[float],
    radius_cm: float,
    box: list[tuple[int, int]],
) -> None:
    assert set_voxel_by_radius(values, voxel, radius_cm, 1, GRID.cm2index) is values
    found = np.argwhere(np.asarray(values))
    low, high = np.array(box).T
    np.testing.assert_array_equal([found.min(axis=0), found.max(axis=0)], [low, high])
    assert len(found) == np.prod(high - low + 1)
    set_voxel_by_radius(rotations, np.array(voxel), radius_cm, SIDE, GRID.cm2index)
    np.testing.assert_array_equal(rotations[tuple(high)], SIDE)
    if high[1] < 99:
        np.testing.assert_array_equal(rotations[high[0], high[1] + 1, high[2]], DOWN)
    assert not counted  # a box cut at the border is no mistake of the program


@pytest.mark.parametrize("voxel", [[1, 2], [1, 2, np.nan], [[1, 2, 3], [4, 5, 6]]])
def test_set_voxel_by_radius_needs_a_voxel(values: ValueMap, voxel: Any) -> None:
    with pytest.raises(ValueError, match=r"reshape|NaN"):
        set_voxel_by_radius(values, voxel, 1, 1, GRID.cm2index)


@pytest.mark.parametrize("given", [None, [1], 1.0, "map", np.zeros(3), np.zeros((2, 2)), lambda: 1])
def test_set_voxel_by_radius_needs_a_map(given: Any) -> None:
    with pytest.raises(CodeFailure, match=f"needs a map from .*, not a {type(given).__name__}$"):
        set_voxel_by_radius(given, [1, 2, 3], 1, 1, GRID.cm2index)
