"""Rankings: the paper's rule, duplicates, ties, what is empty or not a number, and the controls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from harness.embedding import Lexical
from harness.protocols import Problem
from methods.code_memory import Record
from methods.retrieval import Cosine, FixedExample, RandomRank


def record(instruction: str, code: str | None = None) -> Record:
    return Record("kitchen", "task", instruction, code if code is not None else f"do({instruction!r})")


RECORDS = [record(text) for text in ("open the drawer", "push the button", "lift the lid", "open the jar")]


@dataclass(frozen=True)
class Table:
    """An embedder with a vector for each text."""

    vectors: dict[str, tuple[float, float]]

    def problems(self) -> list[Problem]:
        return []

    def embed(self, texts: Sequence[str]) -> Any:
        return np.array([self.vectors[text] for text in texts], dtype=np.float32).reshape(len(texts), 2)


def instructions(hits: Sequence[Any]) -> list[str]:
    return [hit.record.instruction for hit in hits]


def test_the_score_is_the_cosine_of_the_instructions() -> None:
    table = Table({"asked": (1.0, 0.0), "near": (0.8, 0.6), "far": (0.0, 1.0), "against": (-1.0, 0.0)})
    hits = Cosine(table).rank("asked", [record("far"), record("against"), record("near")], 0)
    assert instructions(hits) == ["near", "far", "against"]
    assert [hit.score for hit in hits] == pytest.approx([0.8, 0.0, -1.0])


def test_ties_keep_the_order_of_the_memory_and_nan_is_last() -> None:
    table = Table({"asked": (1.0, 0.0), "a": (0.6, 0.8), "b": (0.6, 0.8), "broken": (float("nan"), 0.0)})
    hits = Cosine(table).rank("asked", [record("broken"), record("b"), record("a")], 0)
    assert instructions(hits) == ["b", "a", "broken"]


def test_the_same_program_comes_once_unless_the_plain_ranking_is_asked_for() -> None:
    twins = [
        record("open the drawer", "x = 1"),
        record("open the drawers", "x=1  # same"),
        record("lift it", "y"),
    ]
    assert len(Cosine(Lexical()).rank("open the drawer", twins, 0)) == 2
    plain = Cosine(Lexical(), drop_duplicates=False).rank("open the drawer", twins, 0)
    assert instructions(plain)[:2] == ["open the drawer", "open the drawers"]


@pytest.mark.parametrize("retriever", [Cosine(Lexical()), RandomRank(), FixedExample(3)])
def test_an_empty_memory_and_a_single_record(retriever: Any) -> None:
    assert retriever.rank("open the drawer", [], 0) == []
    assert instructions(retriever.rank("", RECORDS[:1], 0)) == ["open the drawer"]


def test_an_empty_instruction_ranks_in_the_order_of_the_memory() -> None:
    assert instructions(Cosine(Lexical()).rank("", RECORDS, 0)) == instructions(
        FixedExample().rank("", RECORDS, 0)
    )


def test_random_ranks_are_drawn_by_seed_and_fixed_ones_are_not() -> None:
    drawn = {tuple(instructions(RandomRank().rank("open the drawer", RECORDS, seed))) for seed in range(20)}
    assert len(drawn) > 5
    assert RandomRank().rank("a", RECORDS, 7) == RandomRank().rank("b", RECORDS, 7)
    for asked in ("open the drawer", "lift the lid"):
        assert instructions(FixedExample(1).rank(asked, RECORDS, 0))[0] == "push the button"
    assert instructions(FixedExample(5).rank("a", RECORDS, 0))[0] == "push the button"
