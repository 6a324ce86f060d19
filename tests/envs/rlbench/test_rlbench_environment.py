"""The adapter against a fake of RLBench's contract: what it makes of scenes, names, motions, verdicts and faults."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from envs.rlbench import RLBench, package
from envs.rlbench.simulator import Simulator
from harness.failures import (
    MotionFailure,
    PerceptionFailure,
    ResetError,
    SimulatorError,
    StepLimit,
    UsageError,
)
from harness.protocols import Pose
from harness.seeding import Seeds
from harness.testing.conformance import check_environment

DOWN = np.array([0.0, 1.0, 0.0, 0.0])
"""wxyz of a tool that points down."""
UP = np.array([0.0, 0.0, 1.0])


def at(env, scene_object: str) -> np.ndarray:
    """Where the fake has an object."""
    return env.simulator.pose_of(scene_object).position


def go(env, position, speed: float = 1.0):
    return env.move(Pose(np.array(position, float), DOWN), speed)


def reset(env, task: str, index: int = 0, trial: int = 0):
    return env.reset(task, index, Seeds("rlbench", task, index, 0, trial))


def test_it_keeps_the_contract_of_environments(config) -> None:
    check_environment(config, "rlbench")


# Tasks and wordings


def test_the_suite_is_the_nine_and_others_by_their_name(config) -> None:
    assert [task.name for task in config.suite()] == list(package.NINE)
    more = RLBench(tasks=["reach_target", "push_button", "reach_target"])
    assert [task.name for task in more.suite()] == [*package.NINE, "reach_target"]
    with pytest.raises(UsageError, match=r"has no task 'reach_targte'\. Did you mean reach_target"):
        RLBench(tasks=["reach_targte"]).suite()


def test_wordings_are_counted_in_the_package_and_filled_by_the_reset(scene, rlbench) -> None:
    task = {task.name: task for task in RLBench(tasks=["reach_target"]).suite()}
    assert task["lamp_off"].instructions == ("{instruction}", "{paraphrase 1}", "{paraphrase 2}")
    assert task["reach_target"].instructions == ("{instruction}",)  # its list is put together
    words = reset(rlbench, "lamp_off").variation
    said = [text.format_map(words) for text in task["lamp_off"].instructions]
    assert said == ["turn off the light", "make it dark", "press the light's button"]


def test_scenes_draw_their_variation_and_say_it(rlbench) -> None:
    drawn = {reset(rlbench, "push_button", index).variation["instruction"] for index in range(24)}
    assert drawn == {f"push the {colour} button" for colour in ("maroon", "green", "blue", "teal")}
    numbers = {reset(rlbench, "open_drawer", index).variation["variation"] for index in range(12)}
    assert numbers == {"0", "1", "2"}


def test_fewer_wordings_than_the_file_shows_are_told(rlbench, monkeypatch) -> None:
    import rlbench.tasks.lamp_off as module

    monkeypatch.setattr(module.LampOff, "init_episode", lambda self, index: ["turn off the light"])
    with pytest.raises(ResetError, match="words lamp_off in 1 ways here and in 3 in its file"):
        reset(rlbench, "lamp_off")


# Scenes and seeds


def test_a_scene_hangs_on_nothing_but_its_seed(rlbench) -> None:
    first = reset(rlbench, "push_button", 0).state_hash
    places = at(rlbench, "push_button_target")
    np.random.seed(7)
    reset(rlbench, "lamp_off", 3)
    go(rlbench, [0.3, 0.1, 1.2])
    np.random.random(100)
    again = reset(rlbench, "push_button", 0)
    assert again.state_hash == first and again.attempts == 1
    assert np.array_equal(at(rlbench, "push_button_target"), places)
    assert reset(rlbench, "push_button", 1).state_hash != first


def test_a_placement_that_fails_is_drawn_again(rlbench, faults) -> None:
    faults.placements = 2
    reset_to = reset(rlbench, "push_button")
    assert reset_to.attempts == 3
    assert reset(rlbench, "push_button", trial=1).state_hash == reset_to.state_hash
    faults.placements = 99
    with pytest.raises(ResetError, match="could not reset push_button: Could not place the task"):
        reset(rlbench, "push_button")


def test_a_scene_that_comes_out_otherwise_is_asked_for_again(rlbench, faults) -> None:
    """RLBench's planner, which decides whether a placement is within reach, cannot be seeded."""
    first = reset(rlbench, "push_button")
    faults.shifts = 2
    second = reset(rlbench, "push_button", trial=1)
    assert (second.state_hash, second.attempts) == (first.state_hash, 3)


def test_an_unknown_task_is_told(rlbench) -> None:
    with pytest.raises(UsageError, match="has no task 'make_tea'"):
        reset(rlbench, "make_tea")


def test_nothing_works_before_the_first_reset(rlbench) -> None:
    with pytest.raises(RuntimeError, match="reset it first"):
        rlbench.verdict()


# Names and what is seen


def test_a_name_shows_what_its_visual_children_show(scene) -> None:
    env = scene("put_rubbish_in_bin")
    assert env.objects() == ["bin", "rubbish", "tomato1", "tomato2"]
    cloud = env.cloud("Rubbish.")
    assert np.abs(cloud.points - at(env, "rubbish")).max() < 0.03
    assert np.allclose(np.linalg.norm(cloud.normals, axis=1), 1)
    top = cloud.points[:, 2] > cloud.points[:, 2].max() - 0.001
    assert cloud.normals[top].mean(axis=0)[2] > 0.7


def test_what_has_a_name_of_its_own_is_not_part_of_what_it_hangs_on(scene) -> None:
    env = scene("take_lid_off_saucepan")
    lid = at(env, "saucepan_lid_grasp_point")[2]
    pan, whole, handle = (env.cloud(name).points[:, 2] for name in ("saucepan", "lid", "lid handle"))
    assert pan.max() < lid - 0.01
    assert whole.min() < lid - 0.01 and whole.max() > lid
    assert handle.min() >= lid - 0.005 and handle.max() == pytest.approx(whole.max(), abs=0.003)


def test_a_part_is_cut_out_in_the_frame_of_its_object(scene) -> None:
    env = scene("open_drawer", 2)
    drawer = env.simulator.pose_of("drawer_middle")
    ahead = env.cloud("middle drawer handle").points - drawer.position
    assert (ahead[:, 2] >= 0.169 - 1e-9).all()  # the fake's drawers stand upright
    env = scene("take_umbrella_out_of_umbrella_stand")
    with pytest.raises(PerceptionFailure, match="no camera sees 'umbrella handle' now"):
        env.cloud("umbrella handle")  # inside the stand


def test_names_of_other_tasks_are_found_in_their_scene(scene) -> None:
    env = scene("reach_target")
    assert env.objects() == ["target", "distractor0", "tall cup"]
    assert np.abs(env.cloud("tall cup").points - at(env, "tall_cup")).max() < 0.06


def test_gripper_and_table_are_seen_by_any_of_their_names(scene) -> None:
    env = scene("push_button")
    hand = at(env, "Panda_gripper")
    assert np.abs(env.cloud("hand").points - hand).max() < 0.08
    table = env.cloud("work surface").points
    assert np.abs(table[:, 2] - 0.752).max() < 0.006 and np.ptp(table[:, 0]) > 0.5


@pytest.mark.parametrize("name", ["blue mug", "", None, "but ton"])
def test_an_unknown_name_is_told_with_the_known_ones(scene, name) -> None:
    with pytest.raises(PerceptionFailure, match="'button', 'button base'"):
        scene("push_button").cloud(name)


def test_the_surroundings_leave_out_the_robot_and_what_it_holds(scene) -> None:
    env = scene("take_lid_off_saucepan")
    grasp = at(env, "saucepan_lid_grasp_point")
    go(env, grasp)
    env.set_gripper(0)
    go(env, grasp + 0.15 * UP)

    def near(cloud) -> int:
        middle = at(env, "saucepan_lid_grasp_point")
        return int((np.abs(cloud.points - middle).max(axis=1) < 0.13).sum())

    with_all, without = env.scene_cloud(ignore_robot=False), env.scene_cloud(ignore_grasped=True)
    assert near(with_all) > near(env.scene_cloud()) > near(without)
    low, high = env.workspace
    assert (with_all.points >= low).all() and (with_all.points <= high).all()


def test_a_view_frames_what_the_camera_sees(scene) -> None:
    env = scene("push_button")
    view = env.view("right_shoulder")
    assert view.image.shape == (64, 64, 3) and view.gripper == 1.0
    boxes = {mark.name: mark.box for mark in view.marks}
    assert {"button", "button base"} <= set(boxes)
    (left, top, right, bottom), outer = boxes["button"], boxes["button base"]
    assert outer[0] < (left + right) / 2 < outer[2] and outer[1] - 3 < (top + bottom) / 2 < outer[3]
    assert right - left < outer[2] - outer[0]
    assert np.array_equal(env.render("front"), env.render("front"))
    with pytest.raises(UsageError, match="has no camera 'left'; it has front, left_shoulder"):
        env.render("left")


# Motions


def test_poses_are_wxyz_here_and_xyzw_at_the_border(scene) -> None:
    env = scene("push_button")
    quaternion = np.array([0.5, 0.1, -0.7, 0.5])
    quaternion /= np.linalg.norm(quaternion)
    moved = env.move(Pose(np.array([0.3, 0.1, 1.2]), 3.0 * quaternion))
    assert moved.reached and moved.position_error < 1e-9
    assert abs(env.pose().quaternion @ quaternion) == pytest.approx(1)
    from pyrep.objects.object import Object

    x, y, z, w = Object("Panda_tip").get_pose()[3:]
    assert abs(np.array([w, x, y, z]) @ quaternion) == pytest.approx(1)


@pytest.mark.parametrize(
    ("position", "reason"),
    [([9, 0, 1], "the target is outside of workspace"), ([0.7, 0.6, 1.7], "no path was found")],
)
def test_a_target_out_of_reach_is_a_motion_that_did_not_reach(scene, position, reason) -> None:
    env = scene("push_button")
    start = env.pose().position
    moved = go(env, position)
    assert (moved.reached, moved.reason) == (False, reason)
    assert moved.position_error == pytest.approx(np.linalg.norm(start - position))
    assert env.steps() == 1  # a program that commands nothing else comes to an end
    assert go(env, [0.3, 0, 1.2]).reached


@pytest.mark.parametrize(
    ("pose", "told"),
    [
        (Pose(np.zeros(2), DOWN), r"not \(2,\) and \(4,\)"),
        (Pose(np.full(3, np.nan), DOWN), "not finite"),
        (Pose(np.zeros(3), np.zeros(4)), "zero length"),
        (Pose("here", DOWN), "of numbers"),
    ],
)
def test_a_malformed_pose_is_the_methods_failure(scene, pose, told) -> None:
    env = scene("push_button")
    with pytest.raises(MotionFailure, match=told):
        env.move(pose)
    assert env.steps() == 0


@pytest.mark.parametrize("speed", [0, -1, float("nan"), "fast"])
def test_a_malformed_speed_is_the_methods_failure(scene, speed) -> None:
    with pytest.raises(MotionFailure, match="the speed is a positive number"):
        go(scene("push_button"), [0.3, 0, 1.2], speed)


def test_speed_is_a_factor_on_the_arms_and_does_not_stay(scene) -> None:
    env = scene("push_button")
    counts = []
    for speed, position in (
        (1, [0.3, 0, 1.0]),
        (0.5, [0.3, 0, 1.4]),
        (1, [0.3, 0, 1.0]),
        (99, [0.3, 0, 1.4]),
    ):
        before = env.steps()
        go(env, position, speed)
        counts.append(env.steps() - before)
    assert counts[1:] == [20, 10, 4]


def test_a_motion_that_is_blocked_says_how_far_it_came(scene, faults) -> None:
    env = scene("push_button")
    faults.blocked = True
    moved = go(env, [0.28, -0.01, 1.07])
    assert not moved.reached
    assert moved.reason == "the arm was held up: it stopped 200 mm from the target"


def test_home_is_the_pose_after_the_reset_and_keeps_the_gripper(scene) -> None:
    env = scene("push_button")
    home = env.pose()
    env.set_gripper(0)
    go(env, [0.3, 0.2, 1.0])
    assert env.home().reached and env.gripper() == 0
    assert np.allclose(env.pose().position, home.position)


def test_gripper_steps_count_and_are_judged(scene) -> None:
    """RLBench's gripper mode steps past the scene's callback."""
    env = scene("push_button")
    called = []
    env.on_control_step = lambda: called.append(env.steps())
    assert env.set_gripper(0.2).reached and env.gripper() == 0.0
    assert called == [1, 2, 3, 4, 5] and env.steps() == 5
    assert env.set_gripper(0.4).reached and env.steps() == 5  # it is closed
    assert env.set_gripper(0.8).reached and env.gripper() == 1.0


def test_fingers_that_do_not_open_are_told(scene, faults) -> None:
    env = scene("push_button")
    env.set_gripper(0)
    faults.jammed = True
    opened = env.set_gripper(1)
    assert (opened.reached, opened.reason) == (False, "the fingers could not open")


@pytest.mark.parametrize("opening", [5.0, -0.1, float("nan"), "open", None])
def test_an_opening_that_is_none_is_refused_though_rlbench_takes_it(scene, opening) -> None:
    with pytest.raises(MotionFailure, match="a number from 0 to 1"):
        scene("push_button").set_gripper(opening)


# Verdicts


def test_success_is_kept_when_the_condition_passes(scene) -> None:
    env = scene("push_button")
    button = at(env, "target_button_topPlate")
    go(env, button + 0.2 * UP)
    assert not env.verdict().success
    pushed = go(env, button - 0.01 * UP)
    assert pushed.reached
    assert env.verdict().success and env.verdict().holds
    go(env, button + 0.2 * UP)
    verdict = env.verdict()
    assert verdict.success and not verdict.holds and verdict.subtasks_done == 1


def test_a_motion_that_ends_because_the_task_succeeds_has_not_missed(scene) -> None:
    env = scene("push_button")
    button = at(env, "target_button_topPlate")
    go(env, button + 0.2 * UP)
    through = go(env, button - 0.015 * UP, speed=0.5)
    assert through.reached and env.verdict().success
    assert through.reason == "the task succeeded on the way" and through.position_error > 0.01
    scene("push_button")
    assert not env.verdict().success


def test_a_fail_condition_is_told_and_kept(scene) -> None:
    env = scene("beat_the_buzz")
    wand = at(env, "wand")
    go(env, wand)
    env.set_gripper(0)
    go(env, wand - 0.1 * UP)
    assert env.verdict().failed and not env.verdict().success
    go(env, wand + 0.25 * UP)
    verdict = env.verdict()
    assert verdict.failed and verdict.holds and not verdict.success


def test_the_lid_is_grasped_and_lifted(scene) -> None:
    env = scene("take_lid_off_saucepan")
    grasp = at(env, "saucepan_lid_grasp_point")
    go(env, grasp)
    assert env.set_gripper(0).reached
    go(env, grasp + 0.2 * UP)
    assert env.verdict().success


# Limits and faults


def test_steps_are_limited(config, monkeypatch) -> None:
    monkeypatch.setattr(package, "STEP_LIMIT", 12)
    env = config.open()
    try:
        reset(env, "push_button")
        with pytest.raises(StepLimit, match="12 control steps"):
            go(env, [0.28, -0.01, 0.8])
        assert env.steps() == 12
        assert env.pose().position[2] == pytest.approx(env.simulator.observe().pose.position[2])
        with pytest.raises(StepLimit):
            env.set_gripper(0)
        assert env.steps() == 12
        reset(env, "push_button")
        assert env.steps() == 0
    finally:
        env.close()


def test_a_simulator_that_dies_is_told_and_started_anew(scene, faults) -> None:
    env = scene("push_button")
    first = env.pose().position
    faults.dies_after = 3
    with pytest.raises(SimulatorError, match=r"RuntimeError: The call failed on the V-REP side"):
        go(env, [0.3, 0, 1.0])
    faults.heal()
    from rlbench.environment import Environment

    assert Environment.launches == 1
    scene("push_button")
    assert Environment.launches == 2
    assert np.allclose(env.pose().position, first)
    assert go(env, [0.3, 0, 1.0]).reached


def test_a_pose_that_is_not_finite_is_the_simulators_fault(scene, faults) -> None:
    env = scene("push_button")
    faults.not_finite = True
    with pytest.raises(SimulatorError, match="pose is not finite"):
        go(env, [0.3, 0, 1.0])
    faults.heal()
    scene("push_button")
    assert go(env, [0.3, 0, 1.0]).reached


def test_there_is_one_simulator_a_process(rlbench, config) -> None:
    with pytest.raises(SimulatorError, match="in this process already; close it first"):
        config.open()
    rlbench.close()
    second = config.open()
    reset(second, "push_button")
    second.close()


def test_a_shutdown_that_fails_is_a_warning(config, faults) -> None:
    env = config.open()
    faults.bad_shutdown = True
    with pytest.warns(RuntimeWarning, match="did not shut down cleanly: it will not go"):
        env.close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env.close()


def test_a_launch_that_fails_leaves_room_for_the_next(config, monkeypatch) -> None:
    monkeypatch.setenv("FAKE_LAUNCH", "library")
    with pytest.raises(SimulatorError, match="CoppeliaSim could not be started: ImportError: libavcodec"):
        Simulator()
    monkeypatch.delenv("FAKE_LAUNCH")
    Simulator().close()


def test_rows_name_the_simulator(rlbench) -> None:
    info = rlbench.info()
    assert info["simulator"] == "CoppeliaSim_Edu_V4_1_0" and info["rlbench"]


def test_a_config_can_be_rebuilt() -> None:
    assert replace(RLBench(tasks=["push_button"]), scenes=2).scenes == 2
