"""The planner part: by analogy, from what the prompt shows."""

from __future__ import annotations

import pytest

from harness.chat.rules.planner import sentences_of

SCENES: dict[str, tuple[list[str], str, list[str], list[str]]] = {
    "into": (
        ["tub", "sock", "shirt1", "shirt2"],
        "put the sock into the tub",
        [
            "toss the sock in the tub",
            "pick up the sock and drop it into the tub",
            "the sock should be in the tub",
        ],
        ["grasp the sock", "above the tub", "open gripper"],
    ),
    "off by a switch": (
        ["heater", "knob", "book"],
        "turn off the heater",
        ["switch the heater off", "the heater should not be on any more", "shut off the heater"],
        ["above the knob", "push down the knob"],
    ),
    "press": (
        ["bell", "book"],
        "press the bell",
        ["push down on the bell", "the bell has to be pressed", "give the bell a push"],
        ["above the bell", "push down the bell"],
    ),
    "front handle": (
        ["left crate grip", "right crate grip", "crate"],
        "open the right crate",
        [
            "pull the right crate open",
            "slide the right crate open",
            "grip the right grip and slide that crate out",
        ],
        ["face the right crate grip", "grasp the right crate grip", "move away from the right crate grip"],
    ),
    "unscrew": (
        ["jar", "seal"],
        "open the jar",
        [
            "unscrew the seal from the jar",
            "twist the seal and pull it off",
            "unscrew the jar",
            "screw the seal off the jar",
        ],
        ["grasp the seal", "counterclockwise", "move up"],
    ),
    "out of": (
        ["quiver", "arrow"],
        "take the arrow out of the quiver",
        [
            "pull the arrow out of the quiver",
            "grasp the arrow and slide it out of the quiver",
            "lift the arrow out",
        ],
        ["grasp the arrow", "move up"],
    ),
    "off": (
        ["pot", "hood"],
        "take the hood off the pot",
        [
            "remove the hood from the pot",
            "lift the hood off of the pot",
            "grip the pot's hood and lift it off",
        ],
        ["grasp the hood", "move up"],
    ),
    "avoiding": (
        ["brick", "mat", "statue"],
        "put the brick on the mat without touching the statue",
        [
            "place the brick on top of the mat while avoiding the statue",
            "set the brick on the mat and stay clear of the statue",
        ],
        ["grasp the brick", "above the mat", "away from the statue", "open gripper"],
    ),
}
MADE_UP = ["zorb", "plim", "krost vane", "dwibs", "old fleem 7", "quashes"]


def follows(sentences: list[str], wanted: list[str]) -> bool:
    """Whether the sentences hold the wanted pieces, in order."""
    i = 0
    for said in sentences:
        if i < len(wanted) and wanted[i] in said:
            i += 1
    return i == len(wanted) or _same_sentence(sentences, wanted)


def _same_sentence(sentences: list[str], wanted: list[str]) -> bool:
    """The pieces in order when several of them may stand in one sentence."""
    text, at = " | ".join(sentences), 0
    for piece in wanted:
        at = text.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return True


@pytest.mark.parametrize("scene", SCENES)
def test_new_things_play_the_parts_of_an_example(scene, plan):
    objects, instruction, _, wanted = SCENES[scene]
    sentences = plan(instruction, objects)
    assert follows(sentences, wanted), sentences


@pytest.mark.parametrize(("scene", "wording"), [(s, w) for s in SCENES for w in SCENES[s][2]])
def test_other_wordings_give_a_plan_with_the_same_parts(scene, wording, plan):
    objects, _, _, wanted = SCENES[scene]
    sentences = plan(wording, objects)
    assert follows(sentences, wanted), sentences


def renaming(objects: list[str], shift: int) -> dict[str, str]:
    """New names that keep what is shared: "right crate grip" and "crate" share a word before and after."""
    words = dict.fromkeys(word for name in objects for word in name.split() if word not in ("left", "right"))
    new = {word: MADE_UP[(i + shift) % len(MADE_UP)] for i, word in enumerate(words)}
    return {word: new[word] for word in words}


@pytest.mark.parametrize("shift", range(len(MADE_UP)))
@pytest.mark.parametrize("scene", SCENES)
def test_renaming_everything_renames_the_plan_and_changes_nothing_else(scene, shift, plan):
    objects, instruction, _, _ = SCENES[scene]
    names = renaming(objects, shift)

    def renamed(text: str) -> str:
        return " ".join(names.get(word, word) for word in text.split())

    assert plan(renamed(instruction), [renamed(name) for name in objects]) == [
        renamed(said) for said in plan(instruction, objects)
    ]


def test_the_order_of_the_things_does_not_matter_where_words_decide(plan):
    assert plan("put the sock into the tub", ["sock", "tub"]) == plan(
        "put the sock into the tub", ["tub", "sock"]
    )


def test_names_keep_their_spelling(plan):
    sentences = plan("put the Red Sock in the tub", ["Red_Sock", "Tub"])
    assert "grasp the Red_Sock" in sentences
    assert any("above the Tub" in said for said in sentences)


PRESSING = """objects = ['radio', 'key']
# Query: turn off the radio.
composer("push down the key")
# done"""
PULLING = """objects = ['radio', 'key']
# Query: turn off the radio.
composer("grasp the key")
composer("move up by 5cm")
# done"""


def test_other_examples_change_the_plan(plan):
    assert plan("switch the heater off", ["heater", "knob"], PRESSING) == ["push down the knob"]
    assert plan("switch the heater off", ["heater", "knob"], PULLING) == ["grasp the knob", "move up by 5cm"]


def test_an_example_that_was_looked_up_wins_over_an_equally_near_one(plan):
    looked_up = f"A similar task that was solved before:\n```python\n{PULLING}\n```"
    assert plan("switch the heater off", ["heater", "knob"], PRESSING, looked_up) == [
        "grasp the knob",
        "move up by 5cm",
    ]


def test_a_looked_up_plan_needs_no_context_line(plan):
    looked_up = (
        'A successful plan for the similar instruction: turn off the radio\n```python\ncomposer("grasp the radio key")\n'
        'composer("move up by 5cm")\n```'
    )
    sentences = plan(
        "switch the heater off", ["heater", "heater knob"], PRESSING.replace("off", "on"), looked_up
    )
    assert sentences == ["grasp the heater knob", "move up by 5cm"]


def test_a_failed_plan_is_not_said_again(plan):
    failed = 'This plan failed:\n```python\ncomposer("push down the knob")\n# done\n```'
    both = f"{PRESSING}\n\n{PULLING}"
    first = plan("switch the heater off", ["heater", "knob"], both)
    assert first == ["push down the knob"]
    assert plan("switch the heater off", ["heater", "knob"], both, failed) == [
        "grasp the knob",
        "move up by 5cm",
    ]


def test_a_failed_plan_that_is_the_only_one_is_said_again(plan):
    failed = 'This plan failed:\n```python\ncomposer("push down the heater")\n# done\n```'
    assert plan("switch the heater off", ["heater"], PRESSING, failed) == ["push down the heater"]


def test_directions_amounts_and_pace_are_those_of_the_instruction(plan):
    assert plan("push the boat to the right by 20cm", ["boat"]) == ["push the boat to the right by 20cm"]
    assert plan("slowly push the boat forward by 4cm", ["boat"]) == [
        "push the boat forward by 4cm at 0.5x speed"
    ]
    turned = plan("turn the wheel counterclockwise by 45 degrees", ["wheel"])
    assert "rotate the gripper by 45 degrees counterclockwise" in turned


def test_what_only_the_example_avoids_is_left_out(plan):
    sentences = plan("put the brick on the mat", ["brick", "mat"])
    assert not any("away from" in said for said in sentences)


def test_several_things_and_several_clauses_are_done_in_order(plan):
    sentences = plan("put the cup and the can in the tub", ["cup", "can", "tub"])
    assert follows(sentences, ["grasp the cup", "above the tub", "grasp the can", "above the tub"])
    chained = plan("press the bell, then put the cup in the tub", ["bell", "cup", "tub"])
    assert follows(chained, ["push down the bell", "grasp the cup", "above the tub"])


def test_a_part_that_no_word_names_goes_to_what_is_left(plan):
    sentences = plan("throw away the trash", ["tub", "peel", "apple1", "apple2"])
    assert follows(sentences, ["grasp the peel", "above the tub"])
    assert not any("apple" in said for said in sentences)


def test_no_example_no_plan(ask):
    reply = ask("planner", "press the bell", ["bell"], examples="# Query: nothing.\npass")
    assert reply.text.startswith("# no example can be followed for: press the bell")


@pytest.mark.parametrize("literal", ['"C:\\users"', '"a\0b"', '"go\n on"', '"a \ud800"'])
def test_a_call_with_what_is_no_string_of_python_says_nothing(literal):
    assert sentences_of(f'composer({literal})\ncomposer("move up by 5cm")') == ("move up by 5cm",)
