"""What becomes of a reply's operations, in their order, and what the planner is told of it."""

from __future__ import annotations

from typing import Any

from harness.embedding import Lexical
from methods.hime.frames import Frame
from methods.hime.operations import asked, changed, events, told
from methods.hime.wire import Create, Delete, Malformed, Operation, Query, Update
from methods.record_memory import MemoryRules, Picture, RecordMemory

FRAMES = [Frame(10 * n, Picture(b"png %d" % n)) for n in (1, 2, 3)]


def memory(**rules: Any) -> RecordMemory:
    made = RecordMemory(MemoryRules(**rules), Lexical())
    made.create(["cup"], "the cup is clean", None, 0)
    return made


def refusals(operations: list[Operation], made: RecordMemory) -> list[str]:
    return [outcome.refused for outcome in changed(operations, made, FRAMES, 50)]


def test_turn_one_only_asks() -> None:
    made = memory()
    before = made.records
    outcomes = asked(
        [Query(("cup", "zzz")), Create(("a",), "b"), Delete(1), Malformed("MERGE", "there is no such type")],
        made,
    )
    assert [[found.how for found in outcome.found] for outcome in outcomes] == [["tag", "text"], [], [], []]
    assert [bool(outcome.refused) for outcome in outcomes] == [False, True, True, True]
    assert made.records == before
    assert events(outcomes) == (
        "memory: create refused",
        "memory: delete refused",
        "memory: operation refused",
    )


def test_turn_two_only_changes() -> None:
    made = memory()
    assert refusals([Query(("cup",)), Create(("a",), "b")], made) == ["queries belong to the first turn", ""]
    assert len(made) == 2


def test_operations_take_effect_in_their_order_and_a_refused_one_stops_none() -> None:
    made = memory()
    operations = [
        Update(2, text="too early"),
        Create(("bear",), "a bear"),
        Update(2, text="the id that it got"),
        Update(999, text="x"),
        Delete(999),
        Delete(1),
        Update(1, text="gone"),
        Malformed("", "it has no type"),
        Create((), "no tags"),
        Create(("bear",), "another"),
    ]
    assert refusals(operations, made) == [
        "there is no record 2",
        "",
        "",
        "there is no record 999",
        "there is no record 999",
        "",
        "there is no record 1",
        "it has no type",
        "a record needs tags",
        "",
    ]
    assert [(record.id, record.text, record.updated_at) for record in made.records] == [
        (2, "the id that it got", 50),
        (3, "another", 50),
    ]


def test_of_several_indices_the_last_that_exists_counts() -> None:
    made = memory()
    outcomes = changed(
        [
            Create(("a",), "one", (2,)),
            Create(("a",), "last valid", (1, 3, 9)),
            Create(("a",), "none valid", (0, -1, 4)),
            Update(1, images=(1,)),
            Update(1, images=(7,)),
        ],
        made,
        FRAMES,
        50,
    )
    pictures = [record.picture.png if record.picture else b"" for record in made.records]
    assert pictures == [b"png 1", b"png 2", b"png 3", b""]
    assert outcomes[4].refused == "it says nothing that is to be changed"
    assert events(outcomes) == (
        "memory: an image index is none of the frames",
        "memory: several image indices: the last one that exists was taken",
        "memory: an image index is none of the frames",
        "memory: update refused",
        "memory: an image index is none of the frames",
    )


def test_an_index_without_frame_is_no_record_where_a_picture_is_needed() -> None:
    made = RecordMemory(MemoryRules(modality="image"), Lexical())
    (outcome,) = changed([Create(("a",), "b", (9,))], made, FRAMES, 1)
    assert outcome.refused == "a record of this memory needs a picture" and len(made) == 0


def test_a_delete_makes_room_only_for_what_comes_after_it() -> None:
    made = memory(cap=1, when_full="refuse")
    operations = [Create(("a",), "early"), Delete(1), Create(("a",), "late")]
    assert [bool(refused) for refused in refusals(operations, made)] == [True, False, False]
    assert [record.text for record in made.records] == ["late"]


def test_the_planner_is_told_what_went_otherwise() -> None:
    made = memory(cap=1)
    outcomes = changed(
        [
            Create(("bear",), "a bear", (9,)),
            Delete(1),
            Update(2, text="b"),
            Malformed("X", "there is no such type"),
        ],
        made,
        FRAMES,
        1,
    )
    assert told(outcomes) == (
        "CREATE bear: an image index is none of the frames.",
        "CREATE bear: the memory was full, and record 1 was removed for it.",
        "DELETE 1 was not carried out: there is no record 1.",
        "An operation of type 'X' was not carried out: there is no such type.",
    )
    assert "memory: a record was pushed out" in events(outcomes)
