"""The environment against an arm's server on loopback: what it asks, what it commands, what stops it."""

import subprocess
import sys

import numpy as np
import pytest

from envs.household.setting import SETTING
from envs.mujoco.kinematics import Kinematics
from envs.robots import operator as terminal
from envs.robots import stop
from envs.widowx import WidowX
from envs.widowx.guard import EDGE, LIMITS
from envs.widowx.serve import Server
from harness.failures import MotionFailure, PerceptionFailure, SimulatorError, StepLimit, UsageError
from harness.protocols import Actuation, LongHorizon
from tests.envs.widowx import stub
from tests.envs.widowx.conftest import seeds


def action(x=0.0, y=0.0, z=0.0, turn=(0.0, 0.0, 0.0), gripper=1.0):
    return np.array([x, y, z, *turn, gripper])


# Actions


def test_it_is_a_long_horizon_environment(robot):
    assert isinstance(robot, LongHorizon)
    assert isinstance(robot, Actuation)
    assert robot.control_hz == pytest.approx(10)
    assert robot.action_limits == (pytest.approx(0.02), pytest.approx(0.12))
    assert robot.rest.position == pytest.approx([0.10, 0.0, 0.20], abs=0.01)


def test_actions_add_up_to_the_commanded_pose(robot):
    start = robot.observation()["tool"]
    for _ in range(5):
        taken = robot.act(action(x=0.01, y=-0.005))
        assert (taken.clipped, taken.held) == (False, "")
    tool = robot.observation()["tool"]
    assert tool[:3] - start[:3] == pytest.approx([0.05, -0.025, 0.0], abs=2e-3)
    assert abs(tool[3:] @ start[3:]) == pytest.approx(1.0, abs=1e-4)
    assert robot.steps() == 5


def test_a_long_action_is_cut_to_the_limits_and_said(robot):
    start = robot.observation()["tool"]
    assert robot.act(action(x=0.06, y=0.08)).clipped
    assert robot.observation()["tool"][:3] - start[:3] == pytest.approx([0.012, 0.016, 0.0], abs=2e-3)
    assert robot.act(action(turn=(0.0, 0.0, 1.0))).clipped


def test_at_the_edge_of_the_workspace_it_is_held(config, operator, arm):
    env = config(workspace=[[0.05, -0.03, 0.01], [0.48, 0.32, 0.40]]).open()
    env.reset("counting", 0, seeds("counting"))
    held = [env.act(action(y=-0.02)).held for _ in range(4)]
    assert held == ["", EDGE, EDGE, EDGE]
    assert env.observation()["tool"][1] == pytest.approx(-0.03, abs=2e-3)
    assert env.act(action(y=0.02)).held == ""
    env.close()


@pytest.mark.parametrize("wrong", [np.zeros(6), np.full(7, np.nan), "up"])
def test_a_malformed_action_is_the_methods_failure_and_moves_nothing(robot, arm, wrong):
    with pytest.raises(MotionFailure):
        robot.act(wrong)
    assert arm.log == []


def test_spent_steps_are_a_step_limit(robot, arm):
    robot._step_limit = 2
    robot.act(action(x=0.01))
    robot.act(action(x=0.01))
    with pytest.raises(StepLimit, match="2 control steps"):
        robot.act(action(x=0.01))
    assert len(arm.commands) == 2


def test_fingers_close_and_open(robot):
    robot.act(action(gripper=-1.0))
    assert robot.observation()["gripper"] == pytest.approx([0.0])
    assert robot.view("wrist").gripper == 0.0
    robot.act(action(gripper=0.5))
    assert robot.observation()["gripper"] == pytest.approx([1.0])


# The operator


def test_a_reset_asks_before_anything_moves(arm, config, operator):
    arm.at = np.array([0.2, -0.6, 0.4, 0.0, 1.7, 0.0])
    env = config().open()
    assert arm.log == []
    operator.answers = [False]
    with pytest.raises(SimulatorError, match="did not let the arm go home"):
        env.reset("counting", 2, seeds("counting", 2))
    assert arm.log == []
    operator.answers = [True, False]
    with pytest.raises(SimulatorError, match="did not lay out the scene"):
        env.reset("counting", 2, seeds("counting", 2))
    operator.answers = [True, True, False]
    with pytest.raises(SimulatorError, match="did not let the arm move"):
        env.reset("counting", 2, seeds("counting", 2))
    reset = env.reset("counting", 2, seeds("counting", 2))
    assert reset.state_hash == ""
    assert set(reset.variation) == {"person", "better", "usual", "batches"}
    assert arm.at == pytest.approx(SETTING.home, abs=0.03)
    assert "Task counting, scene 2" in operator.asked[0]
    assert "recipe card at x" in operator.asked[2] and "cm" in operator.asked[2]
    env.close()
    assert operator.closed


def test_the_arm_rises_before_it_goes_home(robot, arm):
    for _ in range(5):
        robot.act(action(x=0.02, z=-0.02))
    low = robot.observation()["tool"][2]
    arm.log.clear()
    robot.reset("counting", 0, seeds("counting"))
    heights = [Kinematics(SETTING).pose(joints)[0] for joints, *_ in arm.commands[:4]]
    assert low == pytest.approx(0.13, abs=0.01)
    assert [height[2] for height in heights] == pytest.approx(
        [low + 0.02 * n for n in (1, 2, 3, 4)], abs=3e-3
    )
    assert [height[0] for height in heights] == pytest.approx([heights[0][0]] * 4, abs=3e-3)


def test_each_second_of_motion_is_asked_for_where_that_is_wished(config, operator, arm):
    env = config(confirm="motion").open()
    env.reset("counting", 0, seeds("counting"))
    operator.asked.clear()
    arm.log.clear()
    for _ in range(3):
        assert env.act(action()).held == ""
    assert operator.asked == []
    for _ in range(11):
        env.act(action(y=0.005))
    assert operator.asked == ["The arm moves for the next 10 control steps."] * 2
    for _ in range(9):
        env.act(action(y=0.005))
    before = arm.at.copy()
    operator.answers = [False, False]
    assert env.act(action(y=0.005)).held == "the operator did not allow it"
    assert env.act(action(gripper=-1.0)).held == "the operator did not allow it"
    assert (arm.at == before).all()
    assert arm.wide == 1.0
    assert env.steps() == 25
    assert env.act(action(y=-0.005)).held == ""
    assert not (arm.at == before).all()
    env.close()


def test_without_a_terminal_it_says_so_and_nothing_moves(monkeypatch, arm, config):
    monkeypatch.setattr(terminal, "TERMINAL", "/nowhere/tty")
    with pytest.raises(SimulatorError, match=r"/nowhere/tty.*run\.workers=0"):
        config().open()
    assert arm.log == []
    (problem,) = config().problems()
    assert problem.fix == "Start the command from a terminal, with run.workers=0"


# Stops


def test_a_stop_from_another_process_halts_a_moving_arm(robot, arm, tmp_path):
    """Another terminal stops it while a control step passes: that step is the last one."""
    command = (sys.executable, "-m", "envs.robots.stop", "--folder", str(tmp_path / "stop"))
    said = []

    def stop_it(step):
        if step == 3:
            said.append(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    arm.during = stop_it
    robot.act(action(y=0.01))
    robot.act(action(y=0.01))
    with pytest.raises(SimulatorError, match=r"python -m envs\.robots\.stop --clear"):
        robot.act(action(y=0.01))
    assert len(arm.commands) == 3
    assert arm.log[3] == "halt"
    assert "Nothing moves until" in said[0]
    with pytest.raises(SimulatorError, match="stopped from another terminal"):
        robot.act(action(y=0.01))
    assert len(arm.commands) == 3


def test_the_stop_is_heard_also_when_the_run_hangs(robot, arm, tmp_path):
    """The run is told nothing; the arm's server is."""
    assert stop.robots(tmp_path / "stop") == [robot._address]
    assert stop.stop(tmp_path / "stop") == []
    assert arm.log == ["halt"]


def test_after_a_stop_the_operator_clears_it_and_the_next_episode_goes_on(robot, arm, operator, tmp_path):
    folder = tmp_path / "stop"
    stop.stop(folder)
    with pytest.raises(SimulatorError):
        robot.act(action(y=0.01))
    operator.answers = [False]
    with pytest.raises(SimulatorError, match="left it so"):
        robot.reset("counting", 0, seeds("counting"))
    allows = operator.allows

    def clears(what):
        if "The robot is stopped" in what:
            stop.clear(folder)
        return allows(what)

    operator.allows = clears
    robot.reset("counting", 0, seeds("counting"))
    assert robot.act(action(y=0.01)).held == ""


def test_a_stop_at_the_server_alone_is_an_error_and_the_next_reset_takes_the_arm_up_again(robot):
    stop.tell(*robot._address)
    with pytest.raises(SimulatorError, match="the arm's server was told to stop"):
        robot.act(action(y=0.01))
    robot.reset("counting", 0, seeds("counting"))
    assert robot.act(action(y=0.01)).held == ""


def test_the_operator_stops_it_at_the_terminal(robot, arm, operator, tmp_path):
    operator.lines = [[], ["stop"]]
    robot.act(action(y=0.01))
    robot.act(action(y=0.01))
    with pytest.raises(SimulatorError, match="stopped from another terminal"):
        robot.act(action(y=0.01))
    assert len(arm.commands) == 2
    assert stop.stopped(tmp_path / "stop")


def test_a_stop_that_the_server_does_not_hear_is_said(robot, tmp_path, monkeypatch):
    def deaf(host, port):
        raise OSError("no route to host")

    monkeypatch.setattr(stop, "tell", deaf)
    assert stop.stop(tmp_path / "stop") == [
        f"127.0.0.1:{robot._address[1]} did not take the stop: no route to host"
    ]
    with pytest.raises(SimulatorError, match="did not take the stop: no route to host"):
        robot.act(action(y=0.01))


def test_a_dead_server_is_one_clear_error_and_a_new_one_is_taken_at_the_next_reset(
    arm, operator, config, server
):
    env = config().open()
    env.reset("counting", 0, seeds("counting"))
    server._server.shutdown()
    server._server.server_close()
    env._arm._socket.shutdown(2)
    with pytest.raises(SimulatorError, match="the arm's server at 127"):
        env.act(action(y=0.01))
    with pytest.raises(SimulatorError, match=r"cannot be reached.*envs\.widowx\.serve"):
        env.reset("counting", 0, seeds("counting"))
    again = Server(stub.Arm(), LIMITS, port=server.address[1])
    env.reset("counting", 0, seeds("counting"))
    assert env.act(action(y=0.01)).held == ""
    env.close()
    again.close()


def test_a_stop_knows_the_arms_that_are_driven_and_no_others(config, operator, tmp_path):
    env = config().open()
    assert stop.robots(tmp_path / "stop") == [env._address]
    env.close()
    assert stop.robots(tmp_path / "stop") == []


# What it sees


def test_cameras_give_pictures_and_name_nothing(robot):
    assert robot.cameras() == ("third_person", "wrist")
    assert robot.render("wrist").shape == (6, 12, 3)
    assert robot.render("third_person").shape == (6, 8, 3)
    view = robot.view("wrist")
    assert (view.marks, view.named, view.gripper) == ((), False, 1.0)
    assert robot.objects() == []
    with pytest.raises(PerceptionFailure, match="do not say where 'pot' is: drive by executor=openpi"):
        robot.cloud("pot")
    with pytest.raises(UsageError, match="third_person, wrist"):
        robot.render("eye")


def test_a_picture_is_taken_anew_when_a_step_has_passed(robot):
    before = robot.render("wrist")
    assert robot.view("wrist").image is before
    robot.act(action())
    assert robot.observation(["wrist"])["rgb_wrist"].mean() == before.mean() + 1


def test_cameras_are_closed_where_the_arm_is_not_there(operator, config, monkeypatch):
    made = []
    monkeypatch.setattr(stub.Camera, "close", lambda self: made.append(self))
    with pytest.raises(SimulatorError, match="cannot be reached"):
        config(address="127.0.0.1:1").open()
    assert len(made) == 2
    assert operator.closed


# Before anything is spent


def test_all_that_is_missing_is_said_with_what_mends_it(monkeypatch):
    monkeypatch.setattr(terminal, "TERMINAL", "/nowhere/tty")
    fixes = " ".join(problem.fix for problem in WidowX(wrist="no.such.Camera").problems())
    for fix in ("env.address=", "env.third_person=", "name another", "run.workers=0"):
        assert fix in fixes


def test_tasks_are_the_households_by_the_names_that_lie_on_the_table():
    config = WidowX(rename={"plush bear": "teddy"}, reword={"counting": ["cook for {person}"]}, rounds=2)
    tasks = {task.name: task for task in config.suite()}
    assert list(tasks) == ["counting", "object_search", "rearrangement"]
    assert tasks["counting"].instructions == ("cook for {person}",)
    assert tasks["object_search"].step_limit == 1940


@pytest.mark.parametrize("address", ["", ":5757", "robot:x"])
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(ValueError, match="HOST:PORT"):
        WidowX(address=address)


def test_an_unknown_task_is_said(robot):
    with pytest.raises(UsageError, match="counting, object_search, rearrangement"):
        robot.reset("cooking", 0, seeds("cooking"))
