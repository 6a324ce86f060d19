"""One action, one control step: the tool's true motion, the limits, and what an arm that cannot follow says."""

import numpy as np
import pytest

from envs.mujoco.kinematics import angle_between, turned_by
from envs.mujoco.setting import STEP_LIMITS
from envs.tabletop import Tabletop
from harness.failures import MotionFailure, StepLimit, UsageError
from harness.protocols import Actuation, Manipulation, Pose

REST = 15
"""Control steps after which the servos have caught up."""

DOWN = np.array([0.0, 1.0, 0.0, 0.0])


@pytest.fixture
def env(scene):
    return scene("push_button", 0)


def up(height):
    return np.array([0.0, 0.0, height])


def action(shift=(0, 0, 0), turn=(0, 0, 0), gripper=1.0):
    return np.array([*shift, *turn, gripper], float)


def drive(env, steps, *args, **kwargs):
    return [env.act(action(*args, **kwargs)) for _ in range(steps)]


def test_the_worlds_offer_actuation(env):
    assert Tabletop().interfaces() == (Manipulation, Actuation)
    assert isinstance(env, Actuation)
    assert env.action_limits == STEP_LIMITS == (0.02, 0.05)


@pytest.mark.parametrize("shift", [(0, 0.01, 0), (0, 0, -0.01), (0.006, -0.006, 0.005)])
def test_a_centimetre_a_step_for_twenty_steps_is_twenty_centimetres(env, shift):
    env.move(Pose(np.array([0.25, -0.1 * np.sign(shift[1]), 1.1]), DOWN))
    before, steps = env.pose(), env.steps()
    done = drive(env, 20, shift)
    assert env.steps() == steps + 20
    assert not any(step.clipped or step.held for step in done)
    # The tool trails by its servos' delay and no more.
    assert np.linalg.norm(env.pose().position - before.position - 20 * np.array(shift)) < 0.012
    drive(env, REST)
    after = env.pose()
    assert after.position - before.position == pytest.approx(20 * np.array(shift), abs=0.003)
    assert angle_between(after.quaternion, before.quaternion) < 0.01


@pytest.mark.parametrize("turn", [(0, 0, 0.04), (0, 0.03, 0), (0.03, 0, 0), (0.02, 0.01, -0.03)])
def test_turns_are_about_the_worlds_axes_through_the_tool(env, turn):
    env.move(Pose(np.array([0.25, 0.0, 1.1]), DOWN))
    before = env.pose()
    done = drive(env, 15, turn=turn)
    drive(env, REST)
    after = env.pose()
    assert not any(step.clipped or step.held for step in done)
    assert angle_between(after.quaternion, turned_by(before.quaternion, 15 * np.array(turn))) < 0.02
    assert after.position == pytest.approx(before.position, abs=0.003)


def test_full_speed_is_followed(env):
    env.move(Pose(np.array([0.25, -0.2, 1.1]), DOWN))
    start = env.pose().position
    done = drive(env, 20, (0, 0.02, 0))
    drive(env, REST)
    assert not any(step.clipped or step.held for step in done)
    assert env.pose().position - start == pytest.approx([0, 0.4, 0], abs=0.004)


def test_what_is_too_large_is_shortened_along_its_direction_and_told(env):
    start = env.pose().position
    done = drive(env, 5, (0, 0.3, 0.4))
    drive(env, REST)
    assert all(step.clipped for step in done)
    assert env.pose().position - start == pytest.approx([0, 0.06, 0.08], abs=0.003)
    before = env.pose().quaternion
    assert env.act(action(turn=(0, 0, -2.0))).clipped
    drive(env, REST)
    assert angle_between(env.pose().quaternion, before) == pytest.approx(0.05, abs=0.01)
    assert not env.act(action((0.02, 0, 0), (0, 0, 0.05))).clipped


def test_small_steps_do_not_drift(env):
    env.move(Pose(np.array([0.25, 0.0, 1.0]), DOWN))
    before = env.pose()
    for step in range(200):
        angle = 2 * np.pi * step / 50
        env.act(action((0.01 * np.cos(angle), 0.01 * np.sin(angle), 0), (0, 0, 0.03 * np.cos(angle))))
    drive(env, REST)
    after = env.pose()
    assert np.linalg.norm(after.position - before.position) < 0.003
    assert angle_between(after.quaternion, before.quaternion) < 0.01


def test_the_gripper_closes_and_opens_in_steps_while_the_arm_moves(env):
    assert env.observation()["gripper"] == pytest.approx([1.0], abs=0.02)
    start = env.pose().position
    drive(env, 1, (0, 0, -0.01), gripper=-1.0)
    assert 0.5 < env.observation()["gripper"][0] < 1.0
    drive(env, 19, (0, 0, -0.01), gripper=-1.0)
    assert env.observation()["gripper"] == pytest.approx([0.0], abs=0.03)
    assert env.gripper() == 0.0
    assert start[2] - env.pose().position[2] > 0.18
    drive(env, 20, gripper=0.01)
    assert env.observation()["gripper"] == pytest.approx([1.0], abs=0.03)
    assert env.gripper() == 1.0


def test_a_cube_is_grasped_and_lifted(env):
    block = env.world.position("block")
    rotation = env.world.rotation("block")
    yaw = np.arctan2(rotation[1, 0], rotation[0, 0])
    yaw = (yaw + np.pi / 4) % (np.pi / 2) - np.pi / 4
    above = Pose(block + up(0.1), np.array([0.0, np.cos(yaw / 2), np.sin(yaw / 2), 0.0]))
    assert env.move(above).reached
    drive(env, 10, (0, 0, -0.01))
    drive(env, 15, gripper=-1)
    assert 0.3 < env.observation()["gripper"][0] < 0.7
    drive(env, 15, (0, 0, 0.01), gripper=-1)
    drive(env, REST, gripper=-1)
    assert env.world.position("block")[2] - block[2] == pytest.approx(0.15, abs=0.01)


def test_an_arm_that_is_blocked_says_so_and_does_not_wind_up(scene):
    env = scene("open_drawer", 0)
    assert env.move(Pose(np.array([0.25, 0.0, 1.0]), DOWN)).reached
    done = drive(env, 60, (0.01, 0, 0), gripper=-1)
    assert done[-1].held == "something is in the way"
    assert not done[0].held
    touching = env.pose().position[0]
    assert touching < env.world.position("cabinet")[0]
    # However long it pushed, a few centimetres back are back.
    drive(env, 8, (-0.01, 0, 0), gripper=-1)
    drive(env, REST, gripper=-1)
    assert touching - env.pose().position[0] > 0.045


@pytest.mark.parametrize(
    ("shift", "reasons"),
    [
        ((0.0, 0.02, 0.0), {"the edge of the workspace", "the end of the arm's reach"}),
        ((0.02, 0.0, 0.02), {"the edge of the workspace", "the end of the arm's reach"}),
        ((-0.02, 0.0, 0.0), {"the edge of the workspace", "the end of the arm's reach"}),
    ],
)
def test_beyond_the_reach_nothing_winds_up(env, shift, reasons):
    done = drive(env, 100, shift)
    assert done[-1].held in reasons
    drive(env, REST)
    end = env.pose().position
    lower, upper = env.workspace
    assert ((end > lower - 0.01) & (end < upper + 0.01)).all()
    drive(env, 10, -np.array(shift) / 2)
    drive(env, REST)
    assert (env.pose().position - end) @ np.array(shift) / np.linalg.norm(shift) < -0.07


@pytest.mark.parametrize(
    "wrong",
    [
        np.zeros(6),
        np.zeros((1, 7)),
        [np.nan] * 7,
        [0, 0, np.inf, 0, 0, 0, 1],
        "forward",
        None,
        [[1, 2], [3]],
    ],
)
def test_a_malformed_action_is_a_motion_failure_and_moves_nothing(env, wrong):
    steps = env.steps()
    with pytest.raises(MotionFailure):
        env.act(wrong)
    assert env.steps() == steps


def test_the_step_limit_ends_it(env):
    with pytest.raises(StepLimit):
        drive(env, 1501)
    assert env.steps() == 1500


def test_motions_and_actions_can_be_mixed(env):
    drive(env, 10, (0, 0.01, 0))
    target = np.array([0.3, -0.1, 1.0])
    assert env.move(Pose(target, DOWN)).reached
    drive(env, 10, (0, 0, 0.01))
    drive(env, REST)
    assert env.pose().position == pytest.approx(target + up(0.1), abs=0.006)


def test_an_observation_is_the_robots_state_in_arrays_of_its_own(env):
    seen = env.observation()
    assert {name: (value.shape, value.dtype) for name, value in seen.items()} == {
        "tool": ((7,), np.float64),
        "gripper": ((1,), np.float64),
        "joints": ((7,), np.float64),
    }
    assert seen["tool"][:3] == pytest.approx(env.pose().position)
    assert seen["tool"][3:] == pytest.approx(env.pose().quaternion)
    assert seen["joints"] == pytest.approx(env.world.arm)
    before = {name: value.copy() for name, value in seen.items()}
    drive(env, 5, (0.01, 0, 0))
    assert all((seen[name] == before[name]).all() for name in seen)


def test_cameras_are_shown_when_asked_for(env):
    seen = env.observation(["front", "wrist"])
    assert (seen["rgb_front"].shape, seen["rgb_front"].dtype) == ((256, 256, 3), np.uint8)
    assert (seen["rgb_front"] != seen["rgb_wrist"]).any()
    with pytest.raises(UsageError, match="no camera 'side'"):
        env.observation(["side"])


def test_the_same_actions_give_the_same_motion_to_the_bit(scene):
    ends = []
    for _ in range(2):
        env = scene("push_button", 1)
        drive(env, 30, (0.003, 0.01, -0.002), (0, 0.01, 0.02), gripper=-1)
        ends.append(env.observation())
    assert all((ends[0][name] == ends[1][name]).all() for name in ends[0])
