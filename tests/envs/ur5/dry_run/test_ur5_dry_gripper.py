"""The fingers of the twin by the words of the URCap."""

import numpy as np
import pytest

from envs.ur5.dry_run.controller import PERIOD, Controller
from envs.ur5.dry_run.gripper import Gripper
from envs.ur5.dry_run.twin import Twin


class Hand:
    def __init__(self, twin):
        self.controller, self.gripper = Controller(twin), Gripper(twin)
        self.controller.lay_out("rotate_box", np.random.default_rng(0))
        self.say = self.gripper.answer

    def cycle(self, count):
        for _ in range(count):
            self.gripper.cycle(PERIOD)
            self.controller.cycle()

    def go(self, position):
        """Cycles until it stands, and what it then says of an object."""
        assert self.say(f"SET SPE 255 FOR 60 POS {position} GTO 1") == "ack"
        for cycles in range(1000):
            if self.say("GET OBJ") != "OBJ 0\n":
                return cycles, self.say("GET OBJ").strip()
            self.cycle(1)
        raise AssertionError("it never stood")


@pytest.fixture(scope="module")
def twin():
    return Twin()


@pytest.fixture
def hand(twin):
    return Hand(twin)


def test_it_is_activated_and_says_where_it_is(hand):
    assert hand.say("GET STA") == "STA 0\n"
    assert [hand.say("SET ACT 1"), hand.say("GET STA")] == ["ack", "STA 3\n"]
    assert hand.say("GET POS") == "POS 0\n"


def test_it_closes_and_opens_and_takes_time(hand):
    cycles, seen = hand.go(255)
    assert (seen, hand.say("GET POS"), hand.say("GET PRE")) == ("OBJ 3", "POS 255\n", "PRE 255\n")
    assert cycles * PERIOD == pytest.approx(0.8, abs=0.3)
    assert hand.go(0)[1] == "OBJ 3"
    assert int(hand.say("GET POS").split()[1]) <= 3


def test_it_goes_half_way(hand):
    assert hand.go(128)[1] == "OBJ 3"
    assert int(hand.say("GET POS").split()[1]) == pytest.approx(128, abs=4)


def test_it_is_stopped_where_it_is(hand):
    hand.say("SET SPE 0 POS 255 GTO 1")
    hand.cycle(40)
    hand.say("SET GTO 0")
    held = int(hand.say("GET POS").split()[1])
    hand.cycle(100)
    assert int(hand.say("GET POS").split()[1]) == pytest.approx(held, abs=3)
    assert 5 < held < 250


def test_it_says_that_it_holds_something(hand, twin):
    """The red box is 44 mm wide between the fingers."""
    world = twin._world
    world.put("red box", *world.tool_position)
    world.model.opt.gravity[2] = 0.0
    _, seen = hand.go(255)
    world.model.opt.gravity[2] = -9.81
    assert seen == "OBJ 2"
    assert 80 < int(hand.say("GET POS").split()[1]) < 200


@pytest.mark.parametrize("line", ["GET", "GET XYZ", "SET POS", "SET POS abc", "HELLO 1", "SET POS -3"])
def test_what_it_does_not_understand(hand, line):
    assert hand.say(line) == "?"
    assert hand.say("GET POS") == "POS 0\n"
