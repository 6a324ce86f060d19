"""Create, Update and Delete under each of the rules, one at a time and in any order."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.components import build
from harness.embedding import Lexical
from harness.failures import UsageError
from methods.record_memory import MemoryRules, Picture, RecordMemory, normalise_tag

DUCK = Picture(b"\x89PNG duck", "duck: 1 2 3 4")
BEAR = Picture(b"\x89PNG bear")


def memory(**rules: Any) -> RecordMemory:
    return RecordMemory(MemoryRules(**rules), Lexical())


def filled(count: int, **rules: Any) -> RecordMemory:
    made = memory(**rules)
    for n in range(1, count + 1):
        assert made.create([f"tag {n}"], f"text {n}", BEAR, step=n).id == n
    return made


@pytest.mark.parametrize(
    ("tag", "normal"),
    [
        ("Left Box", "left_box"),
        (" [toy_duck] ", "toy_duck"),
        ('"lily"', "lily"),
        ("'a  b\tc'", "a_b_c"),
        ("[]", ""),
        ("  ", ""),
    ],
)
def test_tags_are_normalised(tag: str, normal: str) -> None:
    assert normalise_tag(tag) == normal


def test_create_keeps_what_was_given() -> None:
    made = memory()
    assert made.create(["Duck", "left box", "duck"], "  the duck is in the left box ", DUCK, step=40).id == 1
    (record,) = made.records
    assert (record.tags, record.text, record.picture) == (
        ("duck", "left_box"),
        "the duck is in the left box",
        DUCK,
    )
    assert (record.kind, record.updated_at) == ("image", 40)


@pytest.mark.parametrize(
    ("tags", "text", "needs"),
    [([], "t", "tags"), (["[]", " "], "t", "tags"), (["a"], " \n", "text"), ([], "", "tags and text")],
)
def test_a_record_needs_tags_and_text(tags: list[str], text: str, needs: str) -> None:
    made = memory()
    change = made.create(tags, text, DUCK, step=0)
    assert (change.id, change.refused) == (None, f"a record needs {needs}")
    assert len(made) == 0 and made.next_id == 1


def test_update_changes_only_the_given_fields() -> None:
    made = memory()
    made.create(["cup"], "the cup is clean", None, step=1)
    assert made.update(1, 5, text="the cup is dirty").refused == ""
    assert made.records[0].tags == ("cup",) and made.records[0].updated_at == 5
    made.update(1, 6, tags=["cup", "sink"])
    assert made.records[0].text == "the cup is dirty" and made.records[0].tags == ("cup", "sink")


def test_a_text_record_that_gets_a_picture_shows_it() -> None:
    made = memory()
    made.create(["cup"], "the cup", None, step=1)
    assert made.records[0].kind == "text"
    made.update(1, 2, picture=DUCK)
    assert made.records[0].kind == "image" and made.records[0].picture == DUCK


@pytest.mark.parametrize(
    ("fields", "refused"),
    [
        ({}, "it says nothing that is to be changed"),
        ({"text": "  "}, "text would be empty"),
        ({"tags": []}, "tags would be empty"),
        ({"tags": ["x"], "text": ""}, "text would be empty"),
    ],
)
def test_an_update_that_would_leave_nothing_is_refused(fields: dict[str, Any], refused: str) -> None:
    made = filled(1)
    before = made.records
    assert made.update(1, 9, **fields).refused == refused
    assert made.records == before


def test_unknown_ids_neither_create_nor_delete() -> None:
    made = filled(2)
    before = made.records
    for unknown in (999, 0, -1):
        assert made.update(unknown, 9, text="x").refused == f"there is no record {unknown}"
        assert made.delete(unknown).refused == f"there is no record {unknown}"
    assert made.records == before


def test_several_writes_of_one_record_take_effect_in_order() -> None:
    made = filled(1)
    made.update(1, 2, text="first")
    made.update(1, 2, text="second")
    assert made.records[0].text == "second"
    assert made.delete(1).refused == ""
    assert made.update(1, 2, text="third").refused == "there is no record 1"
    assert made.delete(1).refused == "there is no record 1"
    assert made.create(["b"], "b", None, 3).id == 2  # ids are not given twice
    assert made.update(2, 3, text="c").refused == ""


def test_the_same_create_twice_is_two_records_and_says_so() -> None:
    made = memory()
    assert made.create(["a"], "b", None, 1).notes == ()
    second = made.create(["A"], " b", None, 2)
    assert (second.id, second.notes) == (2, ("the same as an earlier record",))


def test_counts_of_tags_return_to_zero() -> None:
    made = memory()
    made.create(["cup", "cup"], "t", None, 1)
    assert made.tags() == {"cup": 1}
    made.update(1, 2, tags=["mug"])
    assert made.tags() == {"mug": 1}
    made.delete(1)
    assert made.tags() == {}


def test_append_only_refuses_changes() -> None:
    made = filled(2, manage="append")
    before = made.records
    assert "cannot be changed" in made.update(1, 9, text="x").refused
    assert "cannot be changed" in made.delete(1).refused
    assert made.records == before


def test_fifo_pushes_out_the_smallest_ids_also_when_they_were_updated_last() -> None:
    made = filled(3, cap=3)
    made.update(1, 100, text="fresh")
    change = made.create(["new"], "new", None, 101)
    assert [record.text for record in change.evicted] == ["fresh"]
    assert [record.id for record in made.records] == [2, 3, 4]


def test_a_full_memory_that_evicts_nothing_refuses_until_something_is_deleted() -> None:
    made = filled(2, cap=2, when_full="refuse")
    assert (
        made.create(["new"], "new", None, 3).refused
        == "the memory is full (2 of 2 records): delete a record first"
    )
    made.delete(1)
    assert made.create(["new"], "new", None, 3).id == 3


def test_a_refused_create_evicts_nothing() -> None:
    made = filled(2, cap=2)
    assert made.create([], "new", None, 3).evicted == ()
    assert len(made) == 2


def test_text_only_leaves_pictures_out_and_says_so() -> None:
    made = memory(modality="text")
    assert made.create(["a"], "b", DUCK, 1).notes == (
        "pictures are not kept in this memory: it was left out",
    )
    assert made.records[0].picture is None
    change = made.update(1, 2, picture=DUCK)
    assert change.refused == "it says nothing that is to be changed" and change.notes


def test_image_only_needs_a_picture() -> None:
    made = memory(modality="image")
    assert made.create(["a"], "b", None, 1).refused == "a record of this memory needs a picture"
    assert made.create(["a"], "b", DUCK, 1).id == 1
    assert made.update(1, 2, text="c").refused == ""
    assert made.records[0].picture == DUCK


@pytest.mark.parametrize(
    ("rules", "says"),
    [
        ({"cap": 0}, "cap is 0"),
        ({"top": -1}, "top is -1"),
        ({"threshold": 2.0}, "threshold"),
        ({"manage": "x"}, "crud"),
    ],
)
def test_rules_that_make_no_sense_are_named(rules: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        build({"_target_": "methods.record_memory.MemoryRules", **rules}, "method.memory")


WORDS = st.sampled_from(["cup", "left box", "duck", "", "[ ]"])
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("create"), st.lists(WORDS, max_size=3), WORDS, st.sampled_from([None, DUCK])),
        st.tuples(
            st.just("update"), st.integers(-1, 9), st.none() | st.lists(WORDS, max_size=2), st.none() | WORDS
        ),
        st.tuples(st.just("delete"), st.integers(-1, 9)),
    ),
    max_size=30,
)
RULES = st.builds(
    MemoryRules,
    manage=st.sampled_from(["crud", "append"]),
    cap=st.none() | st.integers(1, 4),
    when_full=st.sampled_from(["evict", "refuse"]),
    modality=st.sampled_from(["text", "image", "both"]),
)


@given(rules=RULES, operations=OPERATIONS)
def test_whatever_is_asked_the_rules_hold(rules: MemoryRules, operations: list[tuple[Any, ...]]) -> None:
    made = RecordMemory(rules, Lexical())
    ever: set[int] = set()
    for step, (operation, *given_) in enumerate(operations):
        before, next_id = made.records, made.next_id
        if operation == "create":
            change = made.create(*given_, step=step)
        elif operation == "update":
            change = made.update(given_[0], step, tags=given_[1], text=given_[2])
        else:
            change = made.delete(*given_)
        ids = [record.id for record in made.records]
        if change.refused:
            assert (made.records, made.next_id, change.evicted) == (before, next_id, ())
        elif operation == "create":
            assert change.id == next_id and change.id not in ever
            ever.add(change.id)
            assert {record.id for record in before} - set(ids) == {record.id for record in change.evicted}
        assert ids == sorted(set(ids)) and set(ids) <= ever
        assert rules.cap is None or len(made) <= rules.cap
        assert all(record.tags and record.text for record in made.records)
        assert rules.modality != "image" or all(record.picture for record in made.records)
        assert rules.modality != "text" or not any(record.picture for record in made.records)
        assert sum(made.tags().values()) == sum(len(record.tags) for record in made.records)
