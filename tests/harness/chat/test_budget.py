"""Budgets: what an episode that reaches its own is, how a sweep that reaches one stops and goes on, and what is told
of a model without a price."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import store
from harness.cells import Cell
from harness.chat.budget import EpisodeGuard, Limits, Purse
from harness.failures import BudgetExceeded, PriceUnknown, UsageError
from harness.protocols import Reply
from harness.records import Spent, Usage
from harness.sweep import SweepResult, run_cells

MakeCell = Callable[..., Cell]
PARROT = {"_target_": "harness.testing.talk.Parrot"}
"""A reply: 0.25 USD and 40 tokens."""
TALK = {"_target_": "harness.testing.talk.Talk"}
EPISODES = 15


def budget(**limits: Any) -> dict[str, Any]:
    return {"usd": None, "tokens": None, "calls": None, "episode": {}, **limits}


def play(make_cell: MakeCell, root: Path, **changes: Any) -> SweepResult:
    method = {**TALK, **changes.pop("method", {})}
    llm = {**PARROT, **changes.pop("llm", {})}
    return run_cells([make_cell(method=method, llm=llm, **changes)], root)


@pytest.mark.parametrize(
    ("limits", "calls"),
    [
        ({"calls": 3}, 3),
        ({"tokens": 100}, 3),  # 80 after two
        ({"tokens": 120}, 3),  # reached, not passed
        ({"usd": 0.6}, 3),
        ({"usd": 0.5}, 2),
        ({"calls": 5, "usd": 0.25}, 1),
    ],
)
def test_an_episode_that_reaches_its_budget_is_a_failure_and_ends(
    tmp_path: Path, make_cell: MakeCell, limits: dict[str, float], calls: int
) -> None:
    result = play(
        make_cell, tmp_path, method={"trials": 5}, env={"scenes": 1, "size": 1, "rate": 0.0},
        budget=budget(episode=limits),
    )  # fmt: skip
    assert result.complete
    (row,) = store.load(tmp_path)
    assert (row["status"], row["failure"], row["usage"]["calls"]) == ("failure", "budget", calls)
    assert row["reason"].startswith("budget.episode.")
    assert row["trial_count"] == calls // 2 + 1
    assert [trial["failure"] for trial in row["trials"]][-1] == "budget"


def test_an_episode_that_was_solved_when_its_budget_ran_out_is_solved(
    tmp_path: Path, make_cell: MakeCell
) -> None:
    play(make_cell, tmp_path, env={"rate": 1.0}, budget=budget(episode={"calls": 1}))
    assert {(row["status"], row["usage"]["calls"]) for row in store.load(tmp_path)} == {("success", 1)}


def test_an_episodes_budget_counts_kept_replies_so_that_it_does_not_hang_on_them(
    tmp_path: Path, make_cell: MakeCell
) -> None:
    rows = []
    for name in ("first", "second"):
        play(
            make_cell, tmp_path / name, env={"rate": 0.0}, budget=budget(episode={"usd": 0.25}),
            cache={"path": str(tmp_path / "cache.sqlite")},
        )  # fmt: skip
        rows.append(store.load(tmp_path / name))
    assert {row["spent"]["calls"] for row in rows[1]} == {0}
    assert [{row["failure"] for row in found} for found in rows] == [{"budget"}] * 2


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("limits", [{"usd": 2.0}, {"tokens": 320}, {"calls": 8}])
def test_a_sweep_stops_at_its_budget_and_goes_on_with_a_larger_one(
    tmp_path: Path, make_cell: MakeCell, workers: int, limits: dict[str, Any]
) -> None:
    run = {"workers": workers}
    first = play(make_cell, tmp_path, run=run, budget=budget(**limits))
    (name,) = limits
    assert 4 <= first.played <= 4 + max(workers - 1, 0)  # two calls an episode; those in flight end
    assert not first.complete
    assert first.cells[0].unplayed == EPISODES - first.played
    assert f"budget.{name}={limits[name]:g} is reached" in first.cells[0].stopped
    assert "larger budget" in first.cells[0].stopped
    again = play(make_cell, tmp_path, run=run, budget=budget(**limits))
    assert (again.played, again.complete) == (0, False)
    assert "is reached" in again.cells[0].stopped
    larger = {name: 3 * limits[name] // 2}
    more = play(make_cell, tmp_path, run=run, budget=budget(**larger))
    assert first.played + more.played >= 6
    assert not more.complete
    rest = play(make_cell, tmp_path, run=run)
    assert rest.complete
    assert len(store.load(tmp_path)) == EPISODES
    assert sum(row["usage"]["calls"] for row in store.load(tmp_path)) == 2 * EPISODES


def test_a_budget_that_is_just_enough_is_complete(tmp_path: Path, make_cell: MakeCell) -> None:
    result = play(make_cell, tmp_path, budget=budget(calls=2 * EPISODES))
    assert result.complete
    assert result.cells[0].stopped == ""


def test_what_the_cache_serves_costs_a_sweep_nothing(tmp_path: Path, make_cell: MakeCell) -> None:
    result = play(
        make_cell, tmp_path / "out", cache={"path": str(tmp_path / "cache.sqlite")}, budget=budget(calls=7)
    )
    assert result.complete  # three tasks of two questions; all scenes ask the same
    assert sum(row["spent"]["calls"] for row in store.load(tmp_path / "out")) == 6


def test_what_attempts_that_ended_in_an_error_cost_is_not_forgotten(
    tmp_path: Path, make_cell: MakeCell
) -> None:
    small = {"env": {"scenes": 1, "size": 1}}
    first = play(make_cell, tmp_path, llm={"down_after": 1}, **small)
    assert [row.error for row in first.cells[0].errors] == ["provider"]
    (row,) = store.load(tmp_path)
    assert (row["spent"]["calls"], row["usage"]["calls"]) == (1, 1)
    second = play(make_cell, tmp_path, **small)
    assert second.complete
    (row,) = store.load(tmp_path)
    assert (row["usage"]["calls"], row["spent"]) == (
        2,
        {"calls": 3, "cached_calls": 0, "tokens": 120, "cost_usd": 0.75},
    )
    third = play(make_cell, tmp_path, budget=budget(calls=3), env={"scenes": 2, "size": 1})
    assert (third.played, third.complete) == (0, False)


def test_a_budget_in_money_needs_a_price(tmp_path: Path, make_cell: MakeCell) -> None:
    with pytest.raises(UsageError, match="no known price"):
        play(make_cell, tmp_path / "told", llm={"priced": False}, budget=budget(usd=1.0))
    assert not (tmp_path / "told").exists()
    for number, limits in enumerate((budget(usd=1.0), budget(episode={"usd": 1.0}))):
        result = play(make_cell, tmp_path / str(number), llm={"cost_usd": None}, budget=limits)
        (error,) = result.cells[0].errors
        assert error.error == "price"
        assert "the price of a reply of parrot-1 is not known" in error.reason
        assert result.cells[0].unplayed == EPISODES - 1  # the sweep ends with the first
        assert "the sweep stopped" in result.cells[0].stopped
    result = play(make_cell, tmp_path / "tokens", llm={"cost_usd": None}, budget=budget(tokens=10**6))
    assert result.complete
    assert {row["usage"]["cost_usd"] for row in store.load(tmp_path / "tokens")} == {None}


@pytest.mark.parametrize("limits", [{"usd": 0.0}, {"calls": -1}, {"episode": {"tokens": 0}}])
def test_a_budget_of_nothing_is_a_mistake(
    tmp_path: Path, make_cell: MakeCell, limits: dict[str, Any]
) -> None:
    with pytest.raises(UsageError, match="has to be above 0"):
        play(make_cell, tmp_path, budget=budget(**limits))


def test_an_episodes_budget_makes_another_cell_and_a_sweeps_does_not(make_cell: MakeCell) -> None:
    plain = make_cell().identity
    assert make_cell(budget=budget(usd=3.0, calls=2)).identity == plain
    assert make_cell(budget=budget(episode={"usd": None, "tokens": None, "calls": None})).identity == plain
    assert make_cell(budget=budget(episode={"calls": 2})).identity != plain


def test_money_that_is_not_known_is_never_taken_for_none() -> None:
    spent = Spent(calls=1, cost_usd=0.5) + Spent(calls=2, tokens=7, cost_usd=None)
    assert vars(spent) == {"calls": 3, "cached_calls": 0, "tokens": 7, "cost_usd": None}
    purse = Purse(Limits(usd=0.1, calls=4), [spent])
    assert purse.empty == ""
    purse.pay(Spent(calls=1))
    assert purse.empty == "budget.calls=4 is reached (4 used)"


def test_a_kept_reply_without_a_price_is_refused_only_where_it_counts() -> None:
    reply = Reply("x", model="m", cached=True)
    EpisodeGuard(sweep=Limits(usd=1.0)).after(reply)
    with pytest.raises(PriceUnknown, match="cache prune --model m"):
        EpisodeGuard(episode=Limits(usd=1.0, where="budget.episode")).after(reply)
    with pytest.raises(BudgetExceeded, match=r"budget.episode.calls=2 is reached \(2 used\)"):
        EpisodeGuard(Limits(calls=2, where="budget.episode")).before(Usage(calls=2))


def test_rows_of_before_budgets_still_load(tmp_path: Path, make_cell: MakeCell) -> None:
    result = play(make_cell, tmp_path, env={"scenes": 1, "size": 1})
    path = result.cells[0].folder / store.ROWS
    row = json.loads(path.read_text())
    del row["spent"]
    path.write_text(json.dumps(row) + "\n")
    assert play(make_cell, tmp_path, env={"scenes": 1, "size": 1}).played == 0
