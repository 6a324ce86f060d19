from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.statistics.families import holm


def test_holm_by_hand() -> None:
    found = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
    assert found == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02})


def test_what_could_not_be_compared_is_not_in_the_family() -> None:
    assert holm({"a": None, "b": 0.03, "c": None}) == {"a": None, "b": 0.03, "c": None}
    assert holm({}) == {}


@given(st.lists(st.floats(0, 1), max_size=12))
def test_adjusted_values_keep_the_order_and_only_rise(p_values: list[float]) -> None:
    found = holm(dict(enumerate(p_values)))
    for i, p in enumerate(p_values):
        assert p <= found[i] <= min(1, len(p_values) * p) + 1e-12
        assert all(found[i] <= found[j] for j, other in enumerate(p_values) if p < other)


def test_all_are_rejected_or_none_of_equal_ones() -> None:
    assert holm({"a": 0.02, "b": 0.02}) == {"a": 0.04, "b": 0.04}
    assert holm({"a": 0.6, "b": 0.9}) == {"a": 1.0, "b": 1.0}
