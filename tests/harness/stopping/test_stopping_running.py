"""The comparisons of a running sweep, fed with rows in any order."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.stopping.plan import comparisons
from harness.stopping.running import Stopping
from harness.store import Digest
from tests.harness.stopping.coins import coins
from tests.harness.test_summary import BASE

CELLS = coins({"a": 0.5, "b": 0.5, "c": 0.5})
A, B, C = (cell.identity for cell in CELLS)
EPISODES = [f"task{task}-s{scene}-i0" for scene in range(20) for task in range(3)]


def fresh(**run: object) -> Stopping:
    return Stopping(comparisons(coins({"a": 0.5, "b": 0.5, "c": 0.5}, **run)))


def row(episode: str, status: str, state: str = "") -> Digest:
    return replace(BASE, episode=episode, status=status, state_hash=state or f"state of {episode}")


def rows(outcomes: dict[str, str]) -> list[tuple[str, Digest]]:
    """Of each cell, `+` for an episode that succeeds, `-` for one that fails, in the order of the test."""
    return [
        (identity, row(episode, "success" if sign == "+" else "failure"))
        for identity, signs in outcomes.items()
        for episode, sign in zip(EPISODES, signs, strict=False)
    ]


def test_it_decides_at_the_pair_at_which_the_test_does() -> None:
    stopping = fresh()
    decided = []
    for number, episode in enumerate(EPISODES):
        stopping.take(A, row(episode, "failure"))
        if stopping.take(B, row(episode, "success")):
            decided.append(number)
    assert decided == [10]  # eleven in a row: 182 / 12288 is the first p-value below 0.025
    one = stopping.running[0].standing()
    assert (one.decided, one.pairs, one.first_only, one.second_only) == ("first", 11, 11, 0)
    assert one.p_value == pytest.approx(182 / 12288)
    assert one.verdict == "b solves more than a"


def test_the_other_way_round() -> None:
    stopping = fresh()
    for identity, digest in rows({A: "+" * 30, B: "-" * 30}):
        stopping.take(identity, digest)
    assert stopping.running[0].standing().verdict == "b solves less than a"


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_the_order_in_which_rows_come_changes_nothing(data: st.DataObject) -> None:
    length = data.draw(st.integers(5, 60))
    signs = st.text("+-", min_size=length, max_size=length)
    outcomes = {A: data.draw(signs), B: "+" * length, C: data.draw(signs)}
    found = rows(outcomes)
    results = []
    for arrangement in (found, data.draw(st.permutations(found))):
        stopping = fresh(margin=0.4)
        for identity, digest in arrangement:
            stopping.take(identity, digest)
        wanted = [stopping.wants(identity, episode) for identity in (A, B, C) for episode in EPISODES]
        results.append(([one.standing() for one in stopping.running], wanted))
    assert results[0] == results[1]


def test_a_gap_is_waited_for_and_what_came_after_it_is_taken_then() -> None:
    stopping = fresh()
    late = (A, row(EPISODES[3], "failure"))
    for identity, digest in rows({A: "-" * 20, B: "+" * 20}):
        if (identity, digest.episode) != (A, EPISODES[3]):
            stopping.take(identity, digest)
    assert stopping.running[0].taken == 3
    (decided,) = stopping.take(*late)
    assert decided.taken == 11


def test_an_error_is_no_outcome_and_is_named() -> None:
    stopping = fresh()
    for identity, digest in rows({A: "-" * 20, B: "++"}):
        stopping.take(identity, digest)
    stopping.take(B, row(EPISODES[2], "error", state=""))
    for episode in EPISODES[3:20]:
        stopping.take(B, row(episode, "success"))
    one = stopping.running[0].standing()
    assert (one.pairs, one.decided) == (2, None)
    assert f"It waits for {EPISODES[2]} of {CELLS[1].folder_name}, which ended in an error" in one.words()
    stopping.take(B, row(EPISODES[2], "success"))
    assert stopping.running[0].standing().decided == "first"
    assert stopping.running[0].standing().waits_for == ""


def test_a_method_goes_on_as_long_as_one_of_its_comparisons_is_undecided() -> None:
    stopping = fresh()
    for identity, digest in rows({A: "-" * 20, B: "+" * 20, C: "-" * 20}):
        stopping.take(identity, digest)
    assert [one.decided for one in stopping.running] == [True, False]
    wanted = {
        identity: sum(stopping.wants(identity, episode) for episode in EPISODES) for identity in (A, B, C)
    }
    assert wanted == {A: 60, B: 11, C: 60}


def test_an_episode_that_is_in_no_pair_is_always_wanted() -> None:
    stopping = fresh(compare=[["a", "b"]])
    for identity, digest in rows({A: "-" * 20, B: "+" * 20}):
        stopping.take(identity, digest)
    assert all(stopping.wants(C, episode) for episode in EPISODES)
    assert not stopping.wants(A, EPISODES[11])


def test_scenes_that_were_not_the_same_are_no_pair() -> None:
    stopping = fresh()
    for number, (identity, episode) in enumerate(product((A, B), EPISODES)):
        state = "another" if (identity, episode) == (B, EPISODES[4]) else ""
        stopping.take(identity, row(episode, "success" if number % 2 else "failure", state))
    one = stopping.running[0].standing()
    assert (one.pairs, one.decided) == (4, None)
    assert f"{EPISODES[4]} did not start from the same state for both" in one.words()
    assert all(stopping.wants(A, episode) for episode in EPISODES)


def test_without_comparisons_everything_is_wanted() -> None:
    stopping = Stopping([])
    assert stopping.take(A, row(EPISODES[0], "success")) == []
    assert stopping.wants(A, EPISODES[0])
