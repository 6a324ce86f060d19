"""What `detect` makes of the effector, the surface, an object and nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.failures import PerceptionFailure
from harness.protocols import PointCloud, Pose
from harness.seeding import Seeds
from methods.voxels.grid import Grid
from methods.voxels.observation import observe
from tests.methods.conftest import World

GRID = Grid.over(World.workspace)


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.reset("lift", 0, Seeds("world", "lift", 0, 0))
    return made


@pytest.mark.parametrize("name", ["gripper", "Gripper", "ROBOT", " hand ", "Hand"])
def test_the_effector_in_any_case(world: World, name: str) -> None:
    world.tool = Pose(np.array([0.1, -0.2, 0.3]), np.array([0.0, 1.0, 0.0, 0.0]))
    seen = observe(world, GRID, name)
    assert seen.is_effector and seen.name == name
    np.testing.assert_array_equal(seen.position, GRID.to_voxel([0.1, -0.2, 0.3]))
    np.testing.assert_array_equal(seen.aabb, [seen.position, seen.position])
    np.testing.assert_array_equal(seen.world_position, [0.1, -0.2, 0.3])
    np.testing.assert_allclose(seen.normal, [0, 0, -1])  # it points down
    assert not seen.occupancy_map.any()


def test_where_the_effector_points(world: World) -> None:
    """A quarter turn about y brings the tool's z to the world's x."""
    half = np.sqrt(0.5)
    world.tool = Pose(np.zeros(3), np.array([half, 0.0, half, 0.0]))
    np.testing.assert_allclose(observe(world, GRID, "gripper").normal, [1, 0, 0], atol=1e-12)


@pytest.mark.parametrize("name", ["table", "Table", " TABLE"])
def test_the_surface_is_the_workspace_without_its_edge(world: World, name: str) -> None:
    seen = observe(world, GRID, name)
    assert not seen.is_effector
    np.testing.assert_array_equal(seen.aabb, [[10, 10, 0], [89, 89, 0]])
    np.testing.assert_allclose(seen.world_position, [0, 0, 0], atol=1e-12)
    assert seen.position[2] == 0
    np.testing.assert_array_equal(seen.normal, [0, 0, 1])
    assert not seen.occupancy_map.any()


def test_an_object_as_voxels(world: World) -> None:
    seen = observe(world, GRID, "red block")
    np.testing.assert_allclose(seen.world_position, [0.1, 0.1, 0.02], atol=1e-12)
    np.testing.assert_array_equal(seen.position, GRID.to_voxel(seen.world_position))
    np.testing.assert_array_equal(seen.aabb, GRID.to_voxel([[0.08, 0.08, 0.0], [0.12, 0.12, 0.04]]))
    filled = np.argwhere(seen.occupancy_map)
    np.testing.assert_array_equal([filled.min(axis=0), filled.max(axis=0)], seen.aabb)
    assert seen.points.shape == (150, 3) and not seen.is_effector
    assert seen.occupancy_map.dtype == bool
    np.testing.assert_allclose(np.linalg.norm(seen.normal), 1)


def test_the_normal_is_the_mean_of_what_is_seen(world: World) -> None:
    """Two faces seen, the upper one twice as much."""
    normals = np.array([[0.0, 0, 1], [0.0, 0, 1], [1.0, 0, 0]])
    world.cloud = lambda name: PointCloud(np.zeros((3, 3)), normals)  # type: ignore[method-assign]
    np.testing.assert_allclose(observe(world, GRID, "lid").normal, np.array([1, 0, 2]) / np.sqrt(5))


def test_normals_that_cancel_give_up(world: World) -> None:
    normals = np.array([[0.0, 1, 0], [0.0, -1, 0]])
    world.cloud = lambda name: PointCloud(np.zeros((2, 3)), normals)  # type: ignore[method-assign]
    np.testing.assert_array_equal(observe(world, GRID, "lid").normal, [0, 0, 1])


def test_an_object_outside_of_the_workspace_lies_at_its_border(world: World) -> None:
    world.blocks["red block"] = np.array([0.9, 0.0, 0.5])
    seen = observe(world, GRID, "red block")
    assert seen.position[0] == 99
    assert seen.world_position[0] == pytest.approx(0.9)
    assert not seen.occupancy_map.any()


def test_the_unknown_and_the_unseen_are_failures_of_perception(world: World) -> None:
    with pytest.raises(PerceptionFailure, match="green ball"):
        observe(world, GRID, "green ball")
    world.hidden.add("red block")
    with pytest.raises(PerceptionFailure, match="red block"):
        observe(world, GRID, "red block")
