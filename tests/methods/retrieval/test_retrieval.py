"""Rankings: the paper's rule, duplicates, ties, what is empty or not a number, and the controls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from harness.embedding import Lexical
from harness.protocols import Problem
from methods.code_memory import Record
from methods.code_memory.pictures import encode
from methods.retrieval import Cosine, FixedExample, Hybrid, RandomRank
from methods.retrieval.index import SMALL, Index
from methods.retrieval.similarity import split_action


def record(instruction: str, code: str | None = None) -> Record:
    return Record("kitchen", "task", instruction, code if code is not None else f"do({instruction!r})")


def anything(record: Record) -> bool:
    return True


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
    hits = Cosine(table).rank("asked", [record("far"), record("against"), record("near")], anything, 99, 0)
    assert instructions(hits) == ["near", "far", "against"]
    assert [hit.score for hit in hits] == pytest.approx([0.8, 0.0, -1.0])


def test_ties_keep_the_order_of_the_memory_and_nan_is_last() -> None:
    table = Table({"asked": (1.0, 0.0), "a": (0.6, 0.8), "b": (0.6, 0.8), "broken": (float("nan"), 0.0)})
    hits = Cosine(table).rank("asked", [record("broken"), record("b"), record("a")], anything, 99, 0)
    assert instructions(hits) == ["b", "a", "broken"]


def test_the_same_program_comes_once_unless_the_plain_ranking_is_asked_for() -> None:
    twins = [
        record("open the drawer", "x = 1"),
        record("open the drawers", "x=1  # same"),
        record("lift it", "y"),
    ]
    assert len(Cosine(Lexical()).rank("open the drawer", twins, anything, 99, 0)) == 2
    plain = Cosine(Lexical(), drop_duplicates=False).rank("open the drawer", twins, anything, 99, 0)
    assert instructions(plain)[:2] == ["open the drawer", "open the drawers"]


@pytest.mark.parametrize("retriever", [Cosine(Lexical()), RandomRank(), FixedExample(3)])
def test_an_empty_memory_and_a_single_record(retriever: Any) -> None:
    assert retriever.rank("open the drawer", [], anything, 99, 0) == []
    assert instructions(retriever.rank("", RECORDS[:1], anything, 99, 0)) == ["open the drawer"]


def test_an_empty_instruction_ranks_in_the_order_of_the_memory() -> None:
    assert instructions(Cosine(Lexical()).rank("", RECORDS, anything, 99, 0)) == instructions(
        FixedExample().rank("", RECORDS, anything, 99, 0)
    )


def test_random_ranks_are_drawn_by_seed_and_fixed_ones_are_not() -> None:
    drawn = {
        tuple(instructions(RandomRank().rank("open the drawer", RECORDS, anything, 99, seed)))
        for seed in range(20)
    }
    assert len(drawn) > 5
    assert RandomRank().rank("a", RECORDS, anything, 99, 7) == RandomRank().rank(
        "b", RECORDS, anything, 99, 7
    )
    for asked in ("open the drawer", "lift the lid"):
        assert instructions(FixedExample(1).rank(asked, RECORDS, anything, 99, 0))[0] == "push the button"
    assert instructions(FixedExample(5).rank("a", RECORDS, anything, 99, 0))[0] == "push the button"


def test_no_more_than_asked_for_and_only_what_is_allowed() -> None:
    def no_drawer(record: Record) -> bool:
        return "drawer" not in record.instruction

    hits = Cosine(Lexical()).rank("open the drawer", RECORDS, no_drawer, 2, 0)
    assert len(hits) == 2
    assert instructions(hits)[0] == "open the jar"


def test_opposites_are_alike_for_the_cosine_and_not_for_the_hybrid() -> None:
    records = [record("close the drawer"), record("open the cupboard door")]
    asked = "open the drawer"
    assert instructions(Cosine(Lexical()).rank(asked, records, anything, 2, 0))[0] == "close the drawer"
    assert (
        instructions(Hybrid(Lexical(), action_weight=0.7).rank(asked, records, anything, 2, 0))[0]
        == "open the cupboard door"
    )
    with pytest.raises(ValueError, match="from 0 to 1"):
        Hybrid(Lexical(), action_weight=1.5)


def coloured(*colour: int) -> Any:
    return np.full((64, 64, 3), colour, dtype=np.uint8)


@dataclass(frozen=True)
class MeanColour:
    """An embedder of pictures by their mean colour."""

    def problems(self) -> list[Problem]:
        return []

    def embed_images(self, images: Sequence[Any]) -> Any:
        means = np.array([image.mean(axis=(0, 1)) for image in images], dtype=np.float32).reshape(-1, 3)
        return means / np.linalg.norm(means, axis=1, keepdims=True)


RED, BLUE = coloured(200, 0, 0), coloured(0, 0, 200)


def test_with_pictures_the_score_is_the_weighed_sum_and_both_parts_are_told() -> None:
    table = Table({"asked": (1.0, 0.0), "a": (0.8, 0.6), "b": (0.6, 0.8)})
    records = [replace(record("a"), image=encode(RED)), replace(record("b"), image=encode(BLUE)), record("b")]
    retriever = Cosine(table, MeanColour(), image_weight=0.25, drop_duplicates=False)
    hits = retriever.rank("asked", records, anything, 9, 0, BLUE)
    assert [hit.record for hit in hits] == [records[1], records[0], records[2]]
    assert [hit.score for hit in hits] == pytest.approx([0.75 * 0.6 + 0.25, 0.75 * 0.8, 0.6], abs=1e-6)
    assert [hit.text for hit in hits] == pytest.approx([0.6, 0.8, 0.6])
    assert [hit.image for hit in hits] == [pytest.approx(1), pytest.approx(0, abs=1e-6), None]
    by_text = retriever.rank("asked", records, anything, 9, 0)
    assert [hit.record for hit in by_text] == [records[0], records[1], records[2]]
    assert {hit.text for hit in by_text} == {hit.image for hit in by_text} == {None}


@pytest.mark.parametrize("retriever", [Cosine(Lexical()), Hybrid(Lexical()), RandomRank(), FixedExample()])
def test_a_picture_is_taken_by_every_retriever_and_any_memory(retriever: Any) -> None:
    seen = [replace(one, image=encode(RED)) for one in RECORDS]
    assert retriever.rank("open the drawer", [], anything, 9, 0, RED) == []
    assert len(retriever.rank("open the drawer", RECORDS, anything, 9, 0, RED)) == 4
    assert len(retriever.rank("", seen, anything, 9, 0, coloured(0, 0, 0))) == 4


@pytest.mark.parametrize("weight", [-0.1, 1.0])
def test_pictures_alone_rank_nothing(weight: float) -> None:
    with pytest.raises(ValueError, match="from 0 to below 1"):
        Cosine(Lexical(), image_weight=weight)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("open the drawer", ("open", "drawer")),
        ("please turn off the lamp", ("turn off", "lamp")),
        ("take the umbrella out of the stand", ("take out", "umbrella of stand")),
        ("", ("", "")),
    ],
)
def test_the_action_is_told_from_the_rest(text: str, parts: tuple[str, str]) -> None:
    assert split_action(text) == parts


def test_the_index_of_many_gives_the_exact_order() -> None:
    """Against the plain product, with equal vectors and broken ones among them."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(300, 96))
    vectors = centres[rng.integers(300, size=SMALL + 5000)] + 0.6 * rng.normal(size=(SMALL + 5000, 96))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    vectors[7] = vectors[20_011]
    vectors[100] = np.nan
    index = Index(vectors)
    for row in (7, 500, 24_000):
        exact = np.nan_to_num(vectors @ vectors[row], nan=-2.0)
        order = np.argsort(-exact, kind="stable")
        found = [hit for hit, _ in zip(index.ranking(vectors[row]), range(700), strict=False)]
        assert [score for _, score in found] == pytest.approx(exact[order[:700]], abs=1e-5)
        assert len({row for row, _ in found}) == 700
        assert exact[[row for row, _ in found]] == pytest.approx(exact[order[:700]], abs=1e-5)
    assert [row for row, _ in index.ranking(vectors[7])][:2] == [7, 20_011]
    assert list(index.ranking(vectors[7]))[-1] == (100, -2.0)
