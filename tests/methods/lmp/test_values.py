"""Maps and observations that are evaluated again at each use, and what is handed out when nothing was found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.failures import CodeFailure, MethodFailure, PerceptionFailure
from harness.protocols import Pose
from harness.seeding import Seeds
from methods.lmp.prompt import Request
from methods.lmp.values import LazyMap, LazyObservation, Observations, observations
from methods.voxels.grid import Grid
from methods.voxels.observation import Observation, observe
from tests.methods.conftest import World

GRID = Grid.over(World.workspace)
ASKED = Request("parse_query_obj", "the red block.", "objects = ['red block', 'blue block']")
KNOWN = ["red block", "blue block"]


class Evaluation:
    """A lazy program: gives what it is told to and counts how often it ran."""

    def __init__(self, value: Callable[[], Any]) -> None:
        self.value = value
        self.runs = 0

    def __call__(self) -> Any:
        self.runs += 1
        return self.value()


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.reset("lift", 0, Seeds("world", "lift", 0, 0))
    return made


@pytest.fixture
def see(world: World) -> Callable[[str], Observation]:
    return lambda name: observe(world, GRID, name)


def test_a_map_is_evaluated_at_each_call_and_not_before() -> None:
    numbers = iter([3, 5])
    evaluate = Evaluation(lambda: next(numbers))
    lazy = LazyMap(Request("get_velocity_map", "half speed."), evaluate)
    assert evaluate.runs == 0
    assert [lazy(), lazy()] == [3, 5]
    assert repr(lazy) == "<get_velocity_map of 'half speed.'>"


def test_every_attribute_is_of_the_scene_as_it_is_then(
    world: World, see: Callable[[str], Observation]
) -> None:
    evaluate = Evaluation(lambda: see("red block"))
    lazy = LazyObservation(ASKED, evaluate)
    np.testing.assert_array_equal(lazy.position, [59, 59, 2])
    np.testing.assert_allclose(lazy.world_position, [0.1, 0.1, 0.02], atol=1e-12)
    assert lazy.occupancy_map[59, 59, 4] and not lazy.occupancy_map[59, 59, 20]
    world.blocks["red block"] = np.array([-0.1, 0.3, 0.2])
    np.testing.assert_array_equal(lazy.position, [40, 79, 20])
    np.testing.assert_allclose(lazy.world_position, [-0.1, 0.3, 0.2], atol=1e-12)
    np.testing.assert_array_equal(lazy.aabb, [[38, 77, 18], [42, 81, 22]])
    assert not lazy.occupancy_map[59, 59, 4] and lazy.occupancy_map[40, 79, 22]
    assert lazy.name == "red block"
    assert evaluate.runs == 10  # one for each attribute that was read
    assert repr(lazy) == "<observation of 'the red block.'>"


def test_the_normal_turns_with_the_gripper(world: World) -> None:
    lazy = LazyObservation(ASKED, lambda: observe(world, GRID, "gripper"))
    np.testing.assert_allclose(lazy.normal, [0, 0, -1], atol=1e-12)
    world.tool = Pose(world.tool.position, np.array([1.0, 0.0, 0.0, 0.0]))
    np.testing.assert_allclose(lazy.normal, [0, 0, 1], atol=1e-12)


def test_a_call_gives_a_snapshot(world: World, see: Callable[[str], Observation]) -> None:
    lazy = LazyObservation(ASKED, lambda: see("red block"))
    before = lazy()
    world.blocks["red block"] = np.array([-0.1, 0.3, 0.2])
    np.testing.assert_array_equal(before.position, [59, 59, 2])
    np.testing.assert_array_equal(lazy().position, [40, 79, 20])


@pytest.mark.parametrize("attribute", ["position", "aabb", "normal", "world_position", "occupancy_map"])
def test_arrays_are_copies(see: Callable[[str], Observation], attribute: str) -> None:
    """A program that changes what it read must not change an observation that something else holds."""
    kept = see("red block")
    lazy = LazyObservation(ASKED, lambda: kept)
    wanted = getattr(kept, attribute).copy()
    read = getattr(lazy, attribute)
    read[...] = 7
    np.testing.assert_array_equal(getattr(lazy, attribute), wanted)
    np.testing.assert_array_equal(getattr(kept, attribute), wanted)


@pytest.mark.parametrize(
    ("value", "kind"), [("red block", "str"), (None, "NoneType"), ([1], "list"), (np.ones(3), "ndarray")]
)
def test_what_is_no_observation_is_refused_at_its_use(value: Any, kind: str) -> None:
    lazy = LazyObservation(ASKED, lambda: value)
    with pytest.raises(
        CodeFailure, match=rf"`the red block\.` has to set ret_val to detect.*not to a {kind}$"
    ):
        lazy.position  # noqa: B018 - reading it is the test


@pytest.mark.parametrize("nothing", [None, [], ()])
def test_nothing_found_names_what_there_is(nothing: Any) -> None:
    """Case LMP-04: an empty list is handled, and the message has what was asked and what is known."""
    with pytest.raises(PerceptionFailure) as caught:
        observations(ASKED, lambda: nothing, KNOWN)
    assert str(caught.value) == (
        "nothing was found for `the red block.`; the scene has 'red block', 'blue block'"
    )


def test_one_thing_is_looked_for_once_to_know_that_it_is_one(see: Callable[[str], Observation]) -> None:
    evaluate = Evaluation(lambda: see("red block"))
    found = observations(ASKED, evaluate, KNOWN)
    assert isinstance(found, LazyObservation)
    assert evaluate.runs == 1
    assert found.name == "red block"
    assert evaluate.runs == 2


@pytest.mark.parametrize("value", ["red block", 3, {"red block": 1}, np.ones(3)])
def test_one_thing_that_is_no_observation_is_refused_at_once(value: Any) -> None:
    with pytest.raises(CodeFailure, match=f"not to a {type(value).__name__}"):
        observations(ASKED, lambda: value, KNOWN)


@pytest.mark.parametrize("kind", [list, tuple])
def test_several_things_are_a_sequence_of_lazy_ones(
    world: World, see: Callable[[str], Observation], kind: Callable[[Any], Any]
) -> None:
    found = observations(ASKED, lambda: kind([see("red block"), see("blue block")]), KNOWN)
    assert isinstance(found, Observations)
    assert len(found) == 2
    assert [item.name for item in found] == ["red block", "blue block"]
    assert found[-1].name == "blue block"
    with pytest.raises(IndexError):
        found[2]
    world.blocks["blue block"] = np.array([-0.1, 0.3, 0.2])
    np.testing.assert_array_equal(found[1].position, [40, 79, 20])
    np.testing.assert_array_equal(found[0].position, [59, 59, 2])


def test_a_list_of_one_stays_a_list(see: Callable[[str], Observation]) -> None:
    found = observations(ASKED, lambda: [see("red block")], KNOWN)
    assert isinstance(found, Observations)
    assert [item.name for item in found] == ["red block"]


@pytest.mark.parametrize("later", [["red"], [], None, "red block"])
def test_fewer_things_than_before_are_a_failure_of_perception(
    see: Callable[[str], Observation], later: Any
) -> None:
    values = iter([[see("red block"), see("blue block")]])
    found = observations(ASKED, lambda: next(values, later), KNOWN)
    assert isinstance(found, Observations)
    with pytest.raises(PerceptionFailure, match="fewer objects are seen now"):
        found[1].position  # noqa: B018 - reading it is the test


def test_an_item_that_is_no_observation_is_refused_when_it_is_used(see: Callable[[str], Observation]) -> None:
    found = observations(ASKED, lambda: [see("red block"), "blue block"], KNOWN)
    assert isinstance(found, Observations)
    assert found[0].name == "red block"
    with pytest.raises(CodeFailure, match="not to a str"):
        found[1].position  # noqa: B018 - reading it is the test


@pytest.mark.parametrize("failure", [PerceptionFailure("no camera sees it"), CodeFailure("line 1")])
def test_failures_of_the_program_come_out_as_they_are(failure: MethodFailure) -> None:
    def fail() -> Any:
        raise failure

    for use in (LazyMap(ASKED, fail), LazyObservation(ASKED, fail), lambda: observations(ASKED, fail, KNOWN)):
        with pytest.raises(type(failure)) as caught:
            use()
        assert caught.value is failure
