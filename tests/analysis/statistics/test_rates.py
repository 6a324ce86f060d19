from __future__ import annotations

import pytest
from scipy.stats import beta, binom

from analysis.statistics.rates import INTERVALS, IntervalMethod, Rate, rate
from harness.intervals import clopper_pearson


@pytest.mark.parametrize(
    ("successes", "episodes", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_gives_the_bounds_of_newcombes_table(
    successes: int, episodes: int, low: float, high: float
) -> None:
    assert Rate(successes, episodes).interval("wilson") == pytest.approx((low, high), abs=5e-5)


def test_clopper_pearson_is_the_default_and_exact_at_the_ends() -> None:
    assert Rate(0, 10).interval() == pytest.approx((0, 1 - 0.025**0.1))
    assert Rate(10, 10).interval() == pytest.approx((0.025**0.1, 1))
    assert Rate(16, 50).interval() == pytest.approx(
        (float(beta.ppf(0.025, 16, 35)), float(beta.ppf(0.975, 17, 34)))
    )


def test_jeffreys_takes_half_a_success_and_half_a_failure_as_known() -> None:
    assert Rate(16, 50).interval("jeffreys") == pytest.approx(
        (float(beta.ppf(0.025, 16.5, 34.5)), float(beta.ppf(0.975, 16.5, 34.5)))
    )
    assert Rate(0, 50).interval("jeffreys") == pytest.approx((0, float(beta.ppf(0.975, 0.5, 50.5))))
    assert Rate(50, 50).interval("jeffreys") == pytest.approx((float(beta.ppf(0.025, 50.5, 0.5)), 1))


@pytest.mark.parametrize("episodes", [1, 7, 135, 250_000])
def test_a_sweep_prints_the_same_interval_without_scipy(episodes: int) -> None:
    for successes in {0, 1, episodes // 3, episodes - 1, episodes}:
        assert Rate(successes, episodes).interval() == pytest.approx(
            clopper_pearson(successes, episodes), rel=1e-9
        )


@pytest.mark.parametrize("method", INTERVALS)
def test_no_interval_is_a_point_and_none_leaves_zero_to_one(method: IntervalMethod) -> None:
    for successes in range(21):
        low, high = Rate(successes, 20).interval(method)
        assert 0 <= low < high <= 1
        assert low <= successes / 20 <= high
    assert Rate(0, 20).interval(method)[0] == 0
    assert Rate(20, 20).interval(method)[1] == 1
    assert Rate(0, 0).interval(method) == (0, 1)


@pytest.mark.parametrize(
    ("method", "least"), [("clopper-pearson", 0.95), ("wilson", 0.83), ("jeffreys", 0.88)]
)
def test_only_clopper_pearson_covers_at_every_rate(method: IntervalMethod, least: float) -> None:
    n = 50
    intervals = [Rate(k, n).interval(method) for k in range(n + 1)]
    coverage = [
        sum(float(binom.pmf(k, n, p)) for k, (low, high) in enumerate(intervals) if low <= p <= high)
        for p in (i / 1000 for i in range(1, 1000))
    ]
    assert min(coverage) >= least
    assert (min(coverage) >= 0.95) == (method == "clopper-pearson")


def test_a_rate_without_episodes_has_no_value() -> None:
    assert Rate(0, 0).value is None
    assert Rate(0, 3).value == 0


@pytest.mark.parametrize(("successes", "episodes"), [(4, 3), (-1, 3)])
def test_counts_that_cannot_be_are_refused(successes: int, episodes: int) -> None:
    with pytest.raises(ValueError, match="cannot be"):
        Rate(successes, episodes)


def test_errors_are_in_no_rate_and_a_cut_off_reply_is_the_methods_failure(make_row) -> None:
    rows = [make_row(True) for _ in range(10)] + [make_row(False) for _ in range(5)]
    rows += [make_row(status="error", error="provider") for _ in range(3)]
    rows += [make_row(status="error", error="crash"), make_row(False, failure="generation")]
    assert rate(rows) == Rate(10, 16)
