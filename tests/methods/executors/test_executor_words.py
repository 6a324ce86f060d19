"""The grammar of the scripted executor: what it takes for the same, and what it does not understand."""

import pytest

from methods.executors.words import Command, matches, parse

MOVE = Command("move", "plush bear", "left box", "tray")


@pytest.mark.parametrize(
    "text",
    [
        "pick up plush bear from left box and place it to tray",
        "pick up plush bear from left box and place it to tray (the guest likes it)",
        "Pick up plush bear from left box and place it to tray (what the guest likes).",
        "[current] 3. Pick up the plush bear from the left box, and place it on the tray.",
        "pick up 'plush_bear' from left_box then put it onto the tray",
        "take the plush bear out of the left box and put it in the tray",
        "fetch the plush bear from the left box and set it on the tray",
        "move the plush bear from the left box to the tray",
        "- grab a plush bear off the left box and then drop it into the tray!",
    ],
)
def test_ways_to_say_the_same(text):
    assert parse(text) == MOVE


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("inspect left box", Command("look", "left box")),
        ("Look into the left box.", Command("look", "left box")),
        ("read the recipe card (check what it needs)", Command("look", "recipe card")),
        ("put toy boat in chest", Command("move", "toy boat", "", "chest")),
        ("put the toy boat back on the left mat", Command("move", "toy boat", "", "left mat")),
        ("give snack bar to Mira", Command("move", "snack bar", "", "mira")),
        ("pour a portion of red beans into the pot", Command("move", "red beans", "", "pot")),
        (
            "dispense one portion of red beans from first plate to pot",
            Command("move", "red beans", "first plate", "pot"),
        ),
        ("add one more red beans to pot", Command("move", "red beans", "", "pot")),
        ("pick up toy boat", Command("move", "toy boat")),
        ("fetch the toy boat from the chest", Command("move", "toy boat", "chest")),
        (
            "pick up box of pins from crate and place it to tray",
            Command("move", "box of pins", "crate", "tray"),
        ),
        ("go home", Command("rest")),
        ("go to rest", Command("rest")),
        ("return to the home pose", Command("rest")),
        ("reset", Command("rest")),
        ("reset the arm", Command("rest")),
    ],
)
def test_commands(text, command):
    assert parse(text) == command


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "[current]",
        "wait for the user",
        "sing a song",
        "plush bear",
        "pick up",
        "put the toy boat",
        "place it",
        "inspect",
        "all done",
        "go to the kitchen",
        "don't pick up plush bear from left box and place it to tray",
        "<subtask>inspect left box</subtask>",
    ],
)
def test_what_is_not_understood(text):
    assert parse(text) is None


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("plush bear", ["plush bear"]),
        ("bear", ["plush bear"]),
        ("plush", ["plush bear", "plush frog"]),
        ("red beans", ["red beans 1", "red beans 3"]),
        ("red beans 3", ["red beans 3"]),
        ("left box", ["Left_Box"]),
        ("box", ["Left_Box"]),
        ("teapot", []),
        ("", []),
        ("bea", []),
    ],
)
def test_names_are_those_seen(said, found):
    seen = ["plush bear", "plush frog", "red beans 1", "picture of red beans 1", "red beans 3", "Left_Box"]
    assert matches(said, seen) == found
