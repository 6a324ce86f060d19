"""Paths of the planner against a plain SciPy version of the same algorithm, and its edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness.failures import CodeFailure
from methods.voxels.planner import PlannerConfig, curvature, obstacles, plan, savitzky_golay
from tests.methods.voxels import scipy_planner

SIZE = 100


def empty(size: int = SIZE) -> np.ndarray:
    return np.zeros((size,) * 3, dtype=bool)


def boxes(rng: np.random.Generator, count: int, size: int = SIZE, top: float = 1.0) -> np.ndarray:
    """Filled boxes of a tenth to a third of the grid; `top` cuts them at a share of the height."""
    made = empty(size)
    for _ in range(count):
        low = rng.integers(0, size * 9 // 10, 3)
        high = low + rng.integers(size // 10, size // 3, 3)
        made[low[0] : high[0], low[1] : high[1], low[2] : min(high[2], int(size * top))] = True
    return made


def at(rng: np.random.Generator, size: int = SIZE) -> np.ndarray:
    return rng.integers(0, size, 3)


def region(centre: np.ndarray, reach: int, size: int = SIZE) -> np.ndarray:
    made = empty(size)
    made[tuple(slice(max(v - reach, 0), v + reach + 1) for v in centre)] = True
    return made


def same(
    start: Any, targets: np.ndarray, scene: np.ndarray, movable: Any = None, avoidance: Any = None
) -> int:
    """Compare both versions and give the number of points of the path."""
    expected = scipy_planner.plan(
        start,
        targets,
        scipy_planner.preprocess(scene, targets, start, movable, avoidance),
        planar=movable is not None,
    )
    path = plan(np.asarray(start), targets, scene, movable, avoidance)
    assert path.shape == expected.shape
    np.testing.assert_allclose(path, expected, rtol=0, atol=1e-9)
    return len(path)


@pytest.mark.parametrize("seed", range(6))
def test_a_single_voxel_among_boxes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    assert same(at(rng), region(at(rng), 0), boxes(rng, 10)) > 1


@pytest.mark.parametrize("seed", range(3))
def test_nothing_in_the_way(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    assert same(at(rng), region(at(rng), 0), empty()) > 1


@pytest.mark.parametrize("seed", range(4))
def test_a_region_that_is_no_box(seed: int) -> None:
    rng = np.random.default_rng(200 + seed)
    targets = region(at(rng), 4) | region(at(rng), 2) | region(at(rng), 0)
    targets &= rng.random(targets.shape) < 0.7
    targets[tuple(at(rng))] = True
    same(at(rng), targets, boxes(rng, 8))


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("upper", [True, False])
def test_a_slab_as_target(axis: int, upper: bool) -> None:
    rng = np.random.default_rng(300 + axis)
    targets = empty()
    part: list[slice] = [slice(None)] * 3
    part[axis] = slice(70, None) if upper else slice(None, 30)
    targets[tuple(part)] = True
    same([50, 48, 52], targets, boxes(rng, 6))


def test_start_in_the_target_stays() -> None:
    rng = np.random.default_rng(1)
    targets = region(np.array([40, 40, 40]), 3)
    assert same([41, 38, 40], targets, boxes(rng, 5)) == 1
    np.testing.assert_array_equal(plan(np.array([41, 38, 40]), targets, empty()), [[41, 38, 40]])


def test_everything_is_target() -> None:
    assert same([3, 4, 5], ~empty(), empty()) == 1


@pytest.mark.parametrize(
    ("start", "target"),
    [
        ([0, 0, 0], [99, 99, 99]),
        ([99, 0, 50], [0, 99, 50]),
        ([0, 99, 0], [0, 0, 0]),
        ([1, 98, 99], [97, 98, 99]),
        ([5, 5, 5], [5, 6, 5]),
    ],
)
def test_borders_and_corners(start: list[int], target: list[int]) -> None:
    rng = np.random.default_rng(5)
    same(start, region(np.array(target), 0), boxes(rng, 12))
    same(start, region(np.array(target), 2), empty())


@pytest.mark.parametrize("seed", range(3))
def test_clutter_of_fifty_thousand_voxels(seed: int) -> None:
    rng = np.random.default_rng(400 + seed)
    scene = empty()
    scene[:, :, 0] = True
    scene[rng.random(scene.shape) < 0.04] = True
    assert 48_000 < np.count_nonzero(scene) < 52_000
    same(at(rng), region(at(rng), seed), scene)


@pytest.mark.parametrize("seed", range(4))
def test_an_avoidance_map(seed: int) -> None:
    """Weights of any sign and above 1 are added to the scene and cut to 0 to 1."""
    rng = np.random.default_rng(500 + seed)
    avoidance = np.zeros((SIZE,) * 3, dtype=np.float32)
    for weight in (0.25, 0.5, 3.0, -1.0):
        avoidance[region(at(rng), int(rng.integers(3, 12)))] = weight
    same(at(rng), region(at(rng), 1), boxes(rng, 6), avoidance=avoidance)


@pytest.mark.parametrize("seed", range(6))
def test_pushing_stays_at_the_height_of_the_start(seed: int) -> None:
    rng = np.random.default_rng(600 + seed)
    start = at(rng)
    movable = region(start, 3) & (rng.random((SIZE,) * 3) < 0.5)
    movable[tuple(start)] = True
    targets = region(at(rng), 2)
    same(start, targets, boxes(rng, 8, top=0.4) | movable, movable)
    path = plan(start, targets, movable, movable)
    np.testing.assert_allclose(path[:, 2], start[2], rtol=0, atol=1e-9)


def test_an_object_that_is_not_seen_frees_the_box_of_the_effector() -> None:
    rng = np.random.default_rng(7)
    same([30, 30, 30], region(np.array([60, 50, 30]), 1), boxes(rng, 8), movable=empty())


@pytest.mark.parametrize("seed", range(25))
def test_small_grids_of_every_kind(seed: int) -> None:
    """Cheap, so many: 24 voxels a side, noise and boxes, all target shapes, with and without movable."""
    rng = np.random.default_rng(700 + seed)
    size = 24
    scene = boxes(rng, 3, size) | (rng.random((size,) * 3) < rng.choice([0.0, 0.01, 0.2]))
    start = at(rng, size)
    kinds = [
        region(at(rng, size), 0, size),
        region(at(rng, size), int(rng.integers(1, 9)), size),
        rng.random((size,) * 3) < 0.001,
        rng.random((size,) * 3) < 0.3,
    ]
    for targets in kinds:
        targets[tuple(at(rng, size))] = True
        movable = region(start, 1, size) if rng.random() < 0.5 else None
        same(start, targets, scene, movable)


def test_no_target_is_the_programs_fault() -> None:
    with pytest.raises(CodeFailure, match="no target"):
        plan(np.array([1, 2, 3]), empty(), empty())


def test_obstacles_near_the_start_are_left_out_at_the_borders_too() -> None:
    """A negative start of the effector's box must not wrap around."""
    squares = np.full((SIZE,) * 3, 10_000)
    blocked = obstacles(~empty(), squares, np.array([3, 99, 50]), None, None, PlannerConfig())
    free = np.argwhere(~blocked)
    np.testing.assert_array_equal(free.min(axis=0), [0, 89, 40])
    np.testing.assert_array_equal(free.max(axis=0), [13, 99, 60])
    assert len(free) == 14 * 11 * 21


def test_the_path_leads_round_an_obstacle() -> None:
    """A block on the straight way, far from both ends and longer to one side: the path passes on the other."""
    scene = empty()
    scene[40:60, 40:55, :60] = True
    start, targets = np.array([10, 50, 30]), region(np.array([90, 50, 30]), 1)
    straight, around = plan(start, targets, empty()), plan(start, targets, scene)
    assert np.abs(straight[:, 1:] - [50, 30]).max() < 2.5
    assert around[:, 1].max() > 60
    for path in (straight, around):
        assert targets[tuple(np.rint(path[-1]).astype(int))]
    assert not scene[tuple(np.rint(around).astype(int).T)].any()


def test_smoothing_keeps_a_cubic_and_leaves_short_paths_alone() -> None:
    line = np.arange(30.0)
    cubic = np.stack([line, line**2 / 10, line**3 / 100], axis=1)
    np.testing.assert_allclose(savitzky_golay(cubic, 20, 3), cubic, atol=1e-9)
    short = np.array([[0.0, 0, 0], [2, 5, 1], [3, 3, 3]])
    np.testing.assert_array_equal(savitzky_golay(short, 20, 3), short)


def test_curvature_of_a_circle_and_of_standing_still() -> None:
    angle = np.linspace(0, 1, 60)
    circle = 20 * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    np.testing.assert_allclose(curvature(circle)[3:-3], 1 / 20, rtol=1e-3)
    np.testing.assert_array_equal(curvature(np.ones((7, 3))), np.zeros(7))
    np.testing.assert_array_equal(curvature(np.ones((2, 3))), [0, 0])
