"""The cap: tied to its thread up to 150 degrees, free from then on, and moved by the fingers alone."""

import numpy as np
import pytest

from envs.mujoco.kinematics import multiply
from envs.tabletop.setting import TABLE_TOP
from harness.protocols import Pose

TASK = "open_wine_bottle"


def up(height):
    return np.array([0.0, 0.0, height])


def turned(degrees):
    """Gripper down, turned clockwise as seen from above."""
    half = np.radians(degrees) / 2
    return multiply(np.array([0.0, 1.0, 0.0, 0.0]), np.array([np.cos(half), 0.0, 0.0, np.sin(half)]))


def go(env, position, degrees):
    return env.move(Pose(np.asarray(position, float), turned(degrees)))


def grasp(env, degrees):
    cap = env.world.position("cap")
    go(env, cap + up(0.1), degrees)
    go(env, cap, degrees)
    env.set_gripper(0.0)
    assert env.world.grasped("cap")
    return cap


def release(env, cap, degrees):
    env.set_gripper(1.0)
    go(env, cap + up(0.1), degrees)


def angle(world):
    """Degrees that the cap has turned, anticlockwise from above."""
    return np.degrees(world.joint("thread"))


def test_cap_is_where_the_original_has_it_and_rests(scene):
    for index in range(3):
        world = scene(TASK, index).world
        assert world.position("cap")[2] == pytest.approx(1.054, abs=0.001)
        assert world.position("cap")[:2] == pytest.approx(world.position("bottle")[:2], abs=5e-4)
        assert world.position("bottle")[2] == pytest.approx(TABLE_TOP)
        assert angle(world) == pytest.approx(0.0, abs=0.1)
        assert world.sees("cap_detector", "cap")


def test_pulling_alone_does_not_open_the_bottle(scene):
    env = scene(TASK, 0)
    cap = grasp(env, 0)
    go(env, cap + up(0.2), 0)
    assert np.linalg.norm(env.world.position("cap") - cap) < 0.003
    assert abs(angle(env.world)) < 20
    assert not env.verdict().success


def test_fingers_that_do_not_hold_the_cap_do_not_turn_it(scene):
    env = scene(TASK, 1)
    cap = env.world.position("cap")
    go(env, cap + up(0.1), 30)
    go(env, cap, 30)
    go(env, cap, -150)
    assert abs(angle(env.world)) < 1
    assert not env.verdict().success


def test_a_turn_of_less_than_150_degrees_leaves_it_tied(scene):
    env = scene(TASK, 2)
    cap = grasp(env, 30)
    go(env, cap, -50)
    go(env, cap, -112)
    assert 130 < angle(env.world) < 150
    go(env, cap + up(0.15), -112)
    assert np.linalg.norm(env.world.position("cap") - cap) < 0.003
    assert not env.verdict().success


@pytest.mark.parametrize("way", [1, -1])
def test_the_turns_of_two_grasps_add_up_in_either_direction(scene, way):
    env = scene(TASK, 3)
    for total in (90, 178):
        cap = grasp(env, way * 45)
        go(env, cap, -way * 45)
        if total == 90:
            assert way * angle(env.world) == pytest.approx(90, abs=6)
            release(env, cap, -way * 45)
            assert way * angle(env.world) == pytest.approx(90, abs=6)
    assert not env.verdict().success, "it is loose, and still on the bottle"
    go(env, cap + up(0.15), -way * 45)
    assert env.world.grasped("cap")
    assert env.world.position("cap")[2] == pytest.approx(cap[2] + 0.15, abs=0.01)
    assert env.verdict().success


def test_turning_to_and_fro_does_not_add_up(scene):
    env = scene(TASK, 4)
    cap = grasp(env, 45)
    for degrees in (-45, 45, -45, 45):
        go(env, cap, degrees)
    assert abs(angle(env.world)) < 10
    go(env, cap + up(0.15), 45)
    assert not env.verdict().success


def test_a_loose_cap_stays_on_the_bottle_until_it_is_taken(scene):
    env = scene(TASK, 5)
    cap = grasp(env, 30)
    go(env, cap, -60)
    go(env, cap, -150)
    release(env, cap, -150)
    assert np.linalg.norm(env.world.position("cap") - cap) < 0.003
    assert not env.verdict().success


@pytest.mark.parametrize(
    ("degrees", "loose"), [(149.5, False), (-149.5, False), (150.5, True), (-150.5, True)]
)
def test_the_thread_lets_go_at_150_degrees(scene, degrees, loose):
    world = scene(TASK, 6).world
    world.data.joint("thread").qpos[0] = np.radians(degrees)
    half = np.arctan2(*world.rotation("bottle")[[1, 0], 0]) / 2 + np.radians(degrees) / 2
    world.data.joint("cap").qpos[3:] = [np.cos(half), 0, 0, np.sin(half)]
    world.step()
    assert bool(world.data.eq_active[world.model.equality("thread").id]) is not loose
    # Pulled with fifty times its weight.
    world.data.xfrc_applied[world.model.body("cap").id, 2] = 15.0
    for _ in range(100):
        world.step()
    world.data.xfrc_applied[:] = 0
    assert world.succeeded is loose


def test_the_next_scene_has_a_tied_cap_again(scene):
    world = scene(TASK, 7).world
    world.data.joint("thread").qpos[0] = np.radians(170)
    world.step()
    assert "loose" in world.memo
    again = scene(TASK, 7).world
    assert "loose" not in again.memo
    assert again.data.eq_active[again.model.equality("thread").id]
    assert angle(again) == pytest.approx(0.0, abs=0.1)
