"""What the rules say about an attempt, from boxes before and after it, and what their planner makes of that."""

from __future__ import annotations

from harness.chat.rules import Rules
from harness.protocols import Message, Sampling

PROGRAM = '```python\ncomposer("move to 10cm above the lid")\ncomposer("grasp the lid")\ncomposer("move up by 10cm")\n```'


def judge(before: dict[str, str], after: dict[str, str], gripper: str) -> str:
    def seen(boxes: dict[str, str]) -> str:
        return "\n".join(f"- {name}: {box}" for name, box in boxes.items())

    text = (
        f"Instruction: lift the lid\n\nProgram:\n\n{PROGRAM}\n\nBefore the attempt:\n{seen(before)}\n"
        f"The gripper is open.\n\nAfter the attempt:\n{seen(after)}\nThe gripper is {gripper}."
    )
    messages = [Message("system", "You judge the attempt of a robot arm."), Message("user", text)]
    return Rules().open().complete(messages, Sampling()).text


BEFORE = {"pan": "10 40 50 60", "lid": "20 30 40 40", "gripper": "100 0 120 20"}


def test_a_thing_that_stayed_where_it_was_was_missed() -> None:
    said = judge(BEFORE, BEFORE, "closed")
    assert said.startswith("Nothing moved. The gripper holds nothing.")
    assert "The lid was missed" in said
    assert "more slowly" in said


def test_a_thing_that_moved_and_is_not_held_slipped() -> None:
    said = judge(BEFORE, {**BEFORE, "lid": "60 30 80 40"}, "closed")
    assert "Moved: lid." in said
    assert "hold it at its top" in said


def test_a_thing_in_the_gripper_is_held_and_another_way_is_asked_for() -> None:
    said = judge(BEFORE, {**BEFORE, "lid": "100 20 120 30"}, "closed")
    assert "The gripper holds the lid." in said
    assert "try another way" in said


def test_an_open_gripper_holds_nothing() -> None:
    assert "holds nothing" in judge(BEFORE, {**BEFORE, "lid": "100 20 120 30"}, "open")


def test_the_gripper_itself_is_not_what_moved() -> None:
    assert "Nothing moved." in judge(BEFORE, {**BEFORE, "gripper": "20 0 40 20"}, "open")


def test_the_planner_does_as_the_critique_says(plan) -> None:  # type: ignore[no-untyped-def]
    first = plan("lift the lid", ["lid"])
    failed = (
        "This program failed:\n```python\n" + "\n".join(f'composer("{said}")' for said in first) + "\n```\n\n"
    )
    slowly = plan(
        "lift the lid", ["lid"], extra=failed + "Critique of that attempt: do the same again more slowly."
    )
    assert slowly != first
    assert slowly == [said if said.endswith("speed") else f"{said} at 0.5x speed" for said in first]
    top = plan("lift the lid", ["lid"], extra=failed + "Critique of that attempt: hold it at its top.")
    assert any("grasp the top of the lid" in said for said in top)
