"""Motions with bounded speed and acceleration."""

import numpy as np
import pytest

from envs.ur5.dry_run.travel import Travel, along_line, through_joints

PERIOD = 0.008
START = np.zeros(6)


def travelled(travel, brake_after=None, deceleration=2.0):
    """Places after each period."""
    places = [0.0]
    while not travel.ended:
        places.append(float(travel.step(PERIOD)[0]))
        if len(places) == brake_after:
            travel.brake(deceleration)
        assert len(places) < 10000
    return np.array(places)


@pytest.mark.parametrize(
    ("length", "speed", "acceleration"), [(0.3, 0.1, 0.3), (0.004, 0.15, 0.3), (1.7, 0.5, 0.3), (1e-6, 1, 1)]
)
def test_it_arrives_and_is_never_faster_than_it_may_be(length, speed, acceleration):
    places = travelled(Travel(length, lambda at: np.full(6, at), speed, acceleration))
    rates = np.diff(places) / PERIOD
    assert places[-1] == pytest.approx(length, abs=1e-12)
    assert (rates >= 0).all()
    assert rates.max() <= speed + 1e-9
    assert np.diff(rates).max(initial=0) <= acceleration * PERIOD + 1e-9
    # The last step is what is left, and may be shorter.
    assert rates[-1] <= 2 * acceleration * PERIOD + 1e-9
    slowest = length / speed + speed / acceleration
    assert len(places) * PERIOD == pytest.approx(slowest, abs=0.1) or length < speed**2 / acceleration


def test_it_brakes_where_it_is():
    places = travelled(Travel(0.3, lambda at: np.full(6, at), 0.1, 0.3), brake_after=100)
    rates = np.diff(places) / PERIOD
    assert rates[98] == pytest.approx(0.1)
    after = places[-1] - places[99]
    assert after == pytest.approx(0.1**2 / 2 / 2.0, rel=0.25)
    assert places[-1] < 0.1


def test_what_stands_has_braked_at_once():
    travel = Travel(0.3, lambda at: np.full(6, at), 0.1, 0.3)
    travel.brake(2.0)
    assert travel.ended


def test_nowhere_is_reached_at_once():
    assert through_joints(START, START, 0.5, 0.3).ended


def test_joints_arrive_together():
    target = [0.5, -1.0, 0.0, 0.2, 0.0, 0.1]
    travel = through_joints(START, target, 0.5, 0.3)
    while not travel.ended:
        joints = travel.step(PERIOD)
        assert joints == pytest.approx(np.array(target) * (joints[1] / -1.0))
    assert joints == pytest.approx(target)


def test_a_line_is_straight_and_turns_as_it_goes():
    turned = np.array([np.cos(0.4), 0, 0, np.sin(0.4)])
    seen = []
    line = along_line(
        (np.zeros(3), np.array([1.0, 0, 0, 0])),
        (np.array([0.2, 0.1, 0]), turned),
        lambda frame: seen.append(frame) or START,
        0.1,
        0.3,
    )
    while not line.ended:
        line.step(PERIOD)
    for position, quaternion in seen:
        part = position[0] / 0.2
        assert position == pytest.approx([0.2 * part, 0.1 * part, 0])
        assert 2 * np.arctan2(quaternion[3], quaternion[0]) == pytest.approx(0.8 * part)
    assert seen[-1][0] == pytest.approx([0.2, 0.1, 0])


def test_a_turn_on_the_spot_takes_its_time():
    half = np.array([0.0, 0, 0, 1.0])
    line = along_line((np.zeros(3), np.array([1.0, 0, 0, 0])), (np.zeros(3), half), lambda _: START, 0.1, 0.3)
    periods = 0
    while not line.ended:
        line.step(PERIOD)
        periods += 1
    assert periods * PERIOD == pytest.approx(np.pi + 1 / 3, abs=0.1)
