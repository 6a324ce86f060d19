from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement
from random import Random
from statistics import mean, pstdev, stdev

import pytest

from analysis.audit import attainable
from analysis.audit.numbers import Printed, Window


def _window(text: str, scale: int = 100) -> Window:
    window = Printed.of(text).window / scale
    return Window(max(Fraction(0), window.low), window.high)


def test_the_counts_behind_a_mean() -> None:
    assert list(attainable.counts(15, _window("13.3"))) == [2]
    assert list(attainable.counts(120, _window("87"))) == [104, 105]
    assert list(attainable.counts(120, _window("87.0"))) == []
    assert list(attainable.counts(10, _window("0.0"))) == [0]
    assert list(attainable.counts(10, _window("100.0"))) == [10]
    assert list(attainable.counts(7, Window(Fraction(-1), Fraction(2)))) == list(range(8))


def test_a_half_may_be_rounded_either_way() -> None:
    assert list(attainable.counts(160, _window("76.3"))) == [122]  # 76.25
    assert list(attainable.counts(160, _window("76.2"))) == [122]


@pytest.mark.parametrize(
    ("size", "value", "spread", "runs"),
    [  # by hand, from MTP's tables I, II, V and VI
        (45, "39.3", "3.4", [(16, 18, 19)]),
        (45, "55.6", "6.7", [(22, 25, 28)]),
        (45, "64.4", "2.2", [(28, 29, 30)]),
        (50, "59.3", "1.2", [(29, 30, 30)]),
        (50, "56.0", "5.3", [(25, 29, 30), (26, 27, 31)]),
        (45, "49.3", "3.1", []),
        (50, "49.3", "3.1", [(23, 25, 26)]),
        (45, "68.9", "4.4", [(29, 31, 33)]),
        (45, "55.6", "6", [(22, 26, 27), (23, 24, 28)]),
        (45, "55.6", "6.0", []),
        (45, "0.0", "0.0", [(0, 0, 0)]),
        (45, "100.0", "0.0", [(45, 45, 45)]),
    ],
)
def test_the_counts_behind_a_spread(size: int, value: str, spread: str, runs: list[tuple[int, ...]]) -> None:
    assert list(attainable.runs(3, size, _window(value), _window(spread))) == runs


def _all_runs(
    number: int, size: int, value: Window, deviation: Window, missing: int
) -> Iterator[tuple[int, ...]]:
    for counts in combinations_with_replacement(range(size + 1), number):
        share = Fraction(sum(counts), number * size)
        variance = sum((Fraction(count, size) - share) ** 2 for count in counts) / (number - missing)
        inside = value.low <= share <= value.high
        if inside and deviation.low**2 <= variance <= deviation.high**2:
            yield counts


def test_no_run_is_missed_and_none_is_made_up() -> None:
    random = Random(3)
    some = 0
    for _ in range(150):
        number, size = random.randint(2, 4), random.randint(1, 9)
        counts = [random.randint(0, size) for _ in range(number)]
        off = random.choice([0, 0, 0.3, -0.2])
        value = _window(f"{100 * mean(counts) / size:.1f}")
        for missing, spread_of in ((1, stdev), (0, pstdev)):
            deviation = _window(f"{max(0.0, 100 * spread_of(counts) / size + off):.1f}")
            found = list(attainable.runs(number, size, value, deviation, missing))
            assert found == sorted(_all_runs(number, size, value, deviation, missing))
            assert off or tuple(sorted(counts)) in found
            some += len(found)
    assert some > 100


def test_one_run_has_no_spread() -> None:
    assert list(attainable.runs(1, 50, _window("32.0"), _window("0.0"))) == []


def test_large_experiments_are_decided_at_once() -> None:
    assert next(attainable.runs(10, 5000, _window("43.21"), _window("7.35")))
    assert not list(attainable.runs(3, 5000, _window("43.21"), _window("99.0")))
