"""The umbrella has to be out of the stand; lifted a little, or moved in it, it does not count."""

import numpy as np
import pytest

from envs.tabletop.setting import TABLE_TOP
from harness.protocols import Pose

TASK = "take_umbrella_out_of_umbrella_stand"
DOWN = np.array([0.0, 1.0, 0.0, 0.0])


def up(height):
    return np.array([0.0, 0.0, height])


def go(env, position):
    return env.move(Pose(np.asarray(position, float), DOWN))


def grasp(env):
    world = env.world
    grip = world.position("umbrella") + 0.24 * world.rotation("umbrella")[:, 2]
    go(env, grip + up(0.12))
    go(env, grip)
    env.set_gripper(0.0)
    assert world.grasped("umbrella")
    return world.tool_position


def test_it_leans_in_the_stand_with_its_handle_above_the_rim(scene):
    for index in range(4):
        world = scene(TASK, index).world
        axis = world.rotation("umbrella")[:, 2]
        assert 0.05 < np.linalg.norm(axis[:2]) < 0.25
        assert np.linalg.norm((world.position("umbrella") - world.position("stand"))[:2]) < 0.045
        assert (world.position("umbrella") + 0.19 * axis)[2] > TABLE_TOP + 0.15
        assert world.sees("stand_sensor", "umbrella")


@pytest.mark.parametrize("index", [0, 4])
def test_it_counts_when_its_tip_is_above_the_rim_and_not_before(scene, index):
    env = scene(TASK, index)
    rim = TABLE_TOP + 0.15
    place = grasp(env)
    for height in (0.06, 0.11, 0.13):
        go(env, place + up(height))
        assert env.world.position("umbrella")[2] < rim
        assert not env.verdict().success
    go(env, place + up(0.165))
    assert env.world.grasped("umbrella")
    assert env.world.position("umbrella")[2] > rim
    assert env.verdict().success


@pytest.mark.parametrize("angle", np.arange(0, 2 * np.pi, np.pi / 8))
def test_the_tip_along_the_wall_is_seen_up_to_the_rim(scene, angle):
    """38 mm off the middle, the tip touches the wall."""
    world = scene(TASK, 0).world
    x, y, _ = world.position("stand") + 0.038 * np.array([np.cos(angle), np.sin(angle), 0.0])
    for height, seen in ((0.145, True), (0.155, False)):
        world.put("umbrella", x, y, TABLE_TOP + height)
        world.refresh()
        assert world.sees("stand_sensor", "umbrella") == seen


def test_dropped_back_it_does_not_count(scene):
    env = scene(TASK, 1)
    place = grasp(env)
    go(env, place + up(0.05))
    env.set_gripper(1.0)
    env.home()
    assert not env.verdict().success


def test_tilting_it_in_the_stand_does_not_count(scene):
    env = scene(TASK, 2)
    world = env.world
    grip = world.position("umbrella") + 0.24 * world.rotation("umbrella")[:, 2]
    env.set_gripper(0.0)
    away = grip + np.array([0.0, 0.10, 0.0])
    go(env, away + up(0.1))
    go(env, away)
    go(env, away - np.array([0.0, 0.16, 0.0]))
    assert world.touching("stand", "umbrella")
    assert not env.verdict().success


def test_scenes_differ_and_names_are_parts(scene):
    places, leans = set(), set()
    for index in range(4):
        world = scene(TASK, index).world
        places.add(tuple(world.position("stand").round(4)))
        leans.add(tuple(world.rotation("umbrella")[:, 2].round(3)))
    assert len(places) == len(leans) == 4
    assert set(world.parts["umbrella handle"]) < set(world.parts["umbrella"])
    assert not set(world.parts["umbrella"]) & set(world.parts["umbrella stand"])


@pytest.mark.parametrize("offset", [(0.0, 0.015, 0.0), (0.006, 0.0, 0.01), (0.0, 0.0, -0.02)])
def test_a_grasp_that_is_a_little_off_does(scene, offset):
    env = scene(TASK, 3)
    world = env.world
    grip = world.position("umbrella") + 0.24 * world.rotation("umbrella")[:, 2] + offset
    go(env, grip + up(0.12))
    go(env, grip)
    env.set_gripper(0.0)
    go(env, grip + up(0.18))
    assert env.verdict().success
