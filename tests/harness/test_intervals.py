from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binomtest

from harness.intervals import clopper_pearson


@pytest.mark.parametrize(
    ("k", "n"), [(0, 1), (1, 1), (0, 10), (10, 10), (3, 10), (25, 45), (1, 150), (777, 1000)]
)
def test_the_bounds_are_the_exact_ones(k: int, n: int) -> None:
    exact = binomtest(k, n).proportion_ci(0.95, method="exact")
    assert clopper_pearson(k, n) == pytest.approx((exact.low, exact.high), abs=1e-9)


@given(
    n=st.integers(1, 2_000_000), share=st.floats(0, 1), confidence=st.sampled_from([0.5, 0.9, 0.95, 0.999])
)
def test_the_bounds_are_exact_for_any_count(n: int, share: float, confidence: float) -> None:
    k = round(share * n)
    tail = (1 - confidence) / 2
    low = float(beta.ppf(tail, k, n - k + 1)) if k else 0.0
    high = float(beta.ppf(1 - tail, k + 1, n - k)) if k < n else 1.0
    assert clopper_pearson(k, n, confidence) == pytest.approx((low, high), abs=1e-9)


def test_counts_may_be_fractional() -> None:
    low, high = clopper_pearson(2.5, 7.25)
    assert low == pytest.approx(float(beta.ppf(0.025, 2.5, 5.75)), abs=1e-9)
    assert high == pytest.approx(float(beta.ppf(0.975, 3.5, 4.75)), abs=1e-9)


def test_nothing_was_tried_nothing_is_known() -> None:
    assert clopper_pearson(0, 0) == (0.0, 1.0)


def test_next_to_nothing_is_known_from_next_to_no_trials() -> None:
    low, high = clopper_pearson(0.0125, 0.025)
    assert 0 <= low < 1e-9 and high == pytest.approx(1)


@pytest.mark.parametrize(("k", "n"), [(-1, 5), (6, 5), (1, 0)])
def test_counts_that_cannot_be_are_refused(k: int, n: int) -> None:
    with pytest.raises(ValueError, match=f"{k} successes of {n} trials"):
        clopper_pearson(k, n)
