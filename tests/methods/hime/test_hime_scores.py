"""When something remembered counts as a fact, and what a Sentry's word is held against."""

from __future__ import annotations

import pytest

from harness.protocols import Fact, Subtask
from methods.hime.planners import Remembered
from methods.hime.scores import MemoryScore, SentryScore, concerned, done, holds
from methods.record_memory import Picture

BEAR = Fact("left box", "holds", "plush bear", 10)
CARD = Fact("recipe card", "asks for", "2 white rice", 10)
MAT = Fact("toy star", "stood on", "left mat", 0)
BESIDE = Fact("toy star", "belongs beside", "toy tree", 0)
LIKES = Fact("Nora", "prefers", "yellow corn to red beans", 0)


def words(text: str, step: int = 20) -> Remembered:
    return Remembered(text, None, step)


def picture(seen: str, step: int = 20) -> Remembered:
    return Remembered("", Picture(b"", seen), step)


@pytest.mark.parametrize(
    ("fact", "text", "told"),
    [
        (BEAR, "The left box holds the plush bear.", True),
        (BEAR, "in left_box there is a plush brown bear", True),
        (BEAR, "The right box holds the plush bear.", False),
        (BEAR, "The left box holds the bear plush", False),
        (BEAR, "", False),
        (CARD, "The recipe card asks for 2 white rice, 1 red beans", True),
        (CARD, "recipe card: 2 portions of white rice", True),
        (CARD, "recipe card: 1 white rice, 2 red beans", False),
        (CARD, "recipe card: 2 red beans, 1 white rice", False),
        (LIKES, "Nora prefers yellow corn to red beans", True),
        (LIKES, "nora: would rather have the yellow corn than the red beans", True),
        (LIKES, "Nora prefers red beans to yellow corn", False),
        (BESIDE, "From now on the toy star belongs on the same mat as the toy tree.", True),
        (BESIDE, "toy star stood on left mat; toy tree stood on right mat", False),
        (LIKES, "Emil prefers yellow corn to red beans", False),
    ],
)
def test_a_text_holds_a_fact_by_its_words_in_order(fact: Fact, text: str, told: bool) -> None:
    assert holds(fact, (), [words(text)]) is told


@pytest.mark.parametrize(
    ("fact", "seen", "shown"),
    [
        (BEAR, "wrist: left box 0 0 9 9; plush bear 1 1 5 5\nthird_person: nothing", True),
        (BEAR, "wrist: plush bear 1 1 5 5\nthird_person: left box 0 0 9 9", False),
        (BEAR, "wrist: nothing", False),
        (
            CARD,
            "wrist: recipe card 0 0 9 9; picture of white rice 1 1 1 2 2; picture of white rice 2 3 3 4 4",
            True,
        ),
        (CARD, "wrist: recipe card 0 0 9 9; picture of white rice 1 1 1 2 2", False),
        (CARD, "wrist: recipe card 0 0 9 9; picture of white rice 1 1 1 2 2; white rice 3 20 1 24 4", False),
        (BEAR, "wrist: left box 0 0 9 9; plush bear 11 1 15 5", False),
        (MAT, "third_person: left mat 16 147 69 163; toy star 34 130 48 155; toy tree 40 130 50 150", True),
        (MAT, "third_person: left mat 16 147 69 163; right mat 80 147 99 163; toy star 81 130 95 155", False),
        (BESIDE, "third_person: toy tree 16 147 69 163; toy star 34 140 48 155", False),
        (LIKES, "wrist: Nora 0 0 9 9; yellow corn 1 1 2 2; red beans 1 1 2 2", False),
    ],
)
def test_a_picture_holds_a_fact_if_one_camera_sees_the_thing_at_its_place(
    fact: Fact, seen: str, shown: bool
) -> None:
    assert holds(fact, (), [picture(seen)]) is shown


def test_what_was_remembered_later_counts() -> None:
    before = Fact("right box", "holds", "plush bear", 0)
    old, new = words("the right box holds the plush bear", 5), words("the left box holds the plush bear", 30)
    assert holds(BEAR, (before,), [old, new])
    assert not holds(BEAR, (before,), [words("the left box holds the plush bear", 5), words(old.words, 30)])
    assert not holds(BEAR, (before,), [old])
    # Another relation of the same thing contradicts nothing.
    assert holds(BEAR, (Fact("left box", "stood on", "table", 0),), [new, words("left box on table", 40)])


def test_the_last_call_for_a_subtask_counts_and_what_nobody_told_is_not_asked_for() -> None:
    score = MemoryScore()
    unknown = Fact("right box", "holds", "toy duck", None)
    fetch = Subtask("fetch", 0, None, (BEAR, unknown))
    score.asked({3: fetch}, 50, [], [])
    score.asked({3: fetch}, 60, [words("left box holds plush bear")], [])
    score.asked({4: Subtask("look", 0, None)}, 60, [], [])
    score.asked({5: Subtask("fetch", 0, None, (unknown,))}, 60, [], [])
    assert score.facts() == {"needed": 1, "in_store": 1, "retrieved": 0}


def test_what_the_robot_learned_since_the_call_before_need_not_be_in_memory_yet() -> None:
    score = MemoryScore()
    score.asked({3: Subtask("fetch", 0, None, (BEAR,))}, 9, [], [])
    assert score.facts() == {"needed": 0, "in_store": 0, "retrieved": 0}
    score.asked({3: Subtask("fetch", 0, None, (BEAR,))}, 10, [], [])
    assert score.facts() == {"needed": 1, "in_store": 0, "retrieved": 0}


def test_a_call_is_about_the_next_subtask_and_about_the_one_that_the_planner_names() -> None:
    rice, beans = "pick up white rice from first plate and place it to pot", "pick up red beans from pot"
    subtasks = [Subtask(rice, 0, 40), Subtask(beans, 0, None), Subtask(rice, 0, None), Subtask(rice, 0, None)]
    assert list(
        concerned("Pick up the white rice from the first plate and place it to the pot", subtasks, 1)
    ) == [2, 1]
    assert list(concerned(beans, subtasks, 1)) == [1]
    assert list(concerned("inspect the card", subtasks, 1)) == [1]
    assert concerned("inspect the card", subtasks, None) == {}


def test_the_oracle_knows_a_subtask_by_its_words_and_since_when_it_counts() -> None:
    subtasks = [
        Subtask("pick up red beans from first plate and place it to pot", 0, 40),
        Subtask("pick up red beans from first plate and place it to pot", 0, None),
        Subtask("inspect left box", 0, 30),
    ]
    beans = "Pick up the red beans from the first plate and place it into the pot"
    assert done(beans, subtasks, since=35) is True
    assert done(beans, subtasks, since=50) is False
    assert done("inspect the left box", subtasks, since=50) is True
    assert done("inspect right box", subtasks, since=0) is None
    assert done(beans, [], since=0) is None


def test_checks_and_subtasks_are_counted_apart() -> None:
    score = SentryScore()
    for said, true in ((False, False), (False, True), (True, True), (True, None), (True, False)):
        score.checked(said, true)
    score.left(True, True)
    score.left(False, True)
    assert score.facts() == {
        "checks": {"tp": 1, "fp": 1, "fn": 1, "tn": 1, "unknown": 1},
        "subtasks": {"tp": 1, "fp": 0, "fn": 1, "tn": 0, "unknown": 0},
    }
