from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from analysis.statistics.rates import Rate
from analysis.statistics.unpaired import difference_interval, p_value, which_test


def test_boschloo_by_hand() -> None:
    # The only outcome as extreme is 0 and 3 of 3: its chance is (p (1 - p))^3, at most 1/64, for either side.
    assert p_value(Rate(0, 3), Rate(3, 3)) == pytest.approx(2 / 64, abs=1e-4)


def test_boschloo_is_exact_and_not_weaker_than_fisher() -> None:
    from scipy.stats import fisher_exact

    rejecting = np.zeros((9, 9))
    for a in range(9):
        for b in range(9):
            p = p_value(Rate(a, 8), Rate(b, 8))
            assert p <= fisher_exact([[a, b], [8 - a, 8 - b]]).pvalue + 1e-9
            rejecting[a, b] = p <= 0.05
    for rate in np.linspace(0.01, 0.99, 99):
        chances = binom.pmf(range(9), 8, rate)
        assert chances @ rejecting @ chances <= 0.05


@pytest.mark.parametrize(
    ("first", "second"),
    [(Rate(0, 5), Rate(0, 7)), (Rate(5, 5), Rate(7, 7)), (Rate(0, 0), Rate(3, 5)), (Rate(3, 5), Rate(0, 0))],
)
def test_where_nothing_can_differ_nothing_does(first: Rate, second: Rate) -> None:
    assert p_value(first, second) == 1


def test_large_experiments_are_compared_by_fishers_test() -> None:
    assert which_test(Rate(5, 500), Rate(5, 500)) == "Boschloo"
    first, second = Rate(6000, 10_000), Rate(6200, 10_000)
    assert which_test(first, second) == "Fisher"
    assert p_value(first, second) == pytest.approx(0.0039, abs=2e-4)


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [(Rate(56, 70), Rate(48, 80), 0.0524, 0.3339), (Rate(9, 10), Rate(3, 10), 0.1705, 0.8090)],
)
def test_the_interval_is_the_one_of_newcombes_table(
    first: Rate, second: Rate, low: float, high: float
) -> None:
    assert difference_interval(first, second) == pytest.approx((low, high), abs=5e-5)


def test_the_interval_is_no_point_at_the_ends() -> None:
    low, high = difference_interval(Rate(0, 20), Rate(0, 20))
    assert low == pytest.approx(-0.1611, abs=1e-4) and high == pytest.approx(0.1611, abs=1e-4)
    low, high = difference_interval(Rate(20, 20), Rate(0, 20))
    assert 0.7 < low < 1 and high == 1
    assert difference_interval(Rate(0, 0), Rate(1, 2)) == (-1, 1)
