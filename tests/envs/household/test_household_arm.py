"""The WidowX-250s: its published geometry, its reach, 10 Hz actions, and grasping by friction alone."""

import numpy as np
import pytest

from envs.household import widowx
from envs.household.setting import SETTING
from envs.mujoco.kinematics import Kinematics, angle_between, turned_by
from harness.protocols import Actuation, LongHorizon, Manipulation, Pose

DOWN = np.array([0.0, 0.0, 1.0, 0.0])


@pytest.fixture(scope="module")
def kinematics():
    return Kinematics(SETTING)


@pytest.fixture
def env(scene):
    return scene("rearrangement", 0)


def up(height):
    return np.array([0.0, 0.0, height])


def drive(env, steps, shift=(0, 0, 0), turn=(0, 0, 0), gripper=1.0):
    return [env.act(np.array([*shift, *turn, gripper], float)) for _ in range(steps)]


def test_the_links_are_as_long_as_the_published_ones(kinematics):
    # All joints at zero: the upper arm stands up, the forearm points ahead.
    position, _ = kinematics.pose(np.zeros(6))
    ahead = 0.04975 + 0.175 + 0.075 + 0.065 + widowx.TOOL_OFFSET
    assert position == pytest.approx([ahead, 0.0, 0.072 + 0.03865 + 0.25], abs=1e-9)
    turned, _ = kinematics.pose(np.array([np.pi / 2, 0, 0, 0, 0, 0]))
    assert turned == pytest.approx([0.0, ahead, 0.36065], abs=1e-9)
    stretched, _ = kinematics.pose(np.array([0, 0, -np.pi / 2, 0, 0, 0]))
    assert stretched == pytest.approx([0.04975, 0.0, 0.36065 + ahead - 0.04975], abs=1e-9)


def test_joint_limits_are_the_published_ones(env):
    for index, (low, high) in enumerate(zip(widowx.LOWER, widowx.UPPER, strict=True)):
        assert env.world.model.joint(f"joint{index + 1}").range == pytest.approx([low, high])
    assert np.degrees(widowx.UPPER) == pytest.approx([180, 114, 92, 180, 123, 180], abs=0.6)


@pytest.mark.parametrize("yaw", [0.0, np.pi / 2, 0.7])
@pytest.mark.parametrize(
    "place", [(0.12, 0.0, 0.02), (0.19, -0.2, 0.19), (0.36, 0.17, 0.02), (0.40, 0.1, 0.19)]
)
def test_the_whole_table_is_reached_from_above(kinematics, place, yaw):
    facing = turned_by(DOWN, np.array([0.0, 0.0, yaw]))
    goals = kinematics.goals(np.array(place), facing, np.array(SETTING.home))
    assert goals
    position, quaternion = kinematics.pose(goals[0])
    assert position == pytest.approx(place, abs=0.001)
    assert angle_between(quaternion, facing) < 0.01
    assert (goals[0] >= widowx.LOWER).all() and (goals[0] <= widowx.UPPER).all()


def test_it_is_driven_and_is_no_world_of_code_writing_methods(env):
    assert isinstance(env, Actuation) and isinstance(env, LongHorizon)
    assert not isinstance(env, Manipulation)
    assert env.control_hz == pytest.approx(10.0)
    assert env.action_limits == (0.02, 0.12)
    assert env.cameras() == ("third_person", "wrist")


def test_an_observation_has_six_joints_and_small_pictures(env):
    seen = env.observation(env.cameras())
    assert {name: value.shape for name, value in seen.items()} == {
        "rgb_third_person": (224, 224, 3),
        "rgb_wrist": (224, 224, 3),
        "tool": (7,),
        "gripper": (1,),
        "joints": (6,),
    }
    assert seen["joints"] == pytest.approx(SETTING.home, abs=0.01)
    assert seen["gripper"] == pytest.approx([1.0], abs=0.02)
    assert seen["tool"][:3] == pytest.approx(env.rest.position, abs=0.003)
    assert angle_between(seen["tool"][3:], env.rest.quaternion) < 0.01


def test_ten_actions_are_one_second_and_go_where_they_say(env):
    env.move(Pose(np.array([0.25, -0.10, 0.2]), DOWN))
    before, steps, time = env.pose(), env.steps(), env.world.data.time
    done = drive(env, 10, (0, 0.02, 0), (0, 0, 0.05))
    assert env.steps() == steps + 10
    assert env.world.data.time - time == pytest.approx(1.0)
    assert not any(step.clipped or step.held for step in done)
    drive(env, 5)
    after = env.pose()
    assert after.position - before.position == pytest.approx([0, 0.2, 0], abs=0.004)
    assert angle_between(after.quaternion, turned_by(before.quaternion, np.array([0, 0, 0.5]))) < 0.02


def test_ten_actions_are_followed_with_little_delay(env):
    env.move(Pose(np.array([0.25, -0.10, 0.2]), DOWN))
    start = env.pose().position
    drive(env, 10, (0, 0.02, 0))
    assert env.pose().position - start == pytest.approx([0, 0.2, 0], abs=0.01)


def test_motions_go_there_and_home(env):
    target = Pose(np.array([0.30, 0.12, 0.15]), turned_by(DOWN, np.array([0, 0, 0.8])))
    moved = env.move(target)
    assert moved.reached
    assert env.pose().position == pytest.approx(target.position, abs=0.004)
    assert env.set_gripper(0.0).reached
    assert env.gripper() == 0.0
    assert env.home().reached
    assert env.world.arm == pytest.approx(SETTING.home, abs=0.02)
    assert not env.move(Pose(np.array([0.3, 0.5, 0.1]), DOWN)).reached


@pytest.mark.parametrize("toy", range(3))
def test_a_toy_is_held_by_friction_and_let_go(env, toy):
    world = env.world
    name = [name for name in env.objects() if name.startswith("toy ")][toy]
    here, rotation = world.position(name), world.rotation(name)
    yaw = (np.arctan2(rotation[1, 0], rotation[0, 0]) + np.pi / 4) % (np.pi / 2) - np.pi / 4
    facing = turned_by(DOWN, np.array([0, 0, yaw]))
    grip = here + up(0.005)
    assert env.move(Pose(grip + up(0.1), facing)).reached
    assert env.move(Pose(grip, facing)).reached
    env.set_gripper(0.0)
    assert world.grasped(name)
    env.move(Pose(grip + up(0.15), facing))
    # Shaken, it stays.
    for _ in range(3):
        drive(env, 2, (0, 0.02, 0), gripper=-1)
        drive(env, 2, (0, -0.02, 0), gripper=-1)
    assert world.position(name)[2] - here[2] == pytest.approx(0.15, abs=0.01)
    assert world.grasped(name)
    env.set_gripper(1.0)
    drive(env, 5)
    assert not world.grasped(name)
    assert world.position(name)[2] < 0.05
