"""What the composer's sentences are read as."""

from __future__ import annotations

import pytest

from harness.chat.rules.places import Place, place
from harness.chat.rules.sentence import Step, parse


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("back to default pose", Step("home")),
        ("return to the home position.", Step("home")),
        ("open gripper", Step("open")),
        ("release the cup", Step("open")),
        ("close the gripper", Step("close")),
        ("close the gripper around the cup", Step("grasp", "cup", Place("center", ("cup",)))),
        ("grasp the cup", Step("grasp", "cup", Place("center", ("cup",)))),
        ("grasp the top of the cup", Step("grasp", "cup", Place("top", ("cup",)))),
        ("move to 10cm above the cup", Step("go", place=Place("above", ("cup",), 10.0))),
        ("move to 0.1 m above the cup", Step("go", place=Place("above", ("cup",), 10.0))),
        ("move the gripper to the center of the pot", Step("go", place=Place("center", ("pot",)))),
        ("move on top of the pot", Step("go", place=Place("above", ("pot",), 2.0))),
        ("move to 12cm away from the grip", Step("go", place=Place("away", ("grip",), 12.0))),
        ("move between the cup and the pot", Step("go", place=Place("between", ("cup", "pot")))),
        ("move up by 15cm", Step("shift", way="up", amount=15.0)),
        ("move 5 cm to the right", Step("shift", way="right", amount=5.0)),
        ("lift the cup by 10cm", Step("shift", way="up", amount=10.0)),
        ("descend by 3cm", Step("shift", way="down", amount=3.0)),
        ("move away from the grip by 25cm", Step("leave", "grip", amount=25.0)),
        ("move towards the grip by 30cm", Step("approach", "grip", amount=30.0)),
        ("push down the bell", Step("press", "bell")),
        ("press the bell by 2cm", Step("press", "bell", amount=2.0)),
        *(
            (text, Step("press", "bell", amount=3.0))
            for text in (
                "press the bell 0.03m deep",
                "press the bell 3 cm deep.",
                "press 3cm deep on the bell",
                "press 3cm into the bell",
                "press the bell to a depth of 3cm",
                "press the bell until it is 3cm deep",
                "press the bell down 3 cm",
                "press the bell 3 cm down",
                "press the bell down by 3cm",
                "press the bell by 3cm down",
                "press down on the bell by 3cm",
                "press the bell in by 3cm",
                "tap the bell 30mm deep",
                "push the bell 3cm deep",
                "push the bell in by 3cm",
                "push the bell by 3cm",
                "push the bell until it is 3cm deep",
            )
        ),
        *(
            (text, Step("press", "bell", way="down", amount=3.0))
            for text in ("push the bell down 3 cm", "push the bell 3cm down", "push the bell by 3cm down")
        ),
        ("press the bell deep", Step("press", "bell")),
        ("press the deep fryer lid", Step("press", "deep fryer lid")),
        ("press the 5cm bell", Step("press", "5cm bell")),
        ("push the boat by 10cm to the left", Step("push", "boat", way="left", amount=10.0)),
        ("push the boat 10 cm left", Step("push", "boat", way="left", amount=10.0)),
        ("push the deep bowl 0.1m forward", Step("push", "deep bowl", way="forward", amount=10.0)),
        ("slide the lid down by 5cm", Step("press", "lid", way="down", amount=5.0)),
        ("push the boat to the left by 10cm", Step("push", "boat", way="left", amount=10.0)),
        ("push the left boat forward", Step("push", "left boat", way="forward")),
        ("push the boat to 10cm above the pot", Step("push", "boat", Place("above", ("pot",), 10.0))),
        ("push the boat towards the pot", Step("push", "boat", Place("center", ("pot",)))),
        ("face the grip", Step("face", "grip")),
        ("turn the gripper to face the grip", Step("face", "grip")),
        ("orient the gripper to face down", Step("face", "down")),
        ("rotate the gripper by 90 degrees clockwise", Step("turn", way="clockwise", amount=90.0)),
        (
            "turn the wheel counterclockwise by 45 degrees",
            Step("twist", "wheel", way="counterclockwise", amount=45.0),
        ),
        ("tilt the gripper by 30 degrees towards the left", Step("tilt", way="left", amount=30.0)),
    ],
)
def test_step(text, step):
    sentence = parse(text)
    assert sentence is not None
    assert sentence.steps == (step,)


def test_manner():
    sentence = parse(
        "move to 5cm above the pot while keeping at least 12cm away from the vase and the jug at 0.5x speed"
    )
    assert sentence is not None
    assert sentence.steps == (Step("go", place=Place("above", ("pot",), 5.0)),)
    assert sentence.manner.avoid == ((12.0, "the vase and the jug"),)
    assert sentence.manner.speed == 0.5
    assert sentence.things == ("pot", "vase", "jug")
    closed = parse("slowly move to the center of the pot with the gripper closed")
    assert closed is not None
    assert (closed.manner.gripper, closed.manner.speed) == ("closed", 0.5)
    down = parse("move to 10cm to the left of the pot with the gripper facing down")
    assert down is not None
    assert down.manner.facing == "down"


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        ("open gripper, back to default pose", ["open", "home"]),
        ("pick up the cup and lift it up by 10cm", ["grasp", "shift"]),
        ("move to the pot, then open the gripper", ["go", "open"]),
        ("grasp the salt and pepper box", ["grasp"]),
    ],
)
def test_several_steps(text, actions):
    sentence = parse(text)
    assert sentence is not None
    assert [step.action for step in sentence.steps] == actions


@pytest.mark.parametrize(
    "text", ["sing a song", "", "   .", "think about the cup", "42", "push the boat 10cm towards the pot"]
)
def test_what_is_no_movement_is_not_read(text):
    assert parse(text) is None


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("a point 10cm above [41 50 33]", Place("above", ("[41 50 33]",), 10.0)),
        ("a point 3cm below the top of the bell", Place("below top", ("bell",), 3.0)),
        ("a point at the center of the cup", Place("center", ("cup",))),
        ("the left side of the pot", Place("left", ("pot",))),
        ("inside the pot", Place("center", ("pot",))),
    ],
)
def test_place(text, where):
    assert place(text) == where
