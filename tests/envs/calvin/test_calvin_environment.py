"""The real environment: scenes that repeat to the bit, what is seen, how the arm moves and what it says of it."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from envs.calvin import suite
from envs.calvin.control import WORKSPACE
from envs.calvin.parts import PARTS
from envs.calvin.simulator import Simulator
from envs.mujoco.noise import Noise
from harness.failures import MotionFailure, PerceptionFailure, SimulatorError, StepLimit, UsageError
from harness.protocols import Actuation, Manipulation, Pose, Sentence
from harness.seeding import Seeds

pytestmark = pytest.mark.calvin
PROJECT = Path(__file__).resolve().parents[3]
BLOCKS = {"red block": "block_red", "blue block": "block_blue", "pink block": "block_pink"}


def up(height):
    return np.array([0.0, 0.0, height])


def go(env, position, speed=1.0):
    return env.move(Pose(np.asarray(position, float), env.pose().quaternion), speed)


def angle(one, other):
    return 2 * np.arccos(min(1.0, abs(float(one @ other))))


def in_a_process_of_its_own(code: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True, timeout=1200
    )


# Scenes


def test_an_episode_repeats_to_the_bit(scene, calvin_expert):
    def episode():
        env = scene("lift_blue_block_table", 1)
        start = env.simulator.state_hash()
        calvin_expert.solve(env, "lift_blue_block_table")
        return start, env.steps(), env.simulator.state_hash(), env.verdict()

    first = episode()
    scene("move_slider_left", 0).set_gripper(0.0)
    assert episode() == first
    assert first[3].success


def test_another_process_meets_the_same_scene_and_nothing_is_printed(scene):
    here = [scene(task, 0).simulator.state_hash(task) for task in ("open_drawer", "turn_off_lightbulb")]
    done = in_a_process_of_its_own(
        "from envs.calvin import Calvin\n"
        "from harness.seeding import Seeds\n"
        "env = Calvin().open()\n"
        "hashes = [env.reset(task, 0, Seeds('x', task, 0, 7)).state_hash\n"
        "          for task in ('open_drawer', 'turn_off_lightbulb')]\n"
        "env.render('gripper'), env.set_gripper(0.0), env.close()\n"
        "del env\n"
        "print(*hashes)\n"
    )
    assert done.stdout.split() == here
    assert done.stderr == ""


@pytest.mark.slow
@pytest.mark.usefixtures("calvin")
def test_it_is_an_environment_as_the_protocol_wants_it():
    code = (
        "from envs.calvin import Calvin; from harness.testing.conformance import check_environment; "
        "check_environment(Calvin(), scenes=(0,))"
    )
    assert in_a_process_of_its_own(code).stdout == ""


def test_the_official_state_is_what_is_there(scene):
    env = scene("open_drawer", 0)
    chain = suite.goal(env._checkout, "open_drawer", 0).chain
    doors = env.simulator.info["scene_info"]["doors"]
    assert chain.condition["drawer"] == "closed"
    assert doors["base__drawer"]["current_state"] == pytest.approx(0.0, abs=0.002)
    slid = 0.28 if chain.condition["slider"] == "left" else 0.0
    assert doors["base__slide"]["current_state"] == pytest.approx(slid, abs=0.002)
    assert env.simulator.width() == pytest.approx(0.08, abs=0.002)
    assert not env.verdict().success and env.steps() == 0


def test_a_process_has_one_environment(calvin):
    with pytest.raises(SimulatorError, match="already"):
        Simulator(calvin._checkout)
    with pytest.raises(UsageError, match="no task 'fly'"):
        calvin.reset("fly", 0, Seeds("calvin", "fly", 0, 0))


def test_a_physics_that_has_ended_is_the_simulators_error(calvin):
    done = in_a_process_of_its_own(
        "from envs.calvin import Calvin\n"
        "from harness.failures import SimulatorError\n"
        "from harness.seeding import Seeds\n"
        "env = Calvin().open()\n"
        "seeds = Seeds('x', 'open_drawer', 0, 0)\n"
        "env.reset('open_drawer', 0, seeds)\n"
        "env.simulator.physics.disconnect()\n"
        "for act in (env.home, lambda: env.cloud('switch'), lambda: env.reset('open_drawer', 0, seeds)):\n"
        "    try:\n"
        "        act()\n"
        "    except SimulatorError as error:\n"
        "        print(error)\n"
        "env.close()\n"
    )
    assert (
        done.stdout.splitlines()
        == ["pybullet's physics has ended; the environment has to be opened anew"] * 3
    )
    assert done.stderr == ""


def test_rows_say_what_was_measured_on(calvin):
    info = calvin.info()
    assert info["simulator"] == "calvin" and info["pybullet"] == "3.2.7"
    assert len(info["calvin_env"]) == 12 or info["calvin_env"] == "unknown"


# Seeing


def test_blocks_are_seen_where_they_are(scene):
    env = scene("push_blue_block_left", 0)
    seen = [name for name in BLOCKS if _visible(env, name)]
    assert "blue block" in seen
    for name in seen:
        position, _ = env.simulator.link_pose(env.simulator.blocks[BLOCKS[name]], -1)
        cloud = env.cloud(name)
        middle = (cloud.points.min(axis=0) + cloud.points.max(axis=0)) / 2
        assert middle == pytest.approx(position, abs=0.008)
        assert np.linalg.norm(cloud.normals, axis=1) == pytest.approx(1.0)


def _visible(env, name) -> bool:
    try:
        return len(env.cloud(name).points) > 50
    except PerceptionFailure:
        return False


def test_fixtures_are_seen_at_their_measured_places(scene):
    env = scene("move_slider_left", 0)
    for name, place in {
        "drawer handle": (0.18, -0.246, 0.36),
        "switch": (0.30, 0.025, 0.53),
        "button": (-0.12, -0.12, 0.48),
        "led light": (-0.12, 0.16, 0.66),
        "light bulb": (0.30, 0.16, 0.67),
        "sliding door grip": (0.04, 0.02, 0.58),
    }.items():
        if name == "drawer handle":
            place = np.array(place) - [
                0.0,
                env.simulator.info["scene_info"]["doors"]["base__drawer"]["current_state"],
                0.0,
            ]
        if name == "switch":
            place = np.array(place) + env.simulator.info["scene_info"]["switches"]["base__switch"][
                "joint_state"
            ] * np.array([0, 0.5, 0.866])
        assert env.cloud(name).points.mean(axis=0) == pytest.approx(np.array(place), abs=0.02), name


def test_a_handle_is_seen_where_it_has_been_moved_to(scene, calvin_expert):
    env = scene("open_drawer", 0)
    before = env.cloud("drawer handle").points.mean(axis=0)
    calvin_expert.solve(env, "open_drawer")
    env.home()
    moved = env.cloud("drawer handle").points.mean(axis=0) - before
    joint = env.simulator.info["scene_info"]["doors"]["base__drawer"]["current_state"]
    assert joint > 0.12
    assert moved == pytest.approx([0.0, -joint, 0.0], abs=0.01)


def test_what_is_unknown_or_hidden_is_a_failure_of_perception(scene):
    env = scene("open_drawer", 2)
    for name in ("blue mug", "", None, 3):
        with pytest.raises(PerceptionFailure, match="'red block', 'blue block'"):
            env.cloud(name)
    assert len(env.cloud("Drawer_Handle. ").points) > 50
    env.simulator.physics.resetBasePositionAndOrientation(
        env.simulator.blocks["block_pink"], [0, 0, -3], [0, 0, 0, 1]
    )
    with pytest.raises(PerceptionFailure, match="no camera sees 'pink block'"):
        env.cloud("pink block")


def test_surroundings_leave_out_the_robot_and_what_it_holds(scene, calvin_expert):
    env = scene("lift_blue_block_table", 1)
    calvin_expert.solve(env, "lift_blue_block_table")
    position, _ = env.simulator.link_pose(env.simulator.blocks["block_blue"], -1)

    def near(cloud):
        return int((np.linalg.norm(cloud.points - position, axis=1) < 0.03).sum())

    everything = env.scene_cloud(ignore_robot=False)
    block = env.scene_cloud()
    nothing = env.scene_cloud(ignore_grasped=True)
    assert len(everything.points) > len(block.points) > len(nothing.points)
    assert near(block) > 20
    assert near(nothing) == 0
    assert (nothing.points >= WORKSPACE[0]).all() and (nothing.points <= WORKSPACE[1]).all()


def test_noise_depends_on_the_trial_and_is_off_at_zero(scene, calvin):
    env = scene("open_drawer", 0)
    exact = env.cloud("switch").points
    np.testing.assert_array_equal(env.cloud("switch").points, exact)
    perception = env._trial.perception
    clouds = []
    for seed in (1, 1, 2):
        noise = Noise(np.random.default_rng(seed), 4, list(PARTS), 1.0)
        perception._noise, perception._last = noise, None
        clouds.append(env.cloud("switch").points)
    np.testing.assert_array_equal(clouds[0], clouds[1])
    assert clouds[2].shape != clouds[0].shape or (clouds[2] != clouds[0]).any()
    for cloud in clouds:
        assert 0 < np.linalg.norm(cloud.mean(axis=0) - exact.mean(axis=0)) < 0.03


def test_pictures_are_calvins_and_views_name_what_is_seen(scene):
    env = scene("open_drawer", 0)
    assert env.cameras() == ("static", "gripper")
    assert env.render("static").shape == (200, 200, 3) and env.render("gripper").shape == (84, 84, 3)
    assert env.render("static").std() > 20
    with pytest.raises(UsageError, match="no camera 'front'"):
        env.view("front")
    view = env.view("static")
    names = [mark.name for mark in view.marks]
    assert {"drawer", "drawer handle", "sliding door", "switch", "gripper"} <= set(names)
    assert view.gripper == 1.0
    boxes = {mark.name: mark.box for mark in view.marks}
    left, top, right, bottom = boxes["drawer handle"]
    assert 0 <= left < right <= view.image.shape[1] and 0 <= top < bottom <= view.image.shape[0]
    assert top > boxes["sliding door"][1]


# Moving


def test_moves_end_at_their_targets_in_the_free_space(scene):
    env = scene("open_drawer", 0)
    assert isinstance(env, Manipulation) and isinstance(env, Actuation)
    rng = np.random.default_rng(0)
    for target in rng.uniform([-0.25, -0.4, 0.6], [0.3, -0.1, 0.7], (6, 3)):
        motion = go(env, target)
        assert motion.reached and motion.reason == ""
        assert motion.position_error < 0.006
        assert np.linalg.norm(env.pose().position - target) == pytest.approx(motion.position_error)


def test_orientations_are_reached_also_tilted_ones(scene, calvin_expert):
    env = scene("open_drawer", 0)
    start = env.pose().position
    for psi, tilt in ((0.0, 0.0), (np.pi, 0.0), (np.pi / 2, 0.7), (0.0, 0.7)):
        wanted = calvin_expert.down(psi, tilt)
        assert env.move(Pose(start, wanted)).reached
        assert angle(env.pose().quaternion, wanted) < 0.03


def test_what_cannot_be_reached_is_said(scene):
    env = scene("open_drawer", 0)
    outside = go(env, [0.0, -0.2, 1.5])
    assert not outside.reached and "workspace" in outside.reason and env.steps() == 1
    table = go(env, env.pose().position * [1, 1, 0] + [0.1, 0.11, 0.40])
    assert not table.reached and "in the way" in table.reason
    assert table.position_error > 0.02
    env.home()
    far = go(env, [0.46, 0.2, 0.8])
    assert not far.reached and "reach" in far.reason
    assert env.home().reached


def test_a_blocked_arm_does_not_wind_up(scene):
    env = scene("open_drawer", 0)
    go(env, [0.15, -0.12, 0.60])
    go(env, [0.15, -0.12, 0.34])
    blocked = env.pose().position
    before = env.steps()
    assert go(env, blocked + up(0.05)).reached
    assert env.steps() - before < 15
    for _ in range(20):
        held = env.act(np.array([0, 0, -0.02, 0, 0, 0, 1.0])).held
    assert held == "something is in the way"
    low = env.pose().position[2]
    for _ in range(8):
        env.act(np.array([0, 0, 0.02, 0, 0, 0, 1.0]))
    assert env.pose().position[2] > low + 0.06, "it would still be coming back from where it was sent"


@pytest.mark.parametrize(
    ("position", "quaternion"),
    [
        ([0, 0], [0, 1, 0, 0]),
        ([0, 0, np.nan], [0, 1, 0, 0]),
        ([0, 0, 0.6], [0, 0, 0, 0]),
        ([0, 0, 0.6], [0, 1, 0]),
        ("nowhere", [0, 1, 0, 0]),
    ],
)
def test_malformed_commands_are_failures_of_motion(scene, position, quaternion):
    env = scene("open_drawer", 0)
    with pytest.raises(MotionFailure):
        env.move(Pose(position, quaternion))
    assert env.steps() == 0


def test_other_malformed_commands(scene):
    env = scene("open_drawer", 0)
    for opening in (1.5, -0.1, "wide", float("nan"), None):
        with pytest.raises(MotionFailure):
            env.set_gripper(opening)
    for action in ([0, 0], [0, 0, 0, 0, 0, 0, np.inf], "left"):
        with pytest.raises(MotionFailure):
            env.act(action)
    with pytest.raises(MotionFailure):
        env.move(env.pose(), speed=0)
    assert env.steps() == 0


def test_speed_is_a_factor(scene):
    env = scene("open_drawer", 0)
    start = env.pose().position
    steps = []
    for speed in (1.0, 0.5):
        go(env, start)
        before = env.steps()
        go(env, start + np.array([0.2, 0, 0.05]), speed)
        steps.append(env.steps() - before)
    assert steps[1] > 1.5 * steps[0]


def test_the_gripper_closes_and_opens(scene):
    env = scene("open_drawer", 0)
    assert env.set_gripper(1.0).reached and env.steps() == 0
    assert env.set_gripper(0.2).reached and env.gripper() == 0.0
    assert env.observation()["gripper"] == pytest.approx([0.0], abs=0.05)
    assert env.set_gripper(0.9).reached and env.gripper() == 1.0
    assert env.observation()["gripper"] == pytest.approx([1.0], abs=0.1)


def test_steps_are_counted_watched_and_limited(scene):
    env = scene("open_drawer", 0)
    seen = []
    env.on_control_step = lambda: seen.append(env.steps())
    start = env.pose().position

    def go_on():
        while True:
            go(env, start + up(0.1))
            go(env, start)

    with pytest.raises(StepLimit, match="360 control steps"):
        go_on()
    assert env.steps() == 360
    assert seen == list(range(1, 361))


def test_relative_actions_add_up(scene):
    env = scene("open_drawer", 0)
    before = env.pose()
    for _ in range(10):
        taken = env.act(np.array([0.0, 0.0, 0.01, 0.0, 0.0, 0.03, 1.0]))
        assert not taken.clipped and taken.held == ""
    for _ in range(5):
        env.act(np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]))
    after = env.pose()
    assert after.position - before.position == pytest.approx(up(0.1), abs=0.004)
    turn = (
        Rotation.from_quat(np.roll(after.quaternion, -1))
        * Rotation.from_quat(np.roll(before.quaternion, -1)).inv()
    )
    assert turn.as_rotvec() == pytest.approx([0.0, 0.0, 0.3], abs=0.02)
    assert env.act(np.array([1.0, 0, 0, 0, 0, 0, 1.0])).clipped
    assert env.steps() == 16
    sensed = env.observation(["static"])
    assert sensed["rgb_static"].shape == (200, 200, 3)
    assert sensed["tool"].shape == (7,) and sensed["joints"].shape == (7,)


# Chains


def test_a_chain_goes_on_where_the_task_before_ended(calvin, calvin_expert, monkeypatch):
    checkout = calvin._checkout
    monkeypatch.setattr(calvin, "_tasks", {task.name: task for task in suite.as_tasks(checkout, "chains")})
    calvin.on_control_step = None
    index = next(i for i in range(200) if suite.goal(checkout, "chain", i).subtasks[:2] in _EASY)
    first, second = suite.goal(checkout, "chain", index).subtasks[:2]
    reset = calvin.reset("chain", index, Seeds("calvin", "chain", index, 0))
    assert list(reset.variation) == ["first", "second", "third", "fourth", "fifth"]
    assert calvin.verdict().subtasks == 5 and calvin.verdict().subtasks_done == 0
    assert calvin.next_sentence() == Sentence(first, reset.variation["first"])

    def go_on(task):
        calvin_expert.solve(calvin, task)
        calvin.home()

    with pytest.raises(StepLimit, match=f"of {first}, task 1 of 5, have ended: it is done"):
        go_on(first)
    steps = calvin.steps()
    assert calvin.verdict().subtasks_done == 1 and 0 < steps < 360
    assert calvin.next_sentence() == Sentence(second, reset.variation["second"])
    calvin.set_gripper(1.0)
    calvin.home()
    with pytest.raises(StepLimit, match="it is done"):
        go_on(second)
    verdict = calvin.verdict()
    assert verdict.subtasks_done == 2 and not verdict.success
    assert 0 < calvin.steps() - steps <= 360


@pytest.mark.slow
@pytest.mark.usefixtures("calvin")
def test_the_chains_are_an_environment_as_the_protocol_wants_it():
    code = (
        "from envs.calvin import Calvin; from harness.testing.conformance import check_environment; "
        "check_environment(Calvin(chosen_suite='chains'), scenes=(0, 1))"
    )
    assert in_a_process_of_its_own(code).stdout == ""


_EASY = {
    (first, second)
    for first in ("open_drawer", "turn_on_led", "turn_off_led", "move_slider_left", "move_slider_right")
    for second in ("open_drawer", "turn_on_led", "turn_off_led", "move_slider_left", "move_slider_right")
}
