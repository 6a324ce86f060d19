from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import t

from analysis.statistics.clusters import Average, difference, rate, sign_flip
from analysis.statistics.paired import Pairs, difference_interval
from analysis.statistics.rates import Rate
from harness.intervals import clopper_pearson

TABLE_1 = [3, 3, 2, 9, 6, 0, 14, 5, 11]
"""Successes of 15 on each of the nine tasks, VoxPoser in MTP's table I."""


def test_tasks_that_differ_widen_the_interval() -> None:
    found = rate({str(i): Rate(k, 15) for i, k in enumerate(TABLE_1)})
    shares = np.array(TABLE_1) / 15
    effective = shares.mean() * (1 - shares.mean()) / (shares.var(ddof=1) / 9)
    effective *= (t.ppf(0.975, 134) / t.ppf(0.975, 8)) ** 2
    assert found.value == pytest.approx(53 / 135)
    assert found.interval == pytest.approx(clopper_pearson(shares.mean() * effective, effective))
    assert effective == pytest.approx(16.8, abs=0.1)  # of 135: what they say of tasks that were not played


def test_tasks_that_agree_do_not_narrow_it() -> None:
    assert rate({str(i): Rate(6, 15) for i in range(9)}).interval == clopper_pearson(54, 135)
    assert rate({str(i): Rate(0, 15) for i in range(9)}).interval == clopper_pearson(0, 135)
    assert rate({str(i): Rate(15, 15) for i in range(9)}).interval == clopper_pearson(135, 135)


def test_one_task_says_nothing_of_others() -> None:
    assert rate({"a": Rate(3, 5)}) == Average(0.6, None, 1)
    assert rate({"a": Rate(3, 5), "b": Rate(0, 0)}) == Average(0.6, None, 1)
    assert rate({}) == Average(None, None, 0)
    assert difference({"a": Pairs(1, 1, 0, 0)}) == Average(0.5, None, 1)
    assert difference({"a": Pairs(0, 0, 0, 0)}) == Average(None, None, 0)


def test_tasks_have_one_vote_each() -> None:
    assert rate({"a": Rate(10, 10), "b": Rate(0, 30)}).value == 0.5
    assert difference({"a": Pairs(0, 4, 0, 0), "b": Pairs(0, 0, 0, 12)}).value == 0.5


def test_the_interval_covers_the_mean_over_all_tasks() -> None:
    random = np.random.default_rng(5)
    inside = []
    for a, b in ((0.5, 0.5), (4, 2)):
        for _ in range(400):
            tasks = random.binomial(15, random.beta(a, b, size=9))
            low, high = rate({str(i): Rate(int(k), 15) for i, k in enumerate(tasks)}).interval or (1, 0)
            inside.append(low <= a / (a + b) <= high)
    assert np.mean(inside) > 0.95
    assert np.mean(inside) < 0.995


def test_the_difference_has_students_interval_over_tasks() -> None:
    tasks = {"a": Pairs(5, 6, 0, 4), "b": Pairs(5, 0, 3, 7), "c": Pairs(1, 2, 1, 11)}
    values = np.array([6, -3, 1]) / 15
    half = t.ppf(0.975, 2) * values.std(ddof=1) / 3**0.5
    found = difference(tasks)
    assert found.value == pytest.approx(values.mean())
    assert found.interval == pytest.approx((values.mean() - half, values.mean() + half))


def test_differences_that_agree_are_no_point() -> None:
    tasks = {name: Pairs(5, 3, 0, 7) for name in "abc"}
    assert difference(tasks).interval == pytest.approx(difference_interval(Pairs(15, 9, 0, 21)))
    low, high = difference({name: Pairs(0, 0, 0, 5) for name in "abc"}).interval or (0, 0)
    assert low < 0 < high


def test_the_sign_flip_test_by_hand() -> None:
    assert sign_flip([Pairs(0, 1, 0, 0)] * 3) == pytest.approx(2 / 8)
    assert sign_flip([Pairs(0, 2, 0, 0), Pairs(0, 1, 0, 0), Pairs(0, 0, 1, 0)]) == pytest.approx(6 / 8)
    assert sign_flip([]) == 1
    assert sign_flip([Pairs(3, 2, 2, 1)] * 4) == 1
    assert sign_flip([Pairs(0, 1, 0, 0)] * 50) == pytest.approx(2 / 2**50)


def test_the_sign_flip_test_counts_every_way() -> None:
    surpluses = [4, -1, 3, 0, 2, 5, -2]
    ways = [
        abs(sum(s * x for s, x in zip(signs, surpluses, strict=True))) for signs in product((1, -1), repeat=7)
    ]
    expected = np.mean([way >= 11 for way in ways])
    assert sign_flip([Pairs(1, max(x, 0), max(-x, 0), 1) for x in surpluses]) == pytest.approx(expected)
