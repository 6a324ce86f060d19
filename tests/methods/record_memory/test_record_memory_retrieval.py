"""What a query finds, in which order, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from harness.embedding import Lexical
from harness.protocols import Problem
from methods.record_memory import Found, MemoryRules, RecordMemory


class Table:
    """Embeds by a table, unknown texts as zeros, and says what it was asked."""

    def __init__(self, **vectors: Sequence[float]) -> None:
        self.vectors = {name.replace("_", " "): vector for name, vector in vectors.items()}
        self.asked: list[str] = []

    def problems(self) -> list[Problem]:
        return []

    def embed(self, texts: Sequence[str]) -> Any:
        self.asked += texts
        return np.array([self.vectors.get(text, (0.0, 0.0)) for text in texts], dtype=np.float32)


def holding(*records: tuple[str, str], embedder: Any = None, **rules: Any) -> RecordMemory:
    memory = RecordMemory(MemoryRules(**rules), embedder or Lexical())
    for tags, text in records:
        memory.create(tags.split(), text, None, step=0)
    return memory


def ids(found: Found) -> list[int]:
    return [hit.record.id for hit in found.hits]


def test_an_equal_tag_gives_all_of_its_records_by_id_and_asks_no_embedder() -> None:
    embedder = Table()
    memory = holding(*[("duck box", f"t{n}") for n in range(7)], ("bear", "b"), embedder=embedder)
    found = memory.query(" [Duck] ")
    assert (found.how, found.tag, ids(found)) == ("tag", "duck", [1, 2, 3, 4, 5, 6, 7])
    assert {hit.score for hit in found.hits} == {1.0}
    assert embedder.asked == []


def test_without_that_tag_the_nearest_texts_come_best_first() -> None:
    memory = holding(
        ("a", "the recipe card asks for beans"),
        ("b", "Mira likes plush toys"),
        ("c", "the left box holds a plush bear"),
        top=2,
    )
    found = memory.query("what does Mira like: plush toys")
    assert (found.how, ids(found)) == ("text", [2, 3])
    assert found.hits[0].score > found.hits[1].score > 0


def test_exact_never_takes_a_similar_tag_and_fuzzy_does() -> None:
    vectors = {"toy_ducks": (1.0, 0.0), "toy_duck": (0.8, 0.6), "far": (0.0, 1.0), "near": (1.0, 0.0)}
    records = (("toy_duck", "far"), ("other", "near"))
    exact = holding(*records, embedder=Table(**vectors)).query("toy ducks")
    assert (exact.how, ids(exact)) == ("text", [2, 1])
    fuzzy = holding(*records, embedder=Table(**vectors), tags="fuzzy").query("toy ducks")
    assert (fuzzy.how, fuzzy.tag, ids(fuzzy)) == ("similar tag", "toy_duck", [1])
    assert fuzzy.hits[0].score == pytest.approx(0.8)


@pytest.mark.parametrize(("cosine", "how"), [(0.3, "similar tag"), (0.29, "text")])
def test_fuzzy_takes_a_tag_from_the_threshold_on(cosine: float, how: str) -> None:
    embedder = Table(asked=(1.0, 0.0), tag=(cosine, np.sqrt(1 - cosine**2)))
    assert holding(("tag", "text"), embedder=embedder, tags="fuzzy").query("asked").how == how


def test_after_a_query_its_words_are_no_tag() -> None:
    memory = holding(("duck", "a duck"))
    assert memory.query("goose").how == memory.query("goose").how == "text"
    assert memory.tags() == {"duck": 1}


@pytest.mark.parametrize("term", ["", "   ", "[]"])
def test_an_empty_query_finds_nothing(term: str) -> None:
    found = holding(("a", "b")).query(term)
    assert (found.how, found.hits) == ("nothing", ())


def test_an_empty_memory_finds_nothing() -> None:
    assert holding().query("duck") == Found("duck", "nothing")
    assert holding(tags="fuzzy").query("duck").hits == ()


@pytest.mark.parametrize(("top", "expected"), [(5, [1]), (0, []), (1, [1])])
def test_there_are_never_more_than_there_are(top: int, expected: list[int]) -> None:
    assert ids(holding(("a", "b"), top=top).query("zzz")) == expected


def test_equal_scores_come_by_id() -> None:
    memory = holding(*[("a", "same words") for _ in range(7)])
    assert ids(memory.query("same")) == [1, 2, 3, 4, 5]
    assert ids(holding(("a", "x"), ("a", "y"), embedder=Table()).query("q")) == [1, 2]


def test_a_score_that_is_no_number_is_not_given() -> None:
    embedder = Table(q=(1.0, 0.0), broken=(np.nan, 0.0), far=(-1.0, 0.0))
    assert ids(holding(("a", "broken"), ("b", "far"), embedder=embedder).query("q")) == [2]


def test_a_tag_whose_score_is_no_number_is_like_nothing() -> None:
    embedder = Table(q=(1.0, 0.0), broken=(np.nan, 0.0), near=(0.8, 0.6))
    found = holding(("broken", "a"), ("near", "b"), embedder=embedder, tags="fuzzy").query("q")
    assert (found.how, found.tag, ids(found)) == ("similar tag", "near", [2])


def test_differences_of_rounding_do_not_order() -> None:
    embedder = Table(q=(1.0, 0.0), one=(0.5, 0.0), two=(0.5 + 1e-7, 0.0))
    assert ids(holding(("a", "one"), ("b", "two"), embedder=embedder).query("q")) == [1, 2]


def test_each_text_is_embedded_once() -> None:
    embedder = Table()
    memory = holding(("a", "one"), ("b", "two"), embedder=embedder)
    memory.query("q")
    memory.update(2, 1, text="three")
    memory.query("q")
    assert embedder.asked == ["q", "one", "two", "three"]


def test_deleted_records_are_not_found() -> None:
    memory = holding(("duck", "a duck"), ("bear", "a bear"))
    memory.delete(1)
    assert ids(memory.query("duck")) == [2]


def test_two_memories_share_nothing() -> None:
    first = holding(("cup", "the cup is in the drawer"))
    assert holding().query("cup").hits == ()
    assert len(first) == 1
