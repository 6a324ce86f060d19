"""What a figure shows: marks, intervals, counts, what is missing, and its caption."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from analysis.figures.chart import chart, is_figure
from analysis.items import Group
from analysis.tables.entries import Computed
from analysis.tables.measured import Measured
from harness.intervals import clopper_pearson
from tests.analysis.figures.conftest import computed, entry


def test_rows_are_series_and_columns_groups(two_by_two: Computed) -> None:
    found = chart(two_by_two)
    assert (found.kind, found.series, found.groups) == ("bars", ("Flat", "HiMe"), ("Search", "Count"))
    assert (found.axis, found.top, found.own) == ("Success rate (%)", 100, "HiMe")
    mark = found.marks["HiMe", "Search"]
    assert (mark.value, mark.published, mark.episodes) == (Fraction(2000, 21), 92.0, 21)
    assert mark.interval == pytest.approx([100 * bound for bound in clopper_pearson(20, 21)])


def test_nothing_played_is_no_zero_and_zero_has_its_interval(two_by_two: Computed) -> None:
    found = chart(two_by_two)
    none, zero = found.marks["Flat", "Count"], found.marks["Flat", "Search"]
    assert (none.value, none.interval, none.published) == (None, None, 58.0)
    assert zero.value == 0 and zero.interval == pytest.approx((0, 41.0), abs=0.05)


def test_episodes_whose_rows_do_not_say_it_count_as_none() -> None:
    silent = replace(entry(0, 5, rate=False), value=None, counted=Measured())
    found = chart(computed({("Old", "Hits"): silent, ("New", "Hits"): entry(2, 5)}, metric="memory_hit_rate"))
    assert found.count("Hits") == "n = 5"
    assert "Without a value, so left out: Old." in found.caption


def test_how_many_episodes(two_by_two: Computed) -> None:
    found = chart(two_by_two)
    assert [found.count("Search"), found.count("Count")] == ["n = 7 to 21", "n = 21"]
    assert [found.count("Search", "Flat"), found.count("Count", "Flat")] == ["n = 7", ""]


def test_the_caption_says_what_is_drawn_and_what_is_not(two_by_two: Computed) -> None:
    assert chart(two_by_two).caption == (
        "HiMe, Figure 4: Progress. Whiskers: 95 % intervals over episodes. Diamonds: what the paper prints. n: episodes "
        "with a verdict (Search: Flat 7, HiMe 21). Without a value, so left out: Flat (Count). Not the paper's benchmark: "
        "household stands for widowx."
    )
    bare = computed({("A", "Search"): entry(0, 0), ("B", "Search"): entry(1, 2)}, metric="successes")
    assert "Whiskers" in chart(bare).caption  # an entry with an interval is drawn with it
    assert "Diamonds" not in chart(bare).caption
    assert "left out: A." in chart(bare).caption


def test_task_progress_has_intervals_with_the_episode_as_the_unit() -> None:
    one = computed({("A", "Search"): entry(60, 120, rate=False)}, metric="task_progress")
    half = replace(one.entries["A", "Search"], counted=Measured(saying=20))
    one = replace(one, entries={("A", "Search"): half})
    low, high = chart(one).marks["A", "Search"].interval or (0.0, 0.0)
    assert (low, high) == pytest.approx([100 * bound for bound in clopper_pearson(10, 20)])
    plain = replace(one, item=replace(one.item, metric="subtasks"))
    assert chart(plain).marks["A", "Search"].interval is None


@pytest.mark.parametrize("episodes", [1, 3, 7, 21])
def test_that_interval_covers_whatever_the_episodes_are_like(episodes: int) -> None:
    """Exactly, by the distribution of the sum of episodes that do 0 to 6 of 6 subtasks."""
    shares = np.arange(7) / 6
    bounds = np.array([clopper_pearson(done / 6, episodes) for done in range(6 * episodes + 1)])
    random = np.random.default_rng(0)
    likely = [
        np.eye(7)[low] * (1 - p) + np.eye(7)[6] * p for low in range(6) for p in np.linspace(0.02, 0.98, 13)
    ]
    for chances in [*likely, *random.dirichlet(np.full(7, 0.3), 50)]:
        sums = np.ones(1)
        for _ in range(episodes):
            sums = np.convolve(sums, chances)
        mean = chances @ shares
        covered = (bounds[:, 0] <= mean + 1e-12) & (mean <= bounds[:, 1] + 1e-12)
        assert sums[covered].sum() >= 0.95


def test_columns_of_different_metrics_become_lines_over_the_rows() -> None:
    columns = [
        Group("Precision", benchmark="widowx", metric="precision"),
        Group("Recall", benchmark="widowx", metric="recall"),
    ]
    places = [(row, column.label) for row in ("1 frame", "8 frames") for column in columns]
    found = chart(computed(dict.fromkeys(places, entry(3, 4)), columns=columns, metric="precision"))
    assert (found.kind, found.series, found.groups) == (
        "points",
        ("Precision", "Recall"),
        ("1 frame", "8 frames"),
    )
    assert found.marks["Recall", "8 frames"].value == 75
    assert found.axis == "Percent"


def test_the_axis_of_counts_ends_above_all_of_them() -> None:
    five = computed({("A", "Box"): entry(1, 2, "7")}, metric="successes")
    found = chart(replace(five, entries={("A", "Box"): replace(five.entries["A", "Box"], value=Fraction(3))}))
    assert (found.axis, found.top) == ("Successes", 10)


def test_which_items_are_figures(two_by_two: Computed) -> None:
    assert is_figure(two_by_two.item)
    assert not is_figure(replace(two_by_two.item, number="table9"))
