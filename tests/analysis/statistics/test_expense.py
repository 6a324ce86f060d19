from __future__ import annotations

import pytest

from analysis.statistics.expense import expense


def test_failures_cost_and_errors_do_not(make_row) -> None:
    rows = [make_row(True), make_row(True), make_row(False), make_row(status="error", error="crash")]
    found = expense(rows)
    assert (found.episodes, found.successes, found.calls, found.tokens) == (3, 2, 30, 3000)
    assert found.tokens_per_success == 1500
    assert found.cost_per_success == pytest.approx(0.75)
    assert found.seconds_per_success == pytest.approx(3)
    assert found.chat_seconds == pytest.approx(1.5)


def test_without_a_success_there_is_no_price_of_one(make_row) -> None:
    found = expense([make_row(False)])
    assert found.cost_usd == 0.5
    assert found.tokens_per_success is None and found.cost_per_success is None
    assert expense([]).seconds_per_success is None


def test_one_unknown_price_makes_the_total_unknown(make_row) -> None:
    row = make_row(True)
    unknown = make_row(True, usage=row["usage"] | {"cost_usd": None}, spent={"cached_calls": 4})
    found = expense([row, unknown])
    assert found.cost_usd is None and found.cost_per_success is None
    assert found.cached_calls == 4
    assert found.tokens_per_success == 1000
