"""The task API that programs get: what is in it, what it gives, whose mistake a bad argument is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.failures import CodeFailure, PerceptionFailure
from harness.protocols import Motion, Pose
from harness.seeding import Seeds
from methods.lmp.interface import TaskInterface, call_record, described
from methods.lmp.prompt import Request
from methods.lmp.values import LazyMap, LazyObservation, Observations
from methods.voxels.grid import Grid
from methods.voxels.maps import RotationMap, ValueMap
from methods.voxels.observation import observe
from tests.methods.conftest import World

GRID = Grid.over(World.workspace)
DOWN = [0.0, 1.0, 0.0, 0.0]
SIDE = [0.0, 0.0, 1.0, 0.0]
ASKED = Request("parse_query_obj", "it.")


@dataclass
class Bench:
    """An interface on a small world, with what it counted and traced."""

    world: World
    counted: Counter[str]
    events: list[dict[str, Any]]
    api: dict[str, Callable[..., Any]]

    def lazy(self, name: str) -> LazyObservation:
        return LazyObservation(ASKED, lambda: observe(self.world, GRID, name))

    def target(self, voxel: tuple[int, int, int]) -> Any:
        made = self.api["get_empty_affordance_map"]()
        made[voxel] = 1
        return made


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    world, counted, events = World(tmp_path), Counter[str](), []  # type: World, Counter[str], list[dict[str, Any]]
    world.reset("lift", 0, Seeds("world", "lift", 0, 0))
    made = TaskInterface(
        world,
        lambda event, times=1: counted.update({event: times}),
        lambda event, **data: events.append({"event": event, **data}),
    )
    assert made.objects() == ["red block", "blue block"]
    return Bench(world, counted, events, made.reading() | made.acting())


def test_the_api_is_the_one_of_the_contract(bench: Bench) -> None:
    """Every name between backquotes in the contract's section, but for `np` and the calls of other programs.
    `vec2quat`, which public examples call and nothing binds (fact page A6.2), is not among them."""
    contract = (Path(__file__).parents[3] / "docs" / "contracts.md").read_text(encoding="utf-8")
    listed = contract.partition("## Task API of programs")[2].partition("; the planner calls")[0]
    names = {part.partition("(")[0] for part in listed.split("`")[1::2]} - {"np"}
    assert len(names) == 17
    assert set(bench.api) == names


def test_the_effector_is_where_the_pose_says(bench: Bench) -> None:
    bench.world.tool = Pose(np.array([0.1, -0.2, 0.4]), np.array(DOWN))
    np.testing.assert_array_equal(bench.api["get_ee_pos"](), [59, 30, 40])
    np.testing.assert_array_equal(bench.api["detect"]("gripper").position, [59, 30, 40])


def test_detect_looks_now_and_names_what_it_does_not_find(bench: Bench) -> None:
    found = bench.api["detect"]("blue block")
    np.testing.assert_array_equal(found.position, [69, 30, 2])
    bench.world.blocks["blue block"] = np.array([0.0, 0.3, 0.2])
    np.testing.assert_array_equal(bench.api["detect"](name="blue block").position[1:], [79, 20])
    np.testing.assert_array_equal(found.position, [69, 30, 2])
    with pytest.raises(PerceptionFailure, match="no object named 'mug'; known: red block, blue block"):
        bench.api["detect"]("mug")
    bench.world.hidden.add("red block")
    with pytest.raises(PerceptionFailure, match="no camera sees 'red block'"):
        bench.api["detect"]("red block")


@pytest.mark.parametrize(("kind", "value"), [("affordance", 0.0), ("avoidance", 0.0), ("velocity", 1.0)])
def test_empty_maps_hold_the_default(bench: Bench, kind: str, value: float) -> None:
    made = bench.api[f"get_empty_{kind}_map"]()
    assert isinstance(made, ValueMap)
    assert made.shape == (100, 100, 100)
    assert (np.asarray(made) == value).all()
    made[1, 2, 3] = 9
    assert np.asarray(bench.api[f"get_empty_{kind}_map"]()).max() == value  # each call gives a new one


@pytest.mark.parametrize("opening", [0.0, 1.0])
def test_an_empty_gripper_map_holds_the_last_command(bench: Bench, opening: float) -> None:
    bench.world.set_gripper(opening)
    made = bench.api["get_empty_gripper_map"]()
    assert isinstance(made, ValueMap)
    assert (np.asarray(made) == opening).all()


def test_an_empty_rotation_map_holds_the_orientation_of_now(bench: Bench) -> None:
    before = bench.api["get_empty_rotation_map"]()
    bench.world.tool = Pose(bench.world.tool.position, np.array(SIDE))
    after = bench.api["get_empty_rotation_map"]()
    assert isinstance(after, RotationMap)
    assert after.shape == (100, 100, 100, 4)
    np.testing.assert_array_equal(before[0, 50, 99], DOWN)
    np.testing.assert_array_equal(after[0, 50, 99], SIDE)


def test_what_maps_forgive_is_counted_for_the_trial(bench: Bench) -> None:
    bench.api["get_empty_affordance_map"]()[150, 2, 3] = 1
    bench.api["get_empty_gripper_map"]()[1.5, 2, 3] = 1
    bench.api["get_empty_rotation_map"]()[1, -4, 3] = DOWN
    assert bench.counted == {"map: index clamped": 2, "map: index rounded": 1}


def test_geometry_is_that_of_the_environments_grid(bench: Bench) -> None:
    """One metre in 99 voxels: 10 cm are 9.9 of them."""
    assert bench.api["cm2index"](10, "z") == 10
    assert bench.api["cm2index"](30, "x") == 30
    assert bench.api["cm2index"](60, "y") == 59
    assert bench.api["index2cm"](99, "x") == pytest.approx(100)
    made = bench.api["get_empty_avoidance_map"]()
    assert bench.api["set_voxel_by_radius"](made, [50, 50, 50], radius_cm=60, value=1) is made
    made = bench.api["get_empty_avoidance_map"]()
    bench.api["set_voxel_by_radius"](made, [10, 20, 30], radius_cm=2, value=0.5)
    assert np.asarray(made).sum() == 0.5 * 5**3
    assert made[8, 22, 28] == 0.5 and made[7, 22, 28] == 0


def test_pointing_starts_from_the_orientation_of_now(bench: Bench) -> None:
    np.testing.assert_allclose(bench.api["pointat2quat"]([0, 0, -1]), DOWN, atol=1e-12)
    bench.world.tool = Pose(bench.world.tool.position, np.array(SIDE))
    np.testing.assert_allclose(bench.api["pointat2quat"]([0, 0, -2]), SIDE, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("get_ee_pos", (1,), "takes 1 positional argument"),
        ("detect", (), "missing 1 required positional argument: 'name'"),
        ("detect", (["red block", "blue block"],), "unhashable"),
        ("cm2index", ("5cm", "z"), "could not convert string to float: '5cm'"),
        ("cm2index", (5, "up"), "the axis is 'up'"),
        ("cm2index", (float("inf"), "z"), "infinity"),
        ("cm2index", (float("nan"), "z"), "NaN"),
        ("index2cm", (5, [1, 0, 0]), "takes the axis x, y or z"),
        ("index2cm", ([1, 2], "z"), "multiply"),
        ("pointat2quat", ([0, 0, 0],), "zero length"),
        ("pointat2quat", ("up",), "could not convert"),
        ("euler2quat", (1,), "missing 2 required"),
        ("quat2euler", ([0, 0, 0, 0],), "zero length"),
        ("qinverse", (0,), "4 finite numbers"),
        ("qmult", ([1, 0, 0, 0], [1]), "4 finite numbers"),
        ("get_empty_affordance_map", (3,), "positional"),
        ("get_empty_rotation_map", ("down",), "positional"),
    ],
)
def test_arguments_that_cannot_be_used_are_the_programs_mistake(
    bench: Bench, name: str, arguments: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(CodeFailure, match=f"^{name}: .*{message}"):
        bench.api[name](*arguments)


@pytest.mark.parametrize("voxel", [None, "red block", [1, 2], [1, 2, float("nan")], [1, 2, 10**400]])
def test_a_box_around_what_is_no_voxel_is_the_programs_mistake(bench: Bench, voxel: Any) -> None:
    made = bench.api["get_empty_avoidance_map"]()
    with pytest.raises(CodeFailure, match=r"^set_voxel_by_radius: "):
        bench.api["set_voxel_by_radius"](made, voxel, 3, 1)
    assert not np.asarray(made).any()


def test_a_fault_of_the_environment_is_not_blamed_on_the_program(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("the simulator is gone")

    for name in ("cloud", "pose"):
        monkeypatch.setattr(bench.world, name, broken)
    for call in (lambda: bench.api["detect"]("red block"), bench.api["get_ee_pos"]):
        with pytest.raises(RuntimeError, match="gone"):
            call()


def test_execute_says_in_the_trace_what_it_did(bench: Bench) -> None:
    bench.world.goal = lambda world: world.tool.position[2] > 0.55
    lazy = LazyMap(Request("get_affordance_map", "up."), lambda: bench.target((50, 50, 60)))
    bench.api["execute"](bench.lazy("gripper"), lazy)
    (event,) = bench.events
    assert event["event"] == "motion"
    assert event["movable"] == "gripper"
    assert event["maps"] == ["<get_affordance_map of 'up.'>"]
    assert event["motions"] == len(bench.world.moves) >= 1
    np.testing.assert_allclose(event["waypoints"][-1], GRID.to_world([50, 50, 60]), atol=1e-4)
    assert (event["missed"], event["success"]) == ([], True)
    assert not bench.counted


def test_execute_goes_on_after_a_motion_that_missed(bench: Bench) -> None:
    """Fact page A6.5: the public code logs a failed motion as completed."""
    bench.world.unreachable = lambda position: True
    bench.api["execute"](bench.lazy("gripper"), bench.target((50, 50, 60)))
    (event,) = bench.events
    assert set(event["missed"]) == {"move: out of reach"}
    assert bench.counted == {"motion: not reached": len(event["missed"])}
    assert event["success"] is False


def test_the_maps_of_execute_by_position(bench: Bench) -> None:
    """movable, affordance, avoidance, rotation, velocity, gripper: the order of the public interface."""
    speeds: list[float] = []
    move = bench.world.move

    def noted(pose: Pose, speed: float = 1.0) -> Motion:
        speeds.append(speed)
        return move(pose, speed)

    bench.world.move = noted  # type: ignore[method-assign]
    api = bench.api
    rotation, velocity, gripper = (api[f"get_empty_{m}_map"]() for m in ("rotation", "velocity", "gripper"))
    rotation[...] = SIDE
    velocity[:] = 0.25
    gripper[:] = 0
    avoidance = api["get_empty_avoidance_map"]()
    api["execute"](bench.lazy("gripper"), bench.target((50, 50, 60)), avoidance, rotation, velocity, gripper)
    np.testing.assert_array_equal(bench.world.tool.quaternion, SIDE)
    assert set(speeds) == {0.25}
    assert bench.world.opening == 0.0


def test_maps_that_are_given_as_arrays_are_one_short_word_in_the_trace_and_count_nothing(
    bench: Bench,
) -> None:
    """NumPy's text of a map would be twenty lines and 324 clamped indices."""
    rotation = bench.api["get_empty_rotation_map"]()
    bench.api["execute"](bench.lazy("gripper"), bench.target((50, 50, 60)), rotation_map=rotation)
    assert bench.events[0]["maps"] == ["<array (100, 100, 100)>", "<RotationMap (100, 100, 100, 4)>"]
    assert not bench.counted


def test_maps_are_evaluated_when_the_plan_is_made_and_once(bench: Bench) -> None:
    runs: list[float] = []

    def evaluate() -> Any:
        runs.append(bench.world.tool.position[2])
        return bench.target((50, 50, 60))

    lazy = LazyMap(Request("get_affordance_map", "up."), evaluate)
    assert runs == []
    bench.api["execute"](bench.lazy("gripper"), affordance_map=lazy)
    assert runs == [0.4]


def test_of_several_movables_the_first_one_moves_and_that_is_counted(bench: Bench) -> None:
    both = Observations([bench.lazy("gripper"), bench.lazy("red block")])
    bench.api["execute"](both, bench.target((50, 50, 60)))
    assert bench.counted == {"execute: first of several movables": 1}
    assert bench.events[0]["movable"] == "gripper"
    assert bench.world.tool.position[2] == pytest.approx(0.606, abs=0.001)


def test_a_snapshot_is_looked_at_again(bench: Bench) -> None:
    """What moves is the thing, wherever it is by then, and not its picture."""
    snapshot = bench.api["detect"]("red block")
    bench.world.blocks["red block"] = np.array([-0.3, -0.1, 0.02])
    here = tuple(int(v) for v in GRID.to_voxel([-0.3, -0.1, 0.02]))
    bench.api["execute"](snapshot, bench.target(here))
    assert bench.events[0]["motions"] == 0  # it lies on its target already


@pytest.mark.parametrize("movable", ["gripper", None, 3, ["gripper"], np.zeros(3)])
def test_what_is_no_observation_cannot_be_moved(bench: Bench, movable: Any) -> None:
    with pytest.raises(
        CodeFailure, match=f"what parse_query_obj or detect gives.*not a {type(movable).__name__}$"
    ):
        bench.api["execute"](movable, bench.target((50, 50, 60)))
    assert bench.world.moves == []
    assert bench.events == []


def test_home_is_a_motion_that_can_miss(bench: Bench) -> None:
    bench.world.move(Pose(np.array([0.2, 0.2, 0.2]), np.array(DOWN)))
    bench.api["reset_to_default_pose"]()
    np.testing.assert_array_equal(bench.world.tool.position, [0.0, 0.0, 0.4])
    assert not bench.counted
    bench.world.unreachable = lambda position: True
    bench.api["reset_to_default_pose"]()
    assert bench.counted == {"motion: not reached": 1}
    assert bench.events == [
        {"event": "motion", "movable": "home", "missed": []},
        {"event": "motion", "movable": "home", "missed": ["out of reach"]},
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("red block", "'red block'"),
        (1.5, "1.5"),
        (np.array([1, 2, 3]), "array([1, 2, 3])"),
        (np.zeros((2, 2, 2)), "array([[[0., 0.], [0., 0.]], [[0., 0.], [0., 0.]]])"),
        (np.zeros(9), "<array (9,)>"),
        (np.zeros((100, 100, 100)), "<array (100, 100, 100)>"),
        ("x" * 118, f"'{'x' * 118}'"),
        ("x" * 119, f"'{'x' * 118}…"),
        pytest.param(10**5000, "<int>", id="more digits than Python writes"),
    ],
)
def test_values_are_described_in_one_short_line(value: Any, text: str) -> None:
    assert described(value) == text


def test_the_record_of_a_call() -> None:
    arguments = ("up", np.array([1, 2]))
    assert call_record(arguments, {"radius_cm": 3}) == ["'up'", "array([1, 2])", "radius_cm=3"]
