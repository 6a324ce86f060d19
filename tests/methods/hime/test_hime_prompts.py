"""What a model is shown: nothing that a variant hides, each picture once with its anchor, and nothing that
would have to be guessed when there is nothing to show."""

from __future__ import annotations

from typing import Any

import pytest

from harness.embedding import Lexical
from harness.protocols import Reply
from methods.hime import prompts
from methods.hime.frames import Frame
from methods.hime.operations import asked
from methods.hime.prompts import Request
from methods.hime.sentry import verdict
from methods.hime.wire import Create, Delete, Query, UnusableReply, read_second, read_step
from methods.record_memory import MemoryRules, Picture, RecordMemory

DUCK, BEAR = Picture(b"duck", "wrist: toy duck 1 2 3 4"), Picture(b"bear")
FRAMES = (Frame(40, DUCK), Frame(140, BEAR))
REQUEST = Request("Tidy up & rest", "[current] inspect left box", 150, FRAMES, ("The user said: hurry.",))


def memory(**rules: Any) -> RecordMemory:
    made = RecordMemory(MemoryRules(**rules), Lexical())
    with_picture = made.rules.modality != "text"
    made.create(["duck", "left_box"], "a duck\nin the left box", DUCK if with_picture else None, 40)
    made.create(["bear"], "a bear", BEAR if with_picture else None, 41)
    made.create(["duck"], "again the duck", DUCK if with_picture else None, 42)
    return made


def turn_two(made: RecordMemory, *terms: str) -> tuple[str, tuple[bytes, ...]]:
    first = prompts.first_turn(REQUEST, made)
    outcomes = asked([Query(terms)] if terms else [], made)
    messages = prompts.second_turn(first, "the reply", outcomes, made.rules)
    assert list(messages[:2]) == first and (messages[2].role, messages[2].text) == ("assistant", "the reply")
    return messages[3].text, messages[3].images


def test_turn_one_shows_the_situation_and_each_frame_with_its_anchor() -> None:
    system, user = prompts.first_turn(REQUEST, memory(cap=8))
    assert system.role == "system" and system.images == ()
    assert user.images == (b"duck", b"bear")
    assert user.text == (
        "Instruction: Tidy up & rest\n\n"
        "Plan list:\n[current] inspect left box\n\n"
        "Control step now: 150\n\n"
        "Notes:\n- The user said: hurry.\n\n"
        "Memory: it holds 3 records, and has room for 8.\n\n"
        "Frames:\n"
        "Image 1: frame 1, control step 40\n   wrist: toy duck 1 2 3 4\n"
        "Image 2: frame 2, control step 140\n\n"
        "This is turn 1. Write QUERY operations only, and leave the plan list empty."
    )


def test_nothing_to_show_is_said_in_words() -> None:
    empty = RecordMemory(MemoryRules(), Lexical())
    text = prompts.first_turn(Request("Tidy up", "", 0, ()), empty)[1].text
    assert "Plan list:\n(there is no plan yet)" in text and "Memory: it holds no record yet." in text
    assert "Frames: none" in text and "Notes" not in text
    assert turn_two(empty)[0].startswith("Results of your queries: you asked for nothing.")
    assert "Query `duck`: no record" in turn_two(empty, "duck")[0]


def test_turn_two_shows_each_record_and_each_picture_once() -> None:
    text, images = turn_two(memory(), "duck", "left box", "bear")
    assert text == (
        "Results of your queries:\n"
        "Query `duck`, by its tag:\n"
        "1. record 1 | image | tags duck, left_box | score 1.00 | control step 40 | IMG 1\n"
        "   a duck\n   in the left box\n"
        "2. record 3 | image | tags duck | score 1.00 | control step 42 | IMG 1\n"
        "   again the duck\n"
        "Query `left box`, by its tag:\n"
        "- record 1, as above\n"
        "Query `bear`, by its tag:\n"
        "3. record 2 | image | tags bear | score 1.00 | control step 41 | IMG 2\n"
        "   a bear\n"
        "\n"
        "Pictures of the records:\n"
        "IMG 1: record 1, 3\n   wrist: toy duck 1 2 3 4\n"
        "IMG 2: record 2\n\n"
        "This is turn 2. Write operations that change the memory, if any are needed, and the complete "
        "plan list."
    )
    assert images == (b"duck", b"bear")


def test_image_only_shows_pictures_and_neither_tags_nor_text() -> None:
    text, images = turn_two(memory(modality="image"), "duck")
    assert "1. record 1 | image | score 1.00 | control step 40 | IMG 1\n2. record 3" in text
    assert "a duck" not in text and "left_box" not in text
    assert images == (b"duck",)


def test_text_only_shows_no_picture() -> None:
    text, images = turn_two(memory(modality="text"), "duck")
    assert "1. record 1 | text | tags duck, left_box" in text and "IMG" not in text
    assert images == ()


def test_turn_two_says_what_was_refused() -> None:
    made = memory()
    outcomes = asked([Create(("a",), "b"), Delete(1)], made)
    text = prompts.second_turn([], "r", outcomes, made.rules)[-1].text
    assert "Notes:\n- CREATE a was not carried out: the first turn only asks" in text
    assert "- DELETE 1 was not carried out" in text


@pytest.mark.parametrize(
    ("rules", "has", "lacks"),
    [
        ({}, ["<type>UPDATE", "<type>DELETE", "image_path"], ["has room for"]),
        ({"manage": "append"}, ["<type>CREATE", "cannot be changed"], ["<type>UPDATE", "<type>DELETE"]),
        (
            {"manage": "append", "cap": 8},
            ["has room for 8 records: a further one pushes out"],
            ["<type>UPDATE"],
        ),
        ({"cap": 8, "when_full": "refuse"}, ["has room for 8 records. When it is full, a CREATE fails"], []),
        ({"modality": "text"}, ["Records hold text only."], ["image_path"]),
        ({"modality": "image"}, ["Every record needs a picture"], ["left out where words"]),
    ],
)
def test_the_rules_of_a_variant_are_told(rules: dict[str, Any], has: list[str], lacks: list[str]) -> None:
    system = prompts.planner_system(MemoryRules(**rules))
    assert [part for part in has if part not in system] == []
    assert [part for part in lacks if part in system] == []
    assert "QUERY operations only" in system


def test_contiguous_frames_are_called_so() -> None:
    assert "one after the other" in prompts.planner_system(MemoryRules(), contiguous=True)
    assert "spread evenly" in prompts.planner_system(MemoryRules())


def test_a_planner_without_memory_is_not_asked_for_one() -> None:
    system, user = prompts.single_step(REQUEST)
    assert not any(word in system.text + user.text for word in ("memory", "plan list", "Plan list"))
    assert user.images == (b"duck", b"bear")


def test_the_flat_planner_sees_keyframes_before_recent_frames() -> None:
    user = prompts.flat(REQUEST, [Frame(3, BEAR)])[1]
    assert user.images == (b"bear", b"duck", b"bear")
    assert "Image 1: keyframe 1, control step 3" in user.text
    assert "Image 2: recent frame 1, control step 40" in user.text
    assert "(none yet)" in prompts.flat(REQUEST, [])[1].text


def test_the_sentry_sees_plan_subtask_and_window() -> None:
    system, user = prompts.sentry("[current] inspect left box", "inspect left box", FRAMES)
    assert user.text.startswith(
        "Plan list:\n[current] inspect left box\n\nCurrent subtask: inspect left box\n\n"
        "Frames:\nImage 1: frame 1"
    )
    assert user.images == (b"duck", b"bear")
    assert "<confidence>" not in system.text
    assert "<confidence>" in prompts.sentry("", "x", FRAMES, with_confidence=True)[0].text


def test_a_prompt_given_back_is_no_answer() -> None:
    """A model that only repeats what it was told claims nothing: the forms hold no valid word."""
    assert verdict(Reply(prompts.sentry("", "x", FRAMES)[0].text)).judgement == "unparsed"
    assert read_step(prompts.single_step(REQUEST)[0].text).complete is False
    with pytest.raises(UnusableReply):
        read_second(prompts.planner_system(MemoryRules()))
