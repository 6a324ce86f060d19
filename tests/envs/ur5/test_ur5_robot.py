"""The adapter against a UR5 that is not there: frames, limits, stops, the operator's word."""

import os
import re
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from envs.commands import checked_opening
from envs.robots import operator as terminal
from envs.robots import stop
from envs.robots.rotations import from_vector, multiply, rotate, to_vector
from envs.ur5 import Ur5, gripper
from envs.ur5 import robot as robot_module
from envs.ur5.gripper import Robotiq
from envs.ur5_sim.setting import SETTING
from harness.failures import MotionFailure, PerceptionFailure, SimulatorError, StepLimit, UsageError
from harness.protocols import Manipulation, Pose
from tests.envs.ur5 import stub
from tests.terminal import without_echo

DOWN = np.array([0.0, 1.0, 0.0, 0.0])


def at(*position):
    return Pose(np.array(position, float), DOWN)


# Frames


def test_the_world_is_the_robots_frame_turned_by_half_a_turn(robot, arm):
    arm.pose = np.array([-0.5, -0.2, 0.1, *stub.DOWN])
    pose = robot.pose()
    assert pose.position == pytest.approx([0.5, 0.2, 0.1])
    # About the base's y by half a turn, seen from the world: about its x.
    assert abs(pose.quaternion @ DOWN) == pytest.approx(1.0)
    assert robot.move(at(0.45, -0.1, 0.2)).reached
    ((kind, target, *_),) = [entry for entry in arm.log if entry[0] == "moveL"]
    assert kind == "moveL"
    assert target[:3] == pytest.approx([-0.45, 0.1, 0.2])
    assert abs(from_vector(np.array(target[3:])) @ from_vector(np.array(stub.DOWN))) == pytest.approx(1.0)


@pytest.mark.parametrize("vector", [(0, 0, 0), (0.1, -2.0, 0.4), (0, 3.1, 0), (1e-9, 0, 0)])
def test_rotation_vectors_and_quaternions_are_the_same_turns(vector):
    quaternion = from_vector(np.array(vector, float))
    assert np.linalg.norm(quaternion) == pytest.approx(1.0)
    assert to_vector(quaternion) == pytest.approx(vector, abs=1e-12)
    assert to_vector(-quaternion) == pytest.approx(vector, abs=1e-12)
    point = np.array([0.3, -0.2, 0.5])
    back = quaternion * [1, -1, -1, -1]
    assert rotate(back, rotate(quaternion, point)) == pytest.approx(point)
    assert multiply(quaternion, back) == pytest.approx([1, 0, 0, 0], abs=1e-12)


def test_its_home_is_that_of_its_twin():
    assert Ur5().home == pytest.approx(SETTING.home)
    assert [task.name for task in Ur5().suite()] == ["move_object", "push_button", "remove_lid", "rotate_box"]


# Limits


@pytest.mark.parametrize(
    ("factor", "speed"), [(0.5, 0.05), (1.0, 0.1), (3.0, 0.15), (50.0, 0.15), (0.001, 0.01)]
)
def test_speed_is_cut_to_the_limit(robot, arm, factor, speed):
    robot.move(at(0.45, -0.1, 0.2), factor)
    assert arm.log[0][2:] == (pytest.approx(speed), 0.3)


@pytest.mark.parametrize("place", [(0.45, 0.0, -0.05), (0.45, 0.55, 0.1), (0.1, 0.0, 0.1), (0.45, 0.0, 0.6)])
def test_nothing_outside_the_workspace_is_commanded(robot, arm, place):
    motion = robot.move(at(*place))
    assert (motion.reached, motion.reason) == (False, "the target lies outside the workspace")
    assert robot.steps() == 1
    assert arm.log == []


def test_what_the_robot_does_not_reach_is_not_commanded(robot, arm):
    motion = robot.move(at(0.70, 0.40, 0.50))
    assert "safety limits" in motion.reason
    assert arm.log == []


def test_a_tool_that_leaves_the_workspace_is_stopped(robot, arm):
    arm.during = lambda step: step == 2 and arm.pose.__setitem__(2, 0.9)
    motion = robot.move(at(0.45, 0.0, 0.2))
    assert not motion.reached
    assert "left the workspace" in motion.reason
    assert ("stopL",) in arm.log


@pytest.mark.parametrize(
    "pose",
    [
        Pose(np.array([0.4, 0.0]), DOWN),
        Pose(np.array([0.4, 0.0, np.nan]), DOWN),
        Pose(np.array([0.4, 0.0, 0.2]), np.zeros(4)),
        Pose(np.array([0.4, 0.0, 0.2]), np.array([np.inf, 0, 0, 0])),
    ],
)
def test_malformed_commands_are_the_methods_failure(robot, arm, pose):
    with pytest.raises(MotionFailure):
        robot.move(pose)
    with pytest.raises(MotionFailure):
        robot.move(at(0.4, 0, 0.2), -1.0)
    assert arm.log == []


@pytest.mark.parametrize("opening", [5.0, -0.01, float("nan"), "open", None])
def test_an_opening_that_is_none_is_refused_as_everywhere(robot, hand, opening):
    before = list(hand.log)
    with pytest.raises(MotionFailure) as elsewhere:
        checked_opening(opening)
    with pytest.raises(MotionFailure, match=f"^{re.escape(str(elsewhere.value))}$"):
        robot.set_gripper(opening)
    assert (hand.log, robot.gripper()) == (before, 1.0)


def test_spent_steps_stop_the_robot(robot, arm, monkeypatch):
    monkeypatch.setattr(robot._driver, "_step_limit", 3)
    with pytest.raises(StepLimit):
        robot.move(at(0.45, 0.0, 0.2))
    assert ("stopL",) in arm.log
    assert robot.steps() == 3


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ({"workspace": [[0, 0, 0], [1, 1, 0]]}, "lower corner"),
        ({"workspace": [[0, 0], [1, 1]]}, "two corners"),
        ({"speed_limit": 0.0}, "speed_limit"),
        ({"speed_limit": 2.5}, "speed_limit"),
        ({"home": [0.0] * 7}, "six numbers"),
        ({"camera_pose": [0.0] * 6}, "seven numbers"),
    ],
)
def test_limits_that_cannot_be_are_refused(wrong, what):
    with pytest.raises(ValueError, match=what):
        Ur5(**wrong)


# Stops


def test_a_stop_from_another_terminal_halts_arm_and_fingers(robot, arm, hand, config):
    arm.during = lambda step: step == 2 and stop.stop(Path(config.stop_folder))
    with pytest.raises(SimulatorError, match=r"python -m envs\.robots\.stop --clear"):
        robot.move(at(0.45, 0.0, 0.2))
    assert ("stopL",) in arm.log
    assert hand.log[-1] == "SET GTO 0"
    assert arm.pose[2] > 0.2
    arm.log.clear()
    for motion in (lambda: robot.move(at(0.45, 0.0, 0.2)), robot.home, lambda: robot.set_gripper(0.0)):
        with pytest.raises(SimulatorError, match="stopped from another terminal"):
            motion()
    assert not [entry for entry in arm.log if entry[0].startswith("move")]
    stop.clear(Path(config.stop_folder))
    arm.during = lambda step: None
    assert robot.move(at(0.45, 0.0, 0.2)).reached


def test_the_stop_command_also_tells_the_robot_itself(tmp_path, capsys):
    told = []
    with stub.Server(
        lambda line: told.append(line) or "Stopped\n", "Connected: Dashboard Server\n"
    ) as dashboard:
        stop.register(tmp_path, "127.0.0.1", dashboard.port)
        stop.register(tmp_path, "127.0.0.1", dashboard.port)
        assert stop.main(["--folder", str(tmp_path)]) == 0
    assert told == ["stop"]
    assert stop.stopped(tmp_path)
    assert stop.main(["--folder", str(tmp_path), "--clear"]) == 0
    assert not stop.stopped(tmp_path)
    # The server has gone: the word is left all the same, and what went wrong is said.
    assert stop.main(["--folder", str(tmp_path)]) == 1
    assert stop.stopped(tmp_path)
    assert "did not take the stop" in capsys.readouterr().out


def test_a_dashboard_that_refuses_is_said(tmp_path):
    with stub.Server(lambda line: "Failed to execute: stop\n", "Connected\n") as dashboard:
        stop.register(tmp_path, "127.0.0.1", dashboard.port)
        (failed,) = stop.stop(tmp_path)
    assert "Failed to execute" in failed


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"emergency": True}, "emergency stop"),
        ({"running": False}, "its program was ended"),
        ({"connected": False}, "lost its connection"),
    ],
)
def test_a_robot_that_refuses_is_an_error_and_not_the_methods(robot, arm, change, reason):
    arm.during = lambda step: step == 1 and vars(arm).update(change)
    with pytest.raises(SimulatorError, match=reason):
        robot.move(at(0.45, 0.0, 0.2))


def test_a_protective_stop_is_a_missed_motion_once_it_is_unlocked(robot, arm, operator):
    arm.during = lambda step: step == 2 and vars(arm).update(protected=True, running=False)
    unlock = operator.allows
    operator.allows = lambda what: vars(arm).update(protected=False) or unlock(what)
    motion = robot.move(at(0.45, 0.0, 0.2))
    assert not motion.reached
    assert "ran into something" in motion.reason
    assert operator.asked == ["The robot stopped itself. Unlock it on the pendant."]
    assert [entry[0] for entry in arm.log[-2:]] == ["reuploadScript", "setTcp"]


def test_what_a_robot_does_not_take_is_an_error(robot, arm, monkeypatch):
    monkeypatch.setattr(robot._robot._control, "moveL", lambda *_: False)
    with pytest.raises(SimulatorError, match="did not take the motion"):
        robot.move(at(0.45, 0.0, 0.2))
    arm.protected = True
    with pytest.raises(SimulatorError, match="is in a protective stop"):
        robot.move(at(0.45, 0.0, 0.2))


def test_a_motion_that_does_not_begin_is_an_error(robot, arm, monkeypatch):
    monkeypatch.setattr(robot_module, "_BEGINNING", 0.02)
    monkeypatch.setattr(robot._robot._control, "moveL", lambda *_: True)
    with pytest.raises(SimulatorError, match="took the motion and did not begin it"):
        robot.move(at(0.45, 0.0, 0.2))
    assert ("stopL",) in arm.log


def test_a_robot_that_says_nothing_is_lost_and_told_nothing(robot, arm, monkeypatch):
    """As when a cable is pulled: ur_rtde goes on to give the last state it heard, and would wait for ever."""
    monkeypatch.setattr(robot_module, "_SILENCE", 0.01)
    said = arm.words
    monkeypatch.setattr(robot._robot._state, "getTimestamp", lambda: said)
    time.sleep(0.02)
    with pytest.raises(SimulatorError, match="lost its connection"):
        robot.move(at(0.45, 0.0, 0.2))
    assert arm.log == []


def test_the_stop_of_a_lost_robot_that_is_not_heard_is_noted(robot, arm):
    arm.during = lambda step: step == 1 and vars(arm).update(connected=False)
    with pytest.raises(SimulatorError) as caught:
        robot.move(at(0.45, 0.0, 0.2))
    (note,) = caught.value.__notes__
    assert note.startswith("and the UR5 at 127.0.0.1 could not be told to stop")


def test_a_protective_stop_that_stays_ends_the_run(robot, arm):
    arm.during = lambda step: step == 2 and vars(arm).update(protected=True, running=False)
    with pytest.raises(SimulatorError, match="unlock it on the pendant"):
        robot.move(at(0.45, 0.0, 0.2))


def test_ctrl_c_stops_the_robot(robot, arm):
    def interrupt(step):
        if step == 2:
            raise KeyboardInterrupt

    arm.during = interrupt
    with pytest.raises(KeyboardInterrupt):
        robot.move(at(0.45, 0.0, 0.2))
    assert ("stopL",) in arm.log


# The operator


def test_a_reset_asks_before_anything_moves(arm, operator, config, hand):
    env = config.open()
    operator.answers = [False]
    with pytest.raises(SimulatorError, match="did not let the robot go home"):
        env.reset("rotate_box", 2, None)
    assert [entry[0] for entry in arm.log] == ["setTcp"]
    assert hand.log == []
    reset = env.reset("rotate_box", 2, None)
    assert reset.state_hash == ""
    assert [entry[0] for entry in arm.log] == ["setTcp", "moveJ"]
    assert "scene 2" in operator.asked[-1] and "red box, green block" in operator.asked[-1]
    assert env.steps() == 0
    env.close()
    assert arm.log[-2:] == [("stopScript",), ("disconnect",)]


def test_each_motion_is_asked_for_where_that_is_wished(robot, arm, operator, monkeypatch):
    robot.move(at(0.45, 0.0, 0.2))
    assert operator.asked == []
    monkeypatch.setattr(robot._driver, "_ask_each", True)
    operator.answers = [False, False, False, True]
    refused = robot.move(at(0.45, 0.0, 0.3))
    assert (refused.reached, refused.reason) == (False, "the operator did not allow it")
    assert not robot.set_gripper(0.0).reached
    assert robot.gripper() == 1.0
    assert not robot.home().reached
    assert robot.move(at(0.45, 0.0, 0.3)).reached
    assert operator.asked[0] == "The tool moves to (450, 0, 300) mm."
    assert len([entry for entry in arm.log if entry[0] == "moveL"]) == 2


def test_the_operator_judges_when_something_has_moved_and_a_yes_is_final(robot, operator):
    assert not robot.verdict().success
    assert operator.asked == []
    operator.answers = [False, True]
    robot.move(at(0.45, 0.0, 0.2))
    assert not robot.verdict().success
    assert not robot.verdict().success
    assert operator.asked == ["judge: rotate the red box 90 degrees to the left"]
    robot.move(at(0.45, 0.0, 0.3))
    assert robot.verdict().success
    robot.move(at(0.45, 0.0, 0.2))
    verdict = robot.verdict()
    assert (verdict.success, verdict.subtasks_done) == (True, 1)
    assert len(operator.asked) == 2
    robot.reset("rotate_box", 1, None)
    assert not robot.verdict().success


def test_without_a_terminal_it_says_so(monkeypatch, arm, config):
    monkeypatch.setattr(terminal, "TERMINAL", "/nowhere/tty")
    with pytest.raises(SimulatorError, match=r"/nowhere/tty.*run\.workers=0"):
        config.open()
    (problem,) = config.problems()
    assert "cannot open" in problem.what
    assert problem.fix == "Start the command from a terminal, with run.workers=0"


def test_the_terminal_is_asked_until_it_gives_an_answer(monkeypatch):
    ours, theirs = os.openpty()
    without_echo(theirs)
    monkeypatch.setattr(terminal, "TERMINAL", os.ttyname(theirs))
    asked = terminal.Operator()
    os.write(ours, b"perhaps\nn\n\nmaybe\nY\n")
    assert asked.allows("The robot goes home.") is False
    assert asked.allows("The robot goes home.") is True
    assert asked.judges("press it") is True
    asked.close()
    os.close(theirs)
    shown = ""
    with suppress(OSError):  # the other end has gone: all was read
        while piece := os.read(ours, 10000):
            shown += piece.decode()
    assert shown.count("Is it done: press it? y or n") == 2
    os.close(ours)


def test_after_a_stop_the_operator_clears_it_and_the_next_episode_goes_on(robot, arm, operator, config):
    stop.stop(Path(config.stop_folder))
    arm.running = False
    cleared = operator.allows

    def allows(what):
        if "The robot is stopped" in what and len(operator.asked) == 1:
            stop.clear(Path(config.stop_folder))
        return cleared(what)

    operator.allows = allows
    robot.reset("rotate_box", 1, None)
    assert [what.split(".")[0] for what in operator.asked[:3]] == [
        *["The robot is stopped"] * 2,
        "Task rotate_box, scene 1",
    ]
    assert ("reuploadScript",) in arm.log
    assert robot.move(at(0.45, 0.0, 0.2)).reached


def test_an_operator_may_leave_it_stopped(robot, operator, config):
    stop.stop(Path(config.stop_folder))
    operator.answers = [False]
    with pytest.raises(SimulatorError, match="left it so"):
        robot.reset("rotate_box", 1, None)


def test_a_lost_robot_is_connected_again_at_the_next_reset(robot, arm):
    arm.connected = False
    with pytest.raises(SimulatorError, match="cannot be driven"):
        robot.reset("rotate_box", 1, None)
    arm.connected = True
    robot.reset("rotate_box", 1, None)
    assert robot.move(at(0.45, 0.0, 0.2)).reached


def test_a_stop_knows_the_robots_that_are_driven_and_no_others(arm, operator, config, tmp_path):
    env = config.open()
    other = ("10.0.0.7", 29999)
    stop.register(Path(config.stop_folder), *other)
    assert stop.robots(Path(config.stop_folder)) == [("127.0.0.1", 1), other]
    env.close()
    assert stop.robots(Path(config.stop_folder)) == [other]
    stop.unregister(tmp_path, *other)
    assert stop.robots(tmp_path) == []


# The gripper


def test_the_fingers_are_activated_once_and_moved(robot, hand):
    assert hand.log[:3] == ["SET ACT 0", "SET ACT 1", "SET GTO 1"]
    hand.log.clear()
    assert robot.set_gripper(0.0).reached
    assert robot.set_gripper(0.2).reached
    assert robot.gripper() == 0.0
    assert hand.log == [f"SET SPE 128 FOR 60 POS {gripper.CLOSED} GTO 1"]
    assert robot.steps() >= 1
    assert robot.set_gripper(1.0).reached
    robot.reset("rotate_box", 1, None)
    assert "SET ACT 1" not in hand.log


def test_fingers_that_are_kept_from_opening_are_a_missed_motion(robot, hand):
    robot.set_gripper(0.0)
    hand.blocked_at = 120
    motion = robot.set_gripper(1.0)
    assert (motion.reached, motion.reason) == (False, "the fingers could not open")


def test_a_gripper_that_is_not_there_or_talks_nonsense_is_an_error():
    with stub.Server(lambda line: "ack") as server:
        port = server.port
        with pytest.raises(SimulatorError, match="answered 'ack' when asked for STA"):
            Robotiq("127.0.0.1", port).activate()
    with pytest.raises(SimulatorError, match="URCap"):
        Robotiq("127.0.0.1", port)


# What it sees


def test_a_thing_is_where_it_is(robot):
    assert isinstance(robot, Manipulation)
    cloud = robot.cloud("red box")
    (x, y), half, height = stub.BOX
    assert cloud.points.mean(axis=0) == pytest.approx([x, y, height], abs=0.004)
    assert np.ptp(cloud.points, axis=0)[:2] == pytest.approx([2 * half] * 2, abs=0.008)
    assert np.median(cloud.normals, axis=0) == pytest.approx([0, 0, 1], abs=0.02)
    with pytest.raises(PerceptionFailure, match="'red box', 'green block'"):
        robot.cloud("green block")
    with pytest.raises(PerceptionFailure, match="'red box', 'green block'"):
        robot.cloud("teapot")


def test_surroundings_leave_out_the_hand_and_what_it_holds(robot, arm):
    (x, y), _, height = stub.BOX

    def near():
        points = robot.scene_cloud(ignore_grasped=True).points
        return int((np.linalg.norm(points - [x, y, height], axis=1) < 0.04).sum())

    everything = near()
    assert everything > 20
    arm.pose[:3] = [-x, -y, height]
    robot.set_gripper(0.0)
    assert near() == 0
    robot.set_gripper(1.0)
    assert near() > 0


def test_a_picture_frames_what_is_found_and_is_taken_anew_when_something_moved(robot):
    view = robot.view("camera")
    (mark,) = view.marks
    left, top, right, bottom = mark.box
    assert mark.name == "red box"
    assert (right - left, bottom - top) == (pytest.approx(19, abs=2), pytest.approx(19, abs=2))
    before = robot.render("camera")
    assert robot.render("camera") is before
    robot.move(at(0.45, 0.0, 0.2))
    assert robot.render("camera") is not before
    with pytest.raises(UsageError, match="camera"):
        robot.render("wrist")


# Before anything is spent


def test_all_that_is_missing_is_said_with_what_mends_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "rtde_control", None)
    monkeypatch.setattr(terminal, "TERMINAL", "/nowhere/tty")
    fixes = " ".join(problem.fix for problem in Ur5(camera="no.such.Camera").problems())
    for fix in (
        "pip install ur_rtde",
        "env.ip=",
        "env.camera_pose=",
        "env.detector=",
        "run.workers=0",
        "name another",
    ):
        assert fix in fixes
    wrong = [
        problem
        for problem in Ur5(detector="envs.robots.stop.Nothing").problems()
        if "Nothing" in problem.what
    ]
    assert wrong


def test_a_robot_that_does_not_answer_is_said(arm, operator, config):
    arm.connected = False
    with pytest.raises(SimulatorError, match="set to remote control"):
        config.open()


def test_the_stub_is_watched_from_a_thread_of_its_own(robot, arm, config):
    """As another terminal does it: while the loop runs."""
    begun = threading.Event()
    arm.during = lambda step: begun.set()
    arm_left = arm.look
    arm.look = lambda: arm_left() or not stop.stopped(Path(config.stop_folder))
    stopper = threading.Thread(target=lambda: begun.wait(60) and stop.stop(Path(config.stop_folder)))
    stopper.start()
    with pytest.raises(SimulatorError, match="stopped from another terminal"):
        robot.move(at(0.45, 0.0, 0.2))
    stopper.join()
    assert ("stopL",) in arm.log
