"""The UR5: its published geometry, its reach, its gripper, and grasping by friction alone."""

import numpy as np
import pytest

from envs.mujoco.kinematics import Kinematics, angle_between, turned_by
from envs.ur5_sim import Ur5Sim, ur5
from envs.ur5_sim.setting import SETTING
from harness.protocols import Actuation, Manipulation, Pose
from harness.testing import conformance

DOWN = np.array([0.0, 1.0, 0.0, 0.0])
TOOL = 0.0823 + ur5.TOOL_OFFSET


@pytest.fixture(scope="module")
def kinematics():
    return Kinematics(SETTING)


def up(height):
    return np.array([0.0, 0.0, height])


def test_the_links_are_as_long_as_the_published_ones(kinematics):
    """In the robot's own base frame, x and y have the other sign: there the flange is at (-0.81725, -0.19145, -0.00549)
    with all joints at zero."""
    position, _ = kinematics.pose(np.zeros(6))
    assert position == pytest.approx([0.425 + 0.39225, 0.10915 + TOOL, 0.089159 - 0.09465], abs=1e-6)
    upright, _ = kinematics.pose(np.array([0, -np.pi / 2, 0, -np.pi / 2, 0, 0]))
    assert upright == pytest.approx([0.0, 0.10915 + TOOL, 0.089159 + 0.425 + 0.39225 + 0.09465], abs=1e-6)
    turned, _ = kinematics.pose(np.array([np.pi / 2, 0, 0, 0, 0, 0]))
    assert turned == pytest.approx([-position[1], position[0], position[2]], abs=1e-6)


def test_at_home_the_gripper_points_down_with_its_fingers_at_its_sides(kinematics):
    position, quaternion = kinematics.pose(np.array(SETTING.home))
    assert position == pytest.approx([0.40, 0.0, 0.32], abs=0.001)
    assert angle_between(quaternion, DOWN) < 0.002


@pytest.mark.parametrize("yaw", [0.0, np.pi / 2, -0.7])
@pytest.mark.parametrize(
    "place", [(0.30, 0.0, 0.01), (0.65, 0.35, 0.01), (0.32, -0.35, 0.3), (0.6, 0.1, 0.35)]
)
def test_the_table_is_reached_from_above(kinematics, place, yaw):
    facing = turned_by(DOWN, np.array([0.0, 0.0, yaw]))
    goals = kinematics.goals(np.array(place), facing, np.array(SETTING.home))
    assert goals
    position, quaternion = kinematics.pose(goals[0])
    assert position == pytest.approx(place, abs=0.001)
    assert angle_between(quaternion, facing) < 0.01
    assert (np.abs(goals[0]) <= 2 * np.pi).all()


def test_the_gripper_opens_85_millimetres(scene):
    env = scene("rotate_box")
    assert env.world.fingers.sum() == pytest.approx(0.085, abs=0.001)
    assert env.set_gripper(0.0).reached
    assert env.world.fingers.sum() == pytest.approx(0.0, abs=0.002)
    assert env.set_gripper(1.0).reached
    assert env.world.fingers.sum() == pytest.approx(0.085, abs=0.003)


def test_motions_go_there_and_home_and_nowhere_else(scene):
    env = scene("move_object")
    assert isinstance(env, Manipulation) and isinstance(env, Actuation)
    assert env.control_hz == pytest.approx(25.0)
    target = Pose(np.array([0.50, 0.20, 0.25]), turned_by(DOWN, np.array([0, 0, 0.8])))
    assert env.move(target).reached
    assert env.pose().position == pytest.approx(target.position, abs=0.004)
    assert env.home().reached
    assert env.world.arm == pytest.approx(SETTING.home, abs=0.02)
    outside = env.move(Pose(np.array([0.5, 0.6, 0.1]), DOWN))
    assert (outside.reached, outside.reason) == (False, "the target lies outside the workspace")


@pytest.mark.parametrize("name", ["red box", "green block"])
def test_what_is_held_by_friction_stays_when_shaken_and_is_let_go(scene, name):
    env = scene("rotate_box", 3)
    world = env.world
    here, rotation = world.position(name), world.rotation(name)
    yaw = (np.arctan2(rotation[1, 0], rotation[0, 0]) + np.pi / 4) % (np.pi / 2) - np.pi / 4
    facing = turned_by(DOWN, np.array([0, 0, yaw]))
    assert env.move(Pose(here + up(0.12), facing)).reached
    assert env.move(Pose(here + up(0.005), facing)).reached
    env.set_gripper(0.0)
    assert world.grasped(name)
    env.move(Pose(here + up(0.2), facing))
    for side in (0.02, -0.02) * 4:
        env.act(np.array([0, side, 0, 0, 0, 0, -1.0]))
    assert world.position(name)[2] - here[2] == pytest.approx(0.195, abs=0.015)
    assert world.grasped(name)
    env.set_gripper(1.0)
    assert not world.grasped(name)


def test_it_is_an_environment_as_all_others():
    conformance.check_environment(Ur5Sim(renderer="rays"), "ur5_sim")
