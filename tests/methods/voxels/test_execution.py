"""`execute` in a kinematic world: arriving, the gripper at the end, pushes, and what is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.failures import CodeFailure, PerceptionFailure, StepLimit
from harness.protocols import Motion, Pose
from harness.seeding import Seeds
from methods.voxels.controller import Waypoint
from methods.voxels.execution import MARGIN, REACHED, Execution, Maps, execute, straightened
from methods.voxels.grid import Grid
from methods.voxels.maps import RotationMap, ValueMap
from methods.voxels.observation import observe
from tests.methods.conftest import HALF, World

GRID = Grid.over(World.workspace)
DOWN = np.array([0.0, 1.0, 0.0, 0.0])


class Workbench(World):
    """A world in which a closed, empty gripper pushes what lies in its straight way, and which notes commands."""

    def reset(self, task: str, scene: int, seeds: Seeds) -> Any:
        self.poses: list[Pose] = []
        self.speeds: list[float] = []
        self.openings: list[float] = []
        return super().reset(task, scene, seeds)

    def move(self, pose: Pose, speed: float = 1.0) -> Motion:
        start = self.tool.position
        motion = super().move(pose, speed)
        self.poses.append(pose)
        self.speeds.append(speed)
        if motion.reached and self.opening == 0.0 and not self.held:
            self._push(start, pose.position)
        return motion

    def set_gripper(self, opening: float) -> Motion:
        self.openings.append(opening)
        return super().set_gripper(opening)

    def _push(self, start: np.ndarray, end: np.ndarray) -> None:
        """Blocks that the way leads into are carried along from where it enters them; pulling moves nothing."""
        for at in self.blocks.values():
            for part in np.linspace(0, 1, 400):
                offset = at - (start + part * (end - start))
                if (np.abs(offset) < HALF - 1e-3).all() and offset @ (end - start) > 0:
                    at += (1 - part) * (end - start)
                    break


@pytest.fixture
def world(tmp_path: Path) -> Workbench:
    made = Workbench(tmp_path)
    made.reset("lift", 0, Seeds("world", "lift", 0, 0))
    return made


@pytest.fixture
def counted() -> Counter[str]:
    return Counter()


@pytest.fixture
def run(world: Workbench, counted: Counter[str]) -> Callable[..., Execution]:
    def call(name: str = "gripper", **maps: Any) -> Execution:
        sources = {
            key: value if callable(value) else (lambda value=value: value) for key, value in maps.items()
        }
        look = partial(observe, world, GRID, name)
        return execute(world, GRID, look, Maps(**sources), lambda event: counted.update([event]))

    return call


def filled(value: float = 0.0) -> np.ndarray:
    return ValueMap.filled(GRID.size, value, lambda event: None)


def target(point: Any, value: float = 1.0) -> np.ndarray:
    made = filled()
    made[tuple(GRID.to_voxel(point))] = value
    return made


@pytest.mark.parametrize("point", [(0.3, 0.2, 0.2), (-0.4, 0.4, 0.8), (0.0, 0.0, 0.41), (0.1, 0.1, 0.05)])
def test_the_effector_reaches_its_target(
    world: Workbench, run: Callable[..., Execution], counted: Counter[str], point: Any
) -> None:
    done = run(affordance=target(point))
    assert np.linalg.norm(world.tool.position - GRID.to_world(GRID.to_voxel(point))) < REACHED
    np.testing.assert_array_equal(world.tool.quaternion, DOWN)
    assert done.movable == "gripper" and done.motions == len(world.poses) and not done.missed
    np.testing.assert_allclose(done.waypoints[-1], world.tool.position, atol=1e-4)
    assert not counted and not world.openings
    assert set(world.speeds) == {1.0}


@pytest.mark.parametrize("point", [(-0.5, 0.5, 0.0), (0.5, -0.5, 1.0)])
def test_waypoints_keep_off_the_border(world: Workbench, run: Callable[..., Execution], point: Any) -> None:
    """Motions to the border itself are refused (fact page A6.6)."""
    run(affordance=target(point))
    for pose in world.poses:
        assert (pose.position >= World.workspace[0] + MARGIN - 1e-12).all()
        assert (pose.position <= World.workspace[1] - MARGIN + 1e-12).all()
    assert np.linalg.norm(world.tool.position - np.array(point)) < REACHED


def test_speed_and_rotation_are_read_along_the_path(world: Workbench, run: Callable[..., Execution]) -> None:
    velocity, rotation = filled(1.0), RotationMap(GRID.size, DOWN, lambda event: None)
    velocity[:, :, :20] = 0.5
    velocity[:, :, 60:] = 0.0  # no speed at all is taken for the usual one
    side = np.array([1.0, 0.0, 0.0, 0.0])
    rotation[:, :, :30] = side
    run(affordance=target((0.0, 0.0, 0.1)), velocity=velocity, rotation=rotation)
    for pose, speed in zip(world.poses, world.speeds, strict=True):
        height = int(GRID.to_voxel(pose.position)[2])
        assert speed == (0.5 if height < 20 else 1.0)
        np.testing.assert_array_equal(pose.quaternion, side if height < 30 else DOWN)
    assert {0.5, 1.0} == set(world.speeds)
    np.testing.assert_array_equal(world.tool.quaternion, side)


def test_without_affordance_the_effector_stays_and_does_what_the_maps_say_there(
    world: Workbench, run: Callable[..., Execution]
) -> None:
    before = world.tool.position.copy()
    rotation = RotationMap(GRID.size, np.array([1.0, 0, 0, 0]), lambda event: None)
    done = run(gripper=filled(0.0), rotation=rotation)
    np.testing.assert_allclose(world.tool.position, before)
    np.testing.assert_array_equal(world.tool.quaternion, [1, 0, 0, 0])
    assert world.openings == [0.0] and done.motions == 2 and done.waypoints == []
    assert run().motions == 1  # no map at all: it stays as it is
    assert world.openings == [0.0]
    np.testing.assert_array_equal(world.tool.quaternion, [1, 0, 0, 0])


def test_without_affordance_an_object_stays(world: Workbench, run: Callable[..., Execution]) -> None:
    assert run("red block", gripper=filled(0.0)) == Execution("red block")
    assert not world.poses and not world.openings


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize(("beside", "closes"), [(0, True), (3, True), (4, False), (8, False)])
def test_the_rarer_command_near_the_end_is_meant_for_the_end(
    world: Workbench, run: Callable[..., Execution], axis: int, beside: int, closes: bool
) -> None:
    """One closed voxel beside the last one, `beside` voxels away along one axis (fact page A6.4: measured along the
    wrong axis, 8 counted as near)."""
    end = GRID.to_voxel((0.2, -0.1, 0.3))
    gripper = filled(1.0)
    closed = end.copy()
    closed[axis] += beside
    gripper[tuple(closed)] = 0.0
    run(affordance=target(GRID.to_world(end)), gripper=gripper)
    assert world.openings == ([0.0] if closes else [])


def test_a_region_of_27_voxels_at_the_end_closes_there(
    world: Workbench, run: Callable[..., Execution]
) -> None:
    """Over the wrong axis its distance came out as 4.2 (fact page A6.4)."""
    end = GRID.to_voxel((0.2, -0.1, 0.3))
    gripper = filled(1.0)
    gripper[tuple(slice(v - 1, v + 2) for v in end)] = 0.0
    run(affordance=target(GRID.to_world(end)), gripper=gripper)
    assert world.openings == [0.0]
    assert np.linalg.norm(world.tool.position - GRID.to_world(end)) < REACHED


def test_the_rarer_command_can_be_to_open(world: Workbench, run: Callable[..., Execution]) -> None:
    world.set_gripper(0.0)
    world.openings.clear()
    gripper = filled(0.0)
    end = GRID.to_voxel((0.2, -0.1, 0.3))
    gripper[end[0] + 2, end[1], end[2]] = 1.0
    run(affordance=target(GRID.to_world(end)), gripper=gripper)
    assert world.openings == [1.0]


def test_a_constant_gripper_map_commands_once(world: Workbench, run: Callable[..., Execution]) -> None:
    run(affordance=target((0.2, 0.2, 0.3)), gripper=filled(0.0))
    assert world.openings == [0.0]


def test_a_block_is_taken_and_carried(world: Workbench, run: Callable[..., Execution]) -> None:
    run(affordance=target((0.1, 0.1, HALF)), gripper=filled(1.0))
    run(gripper=filled(0.0))
    assert world.held == "red block"
    run(affordance=target((-0.2, 0.3, 0.3)))
    assert np.linalg.norm(world.blocks["red block"] - [-0.2, 0.3, 0.3]) < REACHED
    assert world.opening == 0.0  # no gripper map: the last command stays


def test_missed_motions_are_counted_and_do_not_end_the_call(
    world: Workbench, run: Callable[..., Execution], counted: Counter[str]
) -> None:
    world.unreachable = lambda position: position[2] < 0.2
    done = run(affordance=target((0.3, 0.3, 0.05)))
    assert counted == {"motion: not reached": len(done.missed)}
    assert 1 <= len(done.missed) <= done.motions
    assert set(done.missed) == {"move: out of reach"}


def test_waypoints_that_lie_behind_are_left_out(world: Workbench, run: Callable[..., Execution]) -> None:
    """The first motion goes too far, past the second waypoint: there is no going back to it."""
    velocity = filled(1.0)
    velocity[:, :, 20:30] = 0.5
    maps = {"affordance": target((0.0, 0.0, 0.1)), "velocity": velocity}
    run(**maps)
    assert {round(pose.position[2], 1) for pose in world.poses} == {0.3, 0.2, 0.1}
    world.home()
    world.poses.clear()
    move = world.move

    def too_far(pose: Pose, speed: float = 1.0) -> Motion:
        motion = move(pose, speed)
        if len(world.poses) == 1:
            world.tool = Pose(np.array([0.0, 0.0, 0.14]), DOWN)
        return motion

    world.move = too_far  # type: ignore[method-assign]
    run(**maps)
    assert {round(pose.position[2], 1) for pose in world.poses} == {0.3, 0.1}


def test_the_step_limit_ends_the_call(world: Workbench, run: Callable[..., Execution]) -> None:
    world.limit = 1
    with pytest.raises(StepLimit):
        run(affordance=target((0.3, 0.3, 0.05)))


def test_maps_are_evaluated_once_and_before_any_motion(
    world: Workbench, run: Callable[..., Execution]
) -> None:
    asked: list[int] = []

    def affordance() -> np.ndarray:
        asked.append(len(world.poses))
        return target((0.3, 0.3, 0.3))

    run(affordance=affordance)
    assert asked == [0]


@pytest.mark.parametrize(
    ("maps", "message"),
    [
        ({"affordance": filled()}, "no target"),
        ({"affordance": filled(-1.0)}, "no target"),
        ({"affordance": [1, 2]}, "affordance_map has to come from get_empty_affordance_map"),
        ({"affordance": np.ones((3, 3, 3))}, "affordance_map"),
        ({"avoidance": 7}, "avoidance_map"),
        ({"avoidance": np.full((GRID.size,) * 3, "far")}, "avoidance_map holds what is no number"),
        ({"velocity": filled(np.nan)}, "velocity_map holds numbers that are not finite"),
        ({"rotation": filled()}, "rotation_map"),
        ({"gripper": None}, "gripper_map has to come"),
    ],
)
def test_what_is_no_map_is_the_programs_fault(
    world: Workbench, run: Callable[..., Execution], maps: dict[str, Any], message: str
) -> None:
    with pytest.raises(CodeFailure, match=message):
        run(**{"affordance": target((0.3, 0.3, 0.3)), **maps})
    assert not world.poses


def test_the_path_avoids_what_the_avoidance_map_says(world: Workbench, run: Callable[..., Execution]) -> None:
    """A block of avoidance on the straight way and more to one side: the tool passes on the other."""
    world.move(Pose(np.array([-0.4, 0.0, 0.3]), DOWN))
    world.poses.clear()
    avoidance = filled()
    avoidance[40:60, 40:55, :60] = 1.0
    done = run(affordance=target((0.4, 0.0, 0.3)), avoidance=avoidance)
    assert max(y for _, y, _ in done.waypoints) > 0.1
    assert np.linalg.norm(world.tool.position - [0.4, 0.0, 0.3]) < REACHED


def test_an_object_is_pushed_to_its_target(world: Workbench, run: Callable[..., Execution]) -> None:
    """Within one push, 9 cm: the closed gripper comes from behind, at the height of the object, and goes home."""
    goal = np.array([0.17, 0.1, HALF])
    done = run("red block", affordance=target(goal))
    assert np.linalg.norm(world.blocks["red block"] - goal) < 2 * REACHED
    assert world.openings == [0.0]
    assert done.movable == "red block" and done.motions >= 5
    np.testing.assert_array_equal(world.tool.position, [0, 0, 0.4])  # home
    np.testing.assert_allclose(world.blocks["blue block"], [0.2, -0.2, HALF])


def test_a_far_push_is_made_of_several(world: Workbench, run: Callable[..., Execution]) -> None:
    """A push goes 9 cm at most, so that a straight way of 25 cm must not become one waypoint; and the place where
    the object stands is none."""
    del world.blocks["blue block"]
    start, goal = world.blocks["red block"].copy(), np.array([-0.15, 0.1, HALF])
    done = run("red block", affordance=target(goal))
    np.testing.assert_allclose([waypoint[2] for waypoint in done.waypoints], start[2], atol=0.005)
    assert all(waypoint[0] < start[0] - 0.03 for waypoint in done.waypoints)
    homes = sum(np.array_equal(pose.position, [0, 0, 0.4]) for pose in world.poses)
    assert homes == len(done.waypoints) >= 3
    assert np.linalg.norm(world.blocks["red block"] - goal) < 2 * REACHED


def test_an_object_that_is_there_is_left_alone(world: Workbench, run: Callable[..., Execution]) -> None:
    done = run("red block", affordance=target(world.blocks["red block"]))
    assert done.motions == 0 and not world.poses


def test_an_object_out_of_sight_in_between_is_a_failure_of_perception(
    world: Workbench, run: Callable[..., Execution]
) -> None:
    world.unreachable = lambda position: bool(world.hidden.add("red block"))
    with pytest.raises(PerceptionFailure, match="red block"):
        run("red block", affordance=target((-0.3, 0.1, HALF)))


def waypoints(path: np.ndarray, speeds: list[float] | None = None) -> list[Waypoint]:
    speeds = speeds or [1.0] * len(path)
    return [Waypoint(Pose(point, DOWN), speed) for point, speed in zip(path, speeds, strict=True)]


def test_a_straight_path_is_its_end() -> None:
    path = np.linspace([0, 0, 0], [30, 20, 10], 25)
    assert straightened(path, waypoints(path)) == [24]
    assert straightened(path[:1], waypoints(path[:1])) == [0]
    assert straightened(path[:2], waypoints(path[:2])) == [1]


def test_corners_and_changes_of_speed_are_kept() -> None:
    corner = np.array([[x, 0.0, 0] for x in range(10)] + [[9, y, 0.0] for y in range(1, 10)])
    kept = straightened(corner, waypoints(corner))
    assert kept[-1] == 18 and any(8 <= index <= 10 for index in kept) and len(kept) <= 4
    line = np.linspace([0, 0, 0], [20, 0, 0], 21)
    kept = straightened(line, waypoints(line, [1.0] * 10 + [0.5] * 11))
    assert kept == [9, 20]


def test_no_point_of_a_bent_path_lies_far_from_what_is_kept() -> None:
    angle = np.linspace(0, 2, 60)
    arc = 30 * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    corners = arc[[0, *straightened(arc, waypoints(arc))]]
    assert len(corners) < 20
    dense = np.concatenate([np.linspace(a, b, 50) for a, b in pairwise(corners)])
    for point in arc:
        assert np.linalg.norm(dense - point, axis=1).min() < 0.6
