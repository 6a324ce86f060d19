"""The rubbish has to lie in the bin; above it, beside it, or a tomato in it does not count."""

import numpy as np
import pytest

from envs.tabletop.setting import TABLE_TOP

TASK = "put_rubbish_in_bin"


def drop(world, name, position, seconds=0.8):
    """Let an object fall from a position."""
    world.put(name, *position)
    for _ in range(round(seconds / 0.004)):
        world.step()


def in_bin(world, x, y, z):
    """A point in the bin's frame, in the world's."""
    return world.position("bin") + world.rotation("bin") @ np.array([x, y, z])


@pytest.mark.parametrize("x", [-0.05, 0.0, 0.05])
def test_rubbish_that_falls_into_the_bin_counts(scene, x):
    world = scene(TASK, 0).world
    drop(world, "rubbish", in_bin(world, x, 0.03, 0.16))
    assert world.succeeded
    assert world.task.success(world)


def test_rubbish_above_the_bin_does_not_count(scene):
    world = scene(TASK, 1).world
    world.put("rubbish", *in_bin(world, 0, 0, 0.12))
    world.step()
    assert not world.succeeded


@pytest.mark.parametrize("offset", [(0.11, 0.0), (0.0, -0.12), (-0.11, 0.02)])
def test_rubbish_beside_the_bin_does_not_count(scene, offset):
    world = scene(TASK, 2).world
    drop(world, "rubbish", in_bin(world, *offset, 0.02))
    assert world.position("rubbish")[2] < TABLE_TOP + 0.05
    assert not world.succeeded


def test_a_tomato_in_the_bin_does_not_count(scene):
    world = scene(TASK, 3).world
    drop(world, "red_tomato", in_bin(world, 0, 0, 0.1))
    assert world.sees("bin_sensor", "red_tomato")
    assert not world.succeeded


def test_the_rubbish_changes_places_with_the_tomatoes(scene):
    """Which of the three lies in the middle differs from scene to scene."""
    middle = set()
    for index in range(8):
        world = scene(TASK, index).world
        places = {name: world.position(name)[:2] for name in ("rubbish", "red_tomato", "yellow_tomato")}
        centre = np.mean(list(places.values()), axis=0)
        middle.add(min(places, key=lambda name: np.linalg.norm(places[name] - centre)))
        apart = [np.linalg.norm(a - b) for a in places.values() for b in places.values() if a is not b]
        assert min(apart) > 0.07
    assert middle == {"rubbish", "red_tomato", "yellow_tomato"}


def test_the_bin_is_nowhere_near_what_lies_on_the_table(scene):
    for index in range(4):
        world = scene(TASK, index).world
        for name in ("rubbish", "red_tomato", "yellow_tomato"):
            assert np.linalg.norm((world.position("bin") - world.position(name))[:2]) > 0.15
        assert list(world.parts) == ["bin", "rubbish", "red tomato", "yellow tomato"]
