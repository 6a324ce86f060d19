"""A memory that grows: what is added, what is redundant, what goes first, and that earlier rows decide it all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.embedding import Lexical
from harness.records import EpisodeKey
from methods.code_memory import CodeMemory
from methods.code_memory.records import program_id
from methods.replan.online import Grown, OnlineTransfer
from methods.retrieval import Cosine
from tests.methods.conftest import Stage

KEYS = [EpisodeKey(f"task{i}", 0, 0) for i in range(8)]


def row(task: str, *trials: tuple[bool, str, str]) -> dict[str, Any]:
    """Trials are success, program, program that was shown."""
    return {
        "env": "world",
        "task": task,
        "instruction": f"do {task}",
        "method": "mtp_online",
        "models": ["m"],
        "seed": 0,
        "scene": 0,
        "versions": {},
        "trials": [
            {
                "success": success,
                "facts": {
                    "planner_code": code,
                    "retrieved": {"program": program_id(shown)} if shown else None,
                },
            }
            for success, code, shown in trials
        ],
    }


def grown(capacity: int, rows: list[dict[str, Any]], known: tuple[str, ...] = ()) -> Grown:
    memory = Grown(capacity, {program_id(code) for code in known})
    for entry in rows:
        memory.learn(entry)
    return memory


def test_programs_that_succeeded_are_added_and_others_are_not() -> None:
    memory = grown(9, [row("a", (False, "x()", ""), (True, "y()", "")), row("b", (False, "z()", ""))])
    assert [(record.task, record.code) for record in memory.records] == [("a", "y()")]


def test_a_program_that_is_there_already_is_redundant() -> None:
    memory = grown(
        9,
        [row("a", (True, "x()", "")), row("b", (True, "x()  # again", "")), row("c", (True, "g()", ""))],
        ("g()",),
    )
    assert [record.code for record in memory.records] == ["x()"]
    assert (memory.redundant, memory.pruned) == (2, 0)


def test_the_least_used_goes_first_and_of_those_the_oldest() -> None:
    rows = [row("a", (True, "a()", "")), row("b", (True, "b()", "")), row("c", (True, "c()", "a()"))]
    memory = grown(2, rows)
    assert [record.code for record in memory.records] == ["a()", "c()"]
    assert memory.pruned == 1
    unused = grown(2, [row(name, (True, f"{name}()", "")) for name in "abc"])
    assert [record.code for record in unused.records] == ["b()", "c()"]


def test_a_room_for_one_holds_the_newest() -> None:
    assert [record.code for record in grown(1, [row(n, (True, f"{n}()", "")) for n in "abc"]).records] == [
        "c()"
    ]


def test_the_order_is_the_suite_or_drawn_from_the_seed() -> None:
    suite = OnlineTransfer(CodeMemory(), Cosine(Lexical()))
    assert suite.order(KEYS, 0) == suite.order(KEYS, 1) == KEYS
    permuted = OnlineTransfer(CodeMemory(), Cosine(Lexical()), arrange="permuted")
    assert sorted(permuted.order(KEYS, 0), key=str) == KEYS
    assert permuted.order(KEYS, 0) == permuted.order(KEYS, 0) != permuted.order(KEYS, 1)


def test_a_memory_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="capacity is 0"):
        OnlineTransfer(CodeMemory(), Cosine(Lexical()), capacity=0)


def test_what_was_learned_is_recalled_and_the_row_says_how_much(stage: Callable[..., Stage]) -> None:
    one = stage({})
    one.episode.history = lambda: [
        row("lift the lid", (True, "lid()", "")),
        row("press", (False, "no()", "")),
    ]
    records, told = OnlineTransfer(CodeMemory(["tabletop"]), Cosine(Lexical())).recall(one.episode)
    assert records[:-1] == CodeMemory(["tabletop"]).records()
    assert records[-1].code == "lid()"
    assert told == {"memory": {"after": 2, "grown": 1, "redundant": 0, "pruned": 0, "order": "suite"}}
