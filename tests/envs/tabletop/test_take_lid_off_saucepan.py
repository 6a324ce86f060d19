"""The lid has to be held and to be 8 cm up; neither is enough by itself."""

import numpy as np
import pytest

from envs.tabletop.setting import TABLE_TOP
from harness.protocols import Pose

TASK = "take_lid_off_saucepan"
DOWN = np.array([0.0, 1.0, 0.0, 0.0])
KNOB = np.array([0.0, 0.0, 0.032])


def up(height):
    return np.array([0.0, 0.0, height])


def go(env, position):
    return env.move(Pose(np.asarray(position, float), DOWN))


def grasp(env, offset=KNOB):
    place = env.world.position("lid") + offset
    go(env, place + up(0.1))
    go(env, place)
    env.set_gripper(0.0)
    assert env.world.grasped("lid")
    return env.world.tool_position


def test_lid_rests_centred_on_the_rim_with_its_knob_at_the_grasp_height(scene):
    for index in range(3):
        world = scene(TASK, index).world
        lid = world.position("lid")
        assert lid[:2] == pytest.approx(world.position("saucepan")[:2], abs=0.002)
        assert lid[2] == pytest.approx(TABLE_TOP + 0.068, abs=0.001)
        assert lid[2] + 0.032 == pytest.approx(0.853, abs=0.002)
        assert world.geom_position("lid_sensor")[2] == pytest.approx(0.968)
        assert not world.sees("lid_sensor", "lid")


def test_a_lid_that_is_lifted_a_little_does_not_count_yet(scene):
    env = scene(TASK, 0)
    place = grasp(env)
    go(env, place + up(0.07))
    assert not env.verdict().success
    go(env, place + up(0.09))
    verdict = env.verdict()
    assert (verdict.success, verdict.holds) == (True, True)


def test_a_lid_at_the_sensor_that_nobody_holds_does_not_count(scene):
    world = scene(TASK, 1).world
    x, y, _ = world.position("lid")
    world.put("lid", x, y, TABLE_TOP + 0.20)
    world.step()
    assert world.sees("lid_sensor", "lid")
    assert not world.grasped("lid")
    assert not world.succeeded


def test_holding_the_lid_where_it_is_does_not_count(scene):
    env = scene(TASK, 2)
    grasp(env)
    assert not env.verdict().success


def test_the_lid_carried_aside_low_does_not_count(scene):
    env = scene(TASK, 3)
    place = grasp(env)
    go(env, place + up(0.04))
    side = -0.2 if place[1] > 0 else 0.2
    go(env, place + np.array([0.0, side, 0.04]))
    assert env.world.grasped("lid")
    assert not env.verdict().success


@pytest.mark.parametrize("offset", [(0.008, 0.0, 0.030), (0.0, 0.015, 0.030), (0.0, 0.0, 0.014)])
def test_a_grasp_that_is_a_little_off_does(scene, offset):
    """The last one aims at the middle of the whole lid instead of the knob's."""
    env = scene(TASK, 4)
    place = grasp(env, np.array(offset))
    go(env, place + up(0.12))
    assert env.verdict().success


def test_the_lid_handle_is_part_of_the_lid(scene):
    parts = scene(TASK, 0).world.parts
    assert set(parts["lid handle"]) < set(parts["lid"])
    assert not set(parts["lid"]) & set(parts["saucepan"])
