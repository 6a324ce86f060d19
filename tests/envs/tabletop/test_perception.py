"""What a method is told of the tabletop's objects: near the truth, repeatable, and a failure for what is hidden."""

import mujoco
import numpy as np
import pytest

from envs.tabletop import Tabletop
from envs.tabletop.setting import TABLE_TOP
from harness.failures import PerceptionFailure
from harness.protocols import Pose
from harness.seeding import Seeds

DOWN = np.array([0.0, 1.0, 0.0, 0.0])


def noisy(task="push_button", scene=0, seed=0, trial=0, noise=1.0):
    env = Tabletop(noise=noise).open()
    env.reset(task, scene, Seeds("tabletop", task, scene, seed, trial))
    return env


def test_a_block_is_seen_where_it_is(scene):
    for index in range(3):
        env = scene("push_button", index)
        cloud = env.cloud("block")
        away = np.abs((cloud.points - env.world.position("block")) @ env.world.rotation("block"))
        assert (away < 0.02 + 1e-6).all()
        assert cloud.points[:, 2].max() == pytest.approx(TABLE_TOP + 0.04, abs=1e-3)
        assert np.median(cloud.normals[cloud.points[:, 2] > TABLE_TOP + 0.039][:, 2]) > 0.9


def test_every_object_of_a_scene_is_seen_at_its_start(scene):
    for task in ("open_drawer", "beat_the_buzz", "lamp_off", "open_wine_bottle", "take_lid_off_saucepan"):
        env = scene(task, 1)
        for name in env.objects():
            assert len(env.cloud(name).points) >= 3, (task, name)


def test_hand_and_table_are_known_by_their_usual_names(scene):
    env = scene("push_button", 0)
    for name in env.effector_names:
        assert np.linalg.norm(env.cloud(name).points.mean(axis=0) - env.pose().position) < 0.15
    for name in env.surface_names:
        points = env.cloud(name).points
        assert points[:, 2].max() == pytest.approx(TABLE_TOP, abs=1e-6)


def test_what_is_hidden_is_a_failure_that_names_the_objects(scene):
    env = scene("push_button", 0)
    world = env.world
    world.put("block", 0.25, 0.0, TABLE_TOP - 0.2)
    mujoco.mj_forward(world.model, world.data)
    world.data.time += 0.004
    with pytest.raises(PerceptionFailure, match=r"'block'.*'button', 'block'"):
        env.cloud("block")
    assert len(env.cloud("button").points) >= 3


@pytest.mark.parametrize("name", ["drawer", "", "push_button", 7, None])
def test_what_is_not_there_is_a_failure_that_names_the_objects(scene, name):
    with pytest.raises(PerceptionFailure, match="'button', 'block'"):
        scene("push_button", 0).cloud(name)


def test_the_robot_and_what_it_holds_can_be_left_out_of_the_scene(scene):
    env = scene("push_button", 3)
    block = env.world.position("block")
    rotation = env.world.rotation("block")
    yaw = (np.arctan2(rotation[1, 0], rotation[0, 0]) + np.pi / 4) % (np.pi / 2) - np.pi / 4
    grip = np.array([0.0, np.cos(yaw / 2), np.sin(yaw / 2), 0.0])
    for height in (0.1, 0.0):
        env.move(Pose(block + np.array([0.0, 0.0, height]), grip))
    env.set_gripper(0.0)
    env.move(Pose(block + np.array([0.0, 0.0, 0.2]), grip))
    assert env.world.grasped("block")

    def near(cloud):
        return int((np.linalg.norm(cloud.points - env.world.position("block"), axis=1) < 0.04).sum())

    without_robot = env.scene_cloud()
    bare = env.scene_cloud(ignore_grasped=True)
    assert near(env.scene_cloud(ignore_robot=False)) > near(without_robot) > near(bare) == 0


def test_noise_is_repeated_by_equal_seeds_and_differs_between_trials_and_seeds():
    clouds = {}
    for key in ((0, 0), (0, 1), (1, 0)):
        env = noisy(seed=key[0], trial=key[1])
        clouds[key] = env.cloud("block").points
        env.close()
    again = noisy()
    assert (again.cloud("block").points == clouds[0, 0]).all()
    again.close()
    means = [points.mean(axis=0) for points in clouds.values()]
    assert all((abs(a - b) > 1e-5).any() for i, a in enumerate(means) for b in means[:i])


def test_noise_moves_an_object_by_millimetres():
    plain = noisy(noise=0.0)
    still = plain.cloud("block").points.mean(axis=0)
    plain.close()
    env = Tabletop().open()
    errors = []
    for trial in range(30):
        env.reset("push_button", 0, Seeds("tabletop", "push_button", 0, 0, trial))
        errors.append(env.cloud("block").points.mean(axis=0) - still)
    env.close()
    spread = np.std(errors, axis=0)
    assert (spread[:2] > 0.002).all()
    assert (spread[:2] < 0.008).all()
    assert 0.001 < spread[2] < 0.005
    assert np.abs(np.mean(errors, axis=0)).max() < 0.005
