"""Ratios of sums over episodes, their intervals, and percentiles."""

from __future__ import annotations

from fractions import Fraction

import pytest

from analysis.statistics import ratios
from analysis.statistics.ratios import Sums
from harness.intervals import clopper_pearson


def test_a_ratio_is_one_of_sums_and_not_a_mean_of_ratios() -> None:
    sums = Sums.of([(1, 1), (1, 9)])
    assert sums.ratio == Fraction(2, 10)
    assert (sums.episodes, sums.part_squares, sums.whole_squares, sums.products) == (2, 2, 82, 10)


def test_variance_is_cochrans() -> None:
    """Residuals of (3, 4), (1, 4), (2, 4) about 1/2 are 1, -1, 0: 2 * 3 / 2 / 12^2."""
    assert Sums.of([(3, 4), (1, 4), (2, 4)]).variance == pytest.approx(3 / 144)
    assert Sums.of([(1, 2), (4, 8)]).variance == 0


def test_episodes_without_anything_to_count_are_none() -> None:
    assert Sums.of([(0, 0), (0, 0)]).ratio is None
    assert Sums.of([(0, 0), (1, 2)]).episodes == 1
    for interval in (ratios.share, ratios.ratio):
        assert interval(Sums.of([])) is None
        assert interval(Sums.of([(0, 0), (1, 2)])) is None  # one episode says nothing about others


def test_sums_of_seeds_add_up() -> None:
    first, second = [(1, 3), (2, 2)], [(0, 5)]
    assert Sums.of(first) + Sums.of(second) == Sums.of(first + second)


def test_a_share_of_independent_counts_has_the_exact_interval_at_most() -> None:
    """One count an episode: the effective number differs from the number by n - 1 in the variance alone."""
    low, high = ratios.share(Sums.of([(1, 1)] * 12 + [(0, 1)] * 8)) or (0, 0)
    exact = clopper_pearson(12, 20)
    assert (low, high) == pytest.approx(exact, abs=0.01)
    assert low <= exact[0]
    assert high >= exact[1]


def test_counts_of_one_episode_that_go_together_are_worth_fewer() -> None:
    apart = Sums.of([(5, 10), (6, 10), (4, 10), (5, 10)])
    together = Sums.of([(10, 10), (10, 10), (0, 10), (0, 10)])
    assert apart.ratio == together.ratio == Fraction(1, 2)
    assert ratios.share(apart) == pytest.approx(clopper_pearson(20, 40))  # no more than there are
    low, high = ratios.share(together) or (0, 0)
    assert low < 0.1
    assert high > 0.9


@pytest.mark.parametrize("part", [0, 3])
def test_all_or_none_has_an_interval_of_some_width(part: int) -> None:
    assert ratios.share(Sums.of([(part, 3)] * 7)) == clopper_pearson(7 * part, 21)


def test_what_is_no_share_is_refused() -> None:
    with pytest.raises(ValueError, match="5 of 4 is no share"):
        ratios.share(Sums.of([(3, 2), (2, 2)]))


def test_a_ratio_has_students_interval_and_none_below_zero() -> None:
    low, high = ratios.ratio(Sums.of([(3, 4), (1, 4), (2, 4)])) or (0, 0)
    half = 4.302653 * (3 / 144) ** 0.5  # t with 2 degrees of freedom
    assert high == pytest.approx(0.5 + half)
    assert low == 0.0
    assert ratios.ratio(Sums.of([(12, 6), (8, 4)])) == (2.0, 2.0)


def test_a_percentile_is_interpolated_over_all_values() -> None:
    assert ratios.quantile([[1, 2], [], [3, 4]], 0.5) == 2.5
    assert ratios.quantile([[1, 2], [3, 4]], 0.9) == pytest.approx(3.7)
    assert ratios.quantile([[5]], 0.99) == 5
    assert ratios.quantile([[]], 0.5) is None
    assert ratios.quantile([], 0.5) is None


def test_a_percentile_has_an_interval_only_between_values() -> None:
    episodes = [[float(10 * i + j) for i in range(10)] for j in range(10)]  # 0 to 99, alike in each episode
    low, high = ratios.quantile_interval(episodes, 0.5) or (0, 0)
    assert (low, high) == pytest.approx([99 * bound for bound in clopper_pearson(50, 100)])
    assert ratios.quantile_interval(episodes, 0.99) is None  # 0.99^100 is 0.37
    assert ratios.quantile_interval([[float(i) for i in range(40)] for _ in range(10)], 0.99) is not None
    assert ratios.quantile_interval(episodes[:1], 0.5) is None
    assert ratios.quantile_interval([], 0.5) is None


def test_a_percentile_of_episodes_that_differ_is_less_certain() -> None:
    alike = [[float(value) for value in range(20)] for _ in range(10)]
    apart = [[float(10 * episode % 97 + value % 3) for value in range(20)] for episode in range(10)]
    widths = []
    for episodes in (alike, apart):
        low, high = ratios.quantile_interval(episodes, 0.5) or (0, 0)
        spread = max(map(max, episodes)) - min(map(min, episodes))
        widths.append((high - low) / spread)
    assert widths[1] > 3 * widths[0]
