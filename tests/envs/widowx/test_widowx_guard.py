"""What the robot's side takes: limits, steps, stops."""

import threading

import numpy as np
import pytest

from envs.household.setting import SETTING
from envs.mujoco.kinematics import Kinematics, angle_between, turned_by
from envs.widowx.guard import BLOCKED, EDGE, JOINTS, LIMITS, PERIOD, REACH, SPEED, Guard, Limits, Stopped

DOWN = np.array([0.0, 0.0, 1.0, 0.0])
KINEMATICS = Kinematics(SETTING)


@pytest.fixture
def guard(arm):
    """The tool stands upright above the table, pointing down."""
    arm.at = KINEMATICS.goals(np.array([0.25, 0.0, 0.15]), DOWN, np.array(SETTING.home))[0]
    return Guard(arm, LIMITS)


def position(arm):
    return KINEMATICS.pose(arm.at)[0]


def test_a_step_within_limits_is_taken_as_it_is(guard, arm):
    before = position(arm)
    state = guard.step(before + np.array([0.015, 0.0, -0.01]), DOWN, False)
    assert state.held == ""
    assert position(arm) - before == pytest.approx([0.015, 0.0, -0.01], abs=1e-3)
    assert state.position == pytest.approx(position(arm))
    ((_, open_fingers, seconds),) = arm.log
    assert (open_fingers, seconds, state.opening) == (False, PERIOD, 0.0)


def test_a_step_that_is_too_long_is_cut_to_the_speed(guard, arm):
    before = position(arm)
    state = guard.step(before + np.array([0.06, 0.08, 0.0]), DOWN, True)
    assert state.held == SPEED
    assert position(arm) - before == pytest.approx([0.012, 0.016, 0.0], abs=1e-3)
    assert np.linalg.norm(state.goal[0] - before) == pytest.approx(LIMITS.speed * PERIOD, abs=1e-4)


def test_a_turn_that_is_too_wide_is_cut_to_the_speed(guard):
    before = guard.state()
    state = guard.step(before.position, turned_by(before.quaternion, np.array([0.0, 0.0, 0.5])), True)
    assert state.held == SPEED
    assert angle_between(before.quaternion, state.goal[1]) == pytest.approx(LIMITS.turn * PERIOD, abs=1e-3)


@pytest.mark.parametrize(
    "place", [(0.25, 0.0, -0.02), (0.25, 0.34, 0.15), (0.5, 0.0, 0.15), (0.04, 0.0, 0.15)]
)
def test_what_lies_outside_the_workspace_is_refused_and_nothing_moves(guard, arm, place):
    before = arm.at.copy()
    state = guard.step(np.array(place), DOWN, True)
    assert state.held == EDGE
    assert (arm.at == before).all()


def test_an_arm_that_stands_outside_may_come_in_and_not_go_further_out(arm):
    guard = Guard(arm, Limits(((0.15, -0.3, 0.05), (0.4, 0.3, 0.15)), 0.2, 1.2, 2.0))
    assert position(arm) == pytest.approx([0.10, 0.0, 0.20], abs=0.01)
    at, facing = guard.rest
    assert guard.step(at + np.array([0.01, 0.0, -0.01]), facing, True).held == ""
    at, facing = guard.state().goal
    assert guard.step(at + np.array([0.0, 0.0, 0.01]), facing, True).held == EDGE


def test_joints_turn_no_faster_than_they_may(arm):
    guard = Guard(arm, Limits(LIMITS.workspace, 1.0, 3.0, 0.3))
    before = arm.at.copy()
    at, facing = guard.rest
    state = guard.step(at + np.array([0.02, 0.02, 0.0]), facing, True)
    assert state.held == JOINTS
    assert np.abs(arm.at - before).max() == pytest.approx(0.03)
    assert state.goal[0] == pytest.approx(position(arm))


def test_out_of_reach_the_goal_stays_where_the_arm_can_be(arm):
    guard = Guard(arm, Limits(((-1, -1, 0), (1, 1, 1)), 0.2, 1.2, 2.0))
    held = set()
    for _ in range(60):
        at, facing = guard.state().goal
        held.add(guard.step(at + np.array([0.02, 0.0, 0.0]), facing, True).held)
    assert REACH in held
    assert np.linalg.norm(guard.state().goal[0] - position(arm)) < 2e-3
    assert 0.4 < position(arm)[0] < 0.7


def test_an_arm_that_is_kept_from_moving_pushes_and_no_more(guard, arm):
    arm.blocked = True
    before = position(arm)
    state = guard.state()
    for _ in range(10):
        state = guard.step(state.goal[0] + [0.015, 0.0, 0.0], DOWN, True)
    assert state.held == BLOCKED
    assert state.goal[0] - before == pytest.approx([0.04, 0.0, 0.0], abs=2e-3)


def test_home_is_reached_step_by_step_through_the_joints(guard, arm):
    before, biggest, steps = arm.at.copy(), 0.0, 0
    while not guard.step_home(True).at_home:
        biggest, before, steps = max(biggest, float(np.abs(arm.at - before).max())), arm.at.copy(), steps + 1
        assert steps < 200
    assert biggest == pytest.approx(0.25 * LIMITS.joint_speed * PERIOD)
    assert arm.at == pytest.approx(SETTING.home, abs=0.03)


def test_after_a_stop_nothing_is_commanded_until_somebody_resumes(guard, arm):
    guard.stop()
    assert arm.log == ["halt"]
    for motion in (
        lambda: guard.step(np.array([0.25, 0.0, 0.15]), DOWN, True),
        lambda: guard.step_home(True),
    ):
        with pytest.raises(Stopped):
            motion()
    assert guard.state().stopped
    assert arm.commands == []
    guard.resume()
    assert not guard.step(*guard.state().goal, True).stopped


def test_a_stop_that_comes_during_a_step_is_told_with_it(guard, arm):
    arm.during = lambda step: threading.Thread(target=guard.stop).start() if step == 1 else None
    state = guard.step(*guard.state().goal, True)
    for _ in range(1000):
        if state.stopped:
            break
        state = guard.state()
    assert state.stopped
    with pytest.raises(Stopped):
        guard.step(*state.goal, True)
    assert len(arm.commands) == 1


def test_a_client_may_narrow_limits_and_not_widen_them(guard):
    guard.take(Limits(((0.1, -0.2, 0.05), (0.4, 0.2, 0.3)), 0.1, 1.0, 1.0))
    at, _ = guard.state().goal
    assert np.linalg.norm(
        guard.step(at + np.array([0.05, 0.0, 0.0]), DOWN, True).goal[0] - at
    ) == pytest.approx(0.01, abs=1e-4)
    with pytest.raises(ValueError, match=r"speed 0\.3 \(at most 0\.2\)"):
        guard.take(Limits(LIMITS.workspace, 0.3, 1.2, 2.0))
    with pytest.raises(ValueError, match=r"workspace"):
        guard.take(Limits(((0.05, -0.32, 0.0), (0.48, 0.32, 0.4)), 0.2, 1.2, 2.0))


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ((((0, 0, 0), (1, 1, 0)), 0.2, 1.0, 1.0), "lower corner"),
        ((((0, 0), (1, 1)), 0.2, 1.0, 1.0), "two corners"),
        ((LIMITS.workspace, 0.0, 1.0, 1.0), "speed is 0"),
        ((LIMITS.workspace, 1.5, 1.0, 1.0), "speed is 1.5"),
        ((LIMITS.workspace, 0.2, float("nan"), 1.0), "turn is nan"),
        ((LIMITS.workspace, 0.2, 1.0, 4.0), "joint_speed is 4"),
    ],
)
def test_limits_that_cannot_be_are_refused(wrong, what):
    with pytest.raises(ValueError, match=what):
        Limits(*wrong)


def test_an_arm_that_sags_is_at_home_and_one_that_is_kept_from_it_is_not(arm):
    guard = Guard(arm, LIMITS)
    assert guard.state().at_home
    arm.at = arm.at + np.array([0, 0.04, 0.04, 0, 0, 0])
    assert guard.state().at_home
    arm.at = arm.at + np.array([0, 0.1, 0, 0, 0, 0])
    assert not guard.state().at_home
