import numpy as np
import pytest

from envs.mujoco import panda
from envs.mujoco.control import FASTEST
from envs.mujoco.kinematics import angle_between
from envs.tabletop.setting import SETTING
from harness.failures import MotionFailure, SimulatorError, StepLimit
from harness.protocols import Pose

DOWN = np.array([0.0, 1.0, 0.0, 0.0])


def down(yaw):
    return np.array([0.0, np.cos(yaw / 2), np.sin(yaw / 2), 0.0])


def up(height):
    return np.array([0.0, 0.0, height])


def go(env, position, quaternion=DOWN, speed=1.0):
    return env.move(Pose(np.array(position, float), np.array(quaternion, float)), speed)


@pytest.fixture
def env(scene):
    return scene("push_button", 0)


def test_moves_end_within_four_millimetres(env):
    rng = np.random.default_rng(0)
    for target in rng.uniform([0.08, -0.3, 0.9], [0.4, 0.3, 1.2], (15, 3)):
        yaw = rng.uniform(-1.5, 1.5)
        motion = go(env, target, down(yaw))
        assert motion.reached
        assert motion.reason == ""
        assert motion.position_error < 0.004
        assert np.linalg.norm(env.pose().position - target) == pytest.approx(motion.position_error)
        assert angle_between(env.pose().quaternion, down(yaw)) < 0.02


def test_the_tool_stays_on_the_straight_line(env):
    start, end = np.array([0.35, 0.25, 1.0]), np.array([0.15, -0.25, 0.9])
    go(env, start)
    along = (end - start) / np.linalg.norm(end - start)
    off = []

    def watch():
        here = env.pose().position - start
        off.append(np.linalg.norm(here - (here @ along) * along))

    env.on_control_step = watch
    go(env, end)
    assert max(off) < 0.008


def test_a_path_of_small_waypoints_is_quick_and_accurate(env):
    go(env, [0.3, 0.2, 0.95])
    begin = env.steps()
    points = [[0.3, 0.2 - 0.02 * i, 0.95 + 0.01 * np.sin(i / 3)] for i in range(1, 21)]
    errors = [go(env, point).position_error for point in points]
    seconds = (env.steps() - begin) / env.control_hz
    assert seconds < 4.0, "0.4 m in small steps should take little longer than in one"
    assert max(errors) < 0.008
    assert errors[-1] < 0.004


def test_speed_is_a_factor_and_is_cut_to_its_limits(env):
    steps = {}
    for speed in (0.5, 1.0, FASTEST, 1000.0):
        go(env, [0.3, 0.2, 1.0])
        before = env.steps()
        assert go(env, [0.3, -0.2, 1.0], speed=speed).reached
        steps[speed] = env.steps() - before
    assert steps[0.5] > 1.7 * steps[1.0] > 1.7 * steps[FASTEST]
    assert steps[1000.0] == steps[FASTEST]


@pytest.mark.parametrize("opening", [1.0, 0.0])
@pytest.mark.parametrize("degrees", [90, 180, -90, -180, 150, -150, 30])
def test_the_gripper_turns_about_its_own_axis(scene, opening, degrees):
    env = scene("push_button", 1)
    go(env, [0.3, 0.0, 1.0])
    env.set_gripper(opening)
    quaternion = down(np.radians(degrees))
    motion = go(env, [0.3, 0.0, 1.0], quaternion)
    assert motion.reached
    assert motion.position_error < 0.004
    assert angle_between(env.pose().quaternion, quaternion) < 0.03
    joints = env.world.arm
    assert (joints > np.array(panda.LOWER) - 0.01).all()
    assert (joints < np.array(panda.UPPER) + 0.01).all()


def test_a_closed_gripper_really_turns_and_an_open_one_may_take_the_other_half(scene):
    env = scene("push_button", 1)
    env.set_gripper(0.0)
    before = env.world.tool_quaternion
    go(env, [0.3, 0.0, 1.0], down(-np.pi / 2))
    go(env, [0.3, 0.0, 1.0], down(np.pi / 3))
    assert angle_between(env.world.tool_quaternion, down(np.pi / 3)) < 0.03
    assert angle_between(before, env.world.tool_quaternion) == pytest.approx(np.pi / 3, abs=0.05)


def test_home_brings_the_joints_back(env):
    go(env, [0.3, -0.2, 0.9], down(2.0))
    env.set_gripper(0.0)
    assert env.home().reached
    assert env.world.arm == pytest.approx(SETTING.home, abs=0.02)
    assert env.gripper() == 0.0


@pytest.mark.parametrize(
    ("position", "quaternion", "speed", "complaint"),
    [
        ([0.3, 0.0], DOWN, 1.0, "position"),
        ([0.3, 0.0, 1.0, 0.0], DOWN, 1.0, "position"),
        ([[0.3, 0.0, 1.0]], DOWN, 1.0, "position"),
        ([0.3, 0.0, 1.0], [1.0, 0.0, 0.0], 1.0, "quaternion"),
        ([0.3, np.nan, 1.0], DOWN, 1.0, "not finite"),
        ([0.3, np.inf, 1.0], DOWN, 1.0, "not finite"),
        ([0.3, 0.0, 1.0], [0.0, np.nan, 0.0, 0.0], 1.0, "not finite"),
        ([0.3, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0], 1.0, "zero length"),
        ([0.3, 0.0, 1.0], DOWN, 0.0, "speed"),
        ([0.3, 0.0, 1.0], DOWN, -1.0, "speed"),
        ([0.3, 0.0, 1.0], DOWN, np.nan, "speed"),
        ([0.3, 0.0, 1.0], DOWN, "fast", "speed"),
        (None, DOWN, 1.0, "position"),
        (["a", "b", "c"], DOWN, 1.0, "position"),
    ],
)
def test_malformed_moves_are_refused_and_change_nothing(env, position, quaternion, speed, complaint):
    steps, joints = env.steps(), env.world.arm
    with pytest.raises(MotionFailure, match=complaint):
        env.move(Pose(position, quaternion), speed)
    assert env.steps() == steps
    assert (env.world.arm == joints).all()


@pytest.mark.parametrize("opening", [np.nan, np.inf, 5.0, -1.0, "open", None])
def test_malformed_openings_are_refused(env, opening):
    with pytest.raises(MotionFailure, match="from 0 to 1"):
        env.set_gripper(opening)
    assert env.gripper() == 1.0


def test_a_quaternion_of_any_length_is_a_direction(env):
    assert go(env, [0.3, 0.0, 1.0], 7.0 * down(0.5)).reached
    assert angle_between(env.pose().quaternion, down(0.5)) < 0.02


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ([0.3, 0.0, 0.5], "outside the workspace"),
        ([-0.6, 0.0, 1.0], "outside the workspace"),
        ([9.0, 0.0, 1.0], "outside the workspace"),
        ([0.74, 0.49, 0.8], "no posture"),
    ],
)
def test_unreachable_targets_are_reported_and_leave_the_scene_alone(env, target, why):
    block, here = env.world.position("block"), env.pose().position
    motion = go(env, target)
    assert not motion.reached
    assert why in motion.reason
    assert motion.position_error == pytest.approx(np.linalg.norm(here - target), abs=0.002)
    assert env.world.position("block") == pytest.approx(block, abs=1e-4)
    assert go(env, [0.3, 0.0, 1.0]).reached


def test_the_corners_of_the_workspace_are_inside_it(env):
    for corner in (env.workspace[0], env.workspace[1]):
        assert "outside" not in go(env, corner).reason


def test_the_table_stops_the_arm_and_the_arm_recovers(env):
    # Clear of button and block: what is in the way is the table.
    motion = go(env, [0.05, 0.35, env.workspace[0][2]])
    assert not motion.reached
    assert "held up" in motion.reason or "in the way" in motion.reason
    assert 0.002 < motion.position_error < 0.03
    assert go(env, [0.05, 0.35, 0.9]).position_error < 0.004


def test_a_wall_of_the_scene_stops_a_move_early(scene):
    env = scene("open_drawer", 0)
    behind = env.world.position("cabinet") + np.array([0.1, 0.0, 0.25])
    motion = go(env, behind)
    assert not motion.reached
    assert env.steps() < 150
    assert env.home().reached


def test_the_step_limit_ends_the_trial_exactly(env):
    limit = 1500

    def wander():
        while True:
            go(env, [0.3, 0.2, 1.0])
            go(env, [0.3, -0.2, 1.0])

    with pytest.raises(StepLimit, match="1500"):
        wander()
    assert env.steps() == limit
    for again in (lambda: go(env, [0.3, 0.2, 1.0]), env.home, lambda: env.set_gripper(0.0)):
        with pytest.raises(StepLimit):
            again()
    assert env.steps() == limit


def test_nonsense_in_a_loop_runs_into_the_step_limit(env):
    def insist():
        for _ in range(2000):
            go(env, [9.0, 9.0, 9.0])

    with pytest.raises(StepLimit):
        insist()


def test_the_hook_is_called_after_each_control_step(env):
    seen = []
    env.on_control_step = lambda: seen.append(env.steps())
    go(env, [0.3, 0.1, 1.0])
    env.set_gripper(0.0)
    assert seen == list(range(1, env.steps() + 1))


def test_a_broken_state_is_the_simulators_fault(env):
    env.world.data.qvel[0] = np.nan
    with pytest.raises(SimulatorError, match="not finite"):
        go(env, [0.3, 0.1, 1.0])


def test_the_gripper_opens_eight_centimetres_and_repeats_for_free(env):
    width = 2 * env.world.fingers
    assert width == pytest.approx([0.08, 0.08], abs=1e-3)
    steps = env.steps()
    assert env.set_gripper(0.8).reached
    assert env.steps() == steps
    assert env.set_gripper(0.0).reached
    assert env.world.fingers == pytest.approx([0.0, 0.0], abs=1e-3)
    assert env.gripper() == 0.0
    assert env.set_gripper(1.0).reached
    assert env.world.fingers.sum() == pytest.approx(0.08, abs=1e-3)


def test_contact_alone_lifts_a_block_and_drops_it(scene):
    env = scene("push_button", 3)
    world = env.world
    block = world.position("block")
    rotation = world.rotation("block")
    yaw = (np.arctan2(rotation[1, 0], rotation[0, 0]) + np.pi / 4) % (np.pi / 2) - np.pi / 4
    go(env, block + up(0.1), down(yaw))
    go(env, block, down(yaw), speed=0.5)
    assert not world.grasping()
    env.set_gripper(0.0)
    assert world.grasping()
    assert world.grasped("block")
    assert not world.grasping_fixture()
    go(env, block + up(0.2), down(yaw))
    assert world.position("block")[2] == pytest.approx(block[2] + 0.2, abs=0.01)
    env.home()
    assert world.grasped("block")
    go(env, block + up(0.1), down(yaw))
    env.set_gripper(1.0)
    go(env, block + up(0.3), down(yaw))
    assert world.position("block")[2] == pytest.approx(block[2], abs=0.01)
    assert world.model.neq == 1, "the only equality constraint couples the fingers"


def test_a_handle_is_not_dragged_off_its_rail(scene):
    env = scene("open_drawer", 2)
    world = env.world
    handle = world.position("middle_handle")
    inward = world.rotation("cabinet")[:, 0]
    # Forward-pointing gripper whose fingers open up and down.
    x = np.cross([0.0, 0.0, 1.0], inward)
    from scipy.spatial.transform import Rotation

    grip = Rotation.from_matrix(np.stack([x, [0.0, 0.0, 1.0], inward], axis=1)).as_quat(scalar_first=True)
    go(env, handle - 0.1 * inward, grip)
    go(env, handle, grip)
    env.set_gripper(0.0)
    assert world.grasping_fixture()
    go(env, handle - [0.0, 0.3, 0.0], grip)
    assert world.joint("middle_drawer") < 0.1
    assert np.linalg.norm(world.position("middle_handle") - handle) < 0.15


def test_an_orientation_beyond_the_joints_is_missed_a_little_and_said_so(env):
    forward = np.array([np.cos(np.pi / 4), 0.0, np.sin(np.pi / 4), 0.0])
    motion = go(env, [0.3, 0.0, 1.035], forward)
    assert motion.reached
    assert motion.position_error < 0.004
    missed = angle_between(env.pose().quaternion, forward)
    assert 0.02 < missed < 0.21
    assert f"{np.degrees(missed):.0f} degrees off" in motion.reason
