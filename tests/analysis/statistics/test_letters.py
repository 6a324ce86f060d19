from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.statistics.letters import letters


def test_groups_that_overlap_bear_two_letters() -> None:
    assert letters(["mtp", "retry", "voxposer"], [("mtp", "voxposer")]) == {
        "mtp": "a",
        "retry": "ab",
        "voxposer": "b",
    }


def test_nothing_told_apart_is_one_letter_and_all_told_apart_are_as_many() -> None:
    names = ["x", "y", "z"]
    assert letters(names, []) == {"x": "a", "y": "a", "z": "a"}
    assert letters(names, combinations(names, 2)) == {"x": "a", "y": "b", "z": "c"}
    assert letters([], []) == {}
    assert letters(["x"], []) == {"x": "a"}


def test_a_letter_that_another_one_covers_is_dropped() -> None:
    # 1-3 differ splits 1234 into 234 and 124; 1-4 splits 124 into 24 and 12, and 24 is part of 234.
    assert letters(list("1234"), [("1", "3"), ("1", "4")]) == {"1": "a", "2": "ab", "3": "b", "4": "b"}


@given(st.integers(2, 7), st.data())
def test_two_groups_share_a_letter_exactly_when_they_were_not_told_apart(n: int, data: st.DataObject) -> None:
    names = [f"m{i}" for i in range(n)]
    pairs = list(combinations(names, 2))
    different = data.draw(st.lists(st.sampled_from(pairs), unique=True))
    found = letters(names, different)
    for a, b in pairs:
        assert set(found[a]).isdisjoint(found[b]) == ((a, b) in different)


def test_more_groups_than_letters() -> None:
    names = [f"m{i:02}" for i in range(54)]
    found = letters(names, combinations(names, 2))
    assert [found[f"m{i}"] for i in (25, 26, 51, 52, 53)] == ["z", "A", "Z", "a1", "b1"]


@pytest.mark.parametrize("pair", [("x", "x"), ("x", "w")])
def test_pairs_of_other_groups_are_refused(pair: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match="are not two of the groups x, y"):
        letters(["x", "y"], [pair])
