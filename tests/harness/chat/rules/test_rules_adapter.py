"""A plan of one world said in the style of another."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.chat.rules import Rules
from harness.protocols import Message, Sampling

WORLDS = Path(__file__).parents[4] / "envs"
METRES = """# Query: put the peg on the tray.
composer("go to the ready position")
composer("move to 0.1m above the peg")
composer("grasp the peg")
# done

# Query: press the bell.
composer("go to the ready position")
composer("push down the bell")
# done"""
CENTIMETRES = """# Query: put the peg on the tray.
composer("move to 10cm above the peg")
composer("grasp the peg")
composer("back to default pose")
# done

# Query: press the bell.
composer("push down the bell")
composer("back to default pose")
# done"""


def adapt(source: str, examples: str) -> list[str]:
    messages = [
        Message(
            "system",
            "You rewrite the program `planner` of another robot environment so that it fits this one.",
        ),
        Message("user", f"Examples:\n```python\n{examples}\n```"),
        Message("assistant", "Understood."),
        Message("user", f"Rewrite this program:\n\n```python\n# Query: lift the lid.\n{source}\n```"),
    ]
    return Rules().open().complete(messages, Sampling()).text.splitlines()


def test_units_home_words_and_where_home_stands_follow_the_examples() -> None:
    source = (
        'composer("move to 12cm above the lid")\ncomposer("grasp the lid")\ncomposer("back to default pose")'
    )
    assert adapt(source, METRES) == [
        'composer("go to the ready position")',
        'composer("move to 0.12m above the lid")',
        'composer("grasp the lid")',
        "# done",
    ]


def test_and_back() -> None:
    source = 'composer("go to the ready position")\ncomposer("move to 0.125m above the lid")\ncomposer("grasp the lid")'
    assert adapt(source, CENTIMETRES) == [
        'composer("move to 12.5cm above the lid")',
        'composer("grasp the lid")',
        'composer("back to default pose")',
        "# done",
    ]


def test_what_is_in_style_already_stays() -> None:
    source = 'composer("go to the ready position")\ncomposer("grasp the lid at 0.5x speed")'
    assert adapt(source, METRES) == [*source.splitlines(), "# done"]


def test_home_in_the_middle_stays_where_it_is() -> None:
    source = 'composer("grasp the lid")\ncomposer("back to default pose")\ncomposer("open gripper")'
    assert adapt(source, METRES)[1:4] == [
        'composer("grasp the lid")',
        'composer("go to the ready position")',
        'composer("open gripper")',
    ]


def test_numbers_that_are_no_lengths_stay() -> None:
    said = adapt(
        'composer("rotate the gripper by 90 degrees clockwise")\ncomposer("move up by 5 cm")', METRES
    )
    assert 'composer("rotate the gripper by 90 degrees clockwise")' in said
    assert 'composer("move up by 0.05m")' in said


@pytest.mark.parametrize(
    ("world", "unit", "other"), [("tabletop", "cm", "0.1m"), ("playtable", "0.1m", "10cm")]
)
def test_the_style_of_the_worlds_that_ship(world: str, unit: str, other: str) -> None:
    examples = (WORLDS / world / "prompts" / "planner.txt").read_text()
    said = "\n".join(adapt(f'composer("move to {other} above the lid")', examples))
    assert unit in said
    assert other not in said


def test_no_plan_is_refused() -> None:
    assert adapt("x = 1", METRES)[0].startswith("# there is no plan to rewrite")
