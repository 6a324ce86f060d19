from __future__ import annotations

import pytest
from scipy.stats import binomtest

from harness.intervals import clopper_pearson


@pytest.mark.parametrize(
    ("k", "n"), [(0, 1), (1, 1), (0, 10), (10, 10), (3, 10), (25, 45), (1, 150), (777, 1000)]
)
def test_the_bounds_are_the_exact_ones(k: int, n: int) -> None:
    exact = binomtest(k, n).proportion_ci(0.95, method="exact")
    assert clopper_pearson(k, n) == pytest.approx((exact.low, exact.high), abs=1e-9)


def test_nothing_was_tried_nothing_is_known() -> None:
    assert clopper_pearson(0, 0) == (0.0, 1.0)
