"""Which counts can be behind a printed mean and a printed standard deviation. Whole-number arithmetic, so that
nothing depends on how a float rounds.

The idea is that of GRIM (Brown and Heathers, 2017) and GRIMMER (Anaya, 2016); spreads are found by enumeration."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, floor

from analysis.audit.numbers import Window


def counts(outcomes: int, mean: Window) -> range:
    """Numbers of successes among so many outcomes whose share lies in the window."""
    return range(max(0, ceil(mean.low * outcomes)), min(outcomes, floor(mean.high * outcomes)) + 1)


def runs(
    number: int, size: int, mean: Window, deviation: Window, missing: int = 1
) -> Iterator[tuple[int, ...]]:
    """Successes of each of `number` runs of `size` episodes, in rising order, whose mean share and whose standard
    deviation over runs lie in the windows. `missing` is what the deviation's denominator lacks of the number of runs:
    1 for the sample's, 0 for the population's."""
    if number <= missing:
        return
    scale = (
        number * (number - missing) * size * size
    )  # number * sum of squares - square of the sum, per variance
    low, high = ceil(deviation.low**2 * scale), floor(deviation.high**2 * scale)
    for total in counts(number * size, mean):
        squares = range(-((-low - total * total) // number), (high + total * total) // number + 1)
        if any((square - total) % 2 == 0 for square in squares[:2]):  # k * k is odd where k is
            yield from _summing(number, size, total, squares, 0)


def _summing(number: int, most: int, total: int, squares: range, least: int) -> Iterator[tuple[int, ...]]:
    """Rising tuples between `least` and `most` with that sum, and the sum of their squares in the range."""
    if number == 1:
        if least <= total <= most and total * total in squares:
            yield (total,)
        return
    others = number - 1
    for first in range(max(least, total - others * most), total // number + 1):
        rest, own = total - first, first * first
        if own - (-rest * rest // others) >= squares.stop:
            continue  # even with all others alike, this one is too far below them
        if own + _most_squares(others, first, most, rest) < squares.start:
            return
        remaining = range(squares.start - own, squares.stop - own)
        for others_found in _summing(others, most, rest, remaining, first):
            yield (first, *others_found)


def _most_squares(number: int, least: int, most: int, total: int) -> int:
    """Largest sum of squares of so many whole numbers from `least` to `most` with that sum."""
    if most == least:
        return number * least * least
    full, part = divmod(total - number * least, most - least)
    if full >= number:
        return number * most * most
    return full * most * most + (least + part) ** 2 + (number - full - 1) * least * least
