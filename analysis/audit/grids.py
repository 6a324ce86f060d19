"""Columns of a table whose values use only every n-th of those that the stated number of episodes allows: as if they
stood on fewer. One value alone may do so by chance; a column of them does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod

from analysis.audit import attainable
from analysis.audit.findings import Finding
from analysis.audit.means import fitting, run_counts
from analysis.audit.numbers import Number, Printed
from analysis.audit.outcomes import Outcomes

MOST_VALUES = 20_000
"""Values of one number that are looked at; of what allows more, no column is reported."""
CHANCE = 0.01
"""Chance below which a column is reported, after correction for all columns and all numbers of episodes tried."""


def check(numbers: Sequence[Number], outcomes: Outcomes) -> Iterator[Finding]:
    columns: dict[tuple[object, ...], list[Number]] = {}
    for number in numbers:
        whole = outcomes.of(number) is not None and outcomes.of(number) == number.episodes
        if whole and not number.counted and fitting(number, number.episodes or 0, outcomes):
            paper, setting, _, *rest = number.quantity
            key = (paper, setting, number.item, *rest, number.episodes, number.runs)
            columns.setdefault(key, []).append(number)
    for column in columns.values():
        if len(column) > 1 and (finding := _column(column, len(columns), outcomes)) is not None:
            yield finding


def _column(column: Sequence[Number], columns: int, outcomes: Outcomes) -> Finding | None:
    episodes = column[0].episodes or 0
    if episodes > MOST_VALUES:
        return None
    fewer = [episodes // divisor for divisor in range(2, episodes + 1) if episodes % divisor == 0]
    found = [
        (len(fewer) * columns * prod(_chance(number, count) for number in column), count)
        for count in fewer
        if all(fitting(number, count, outcomes) for number in column)
    ]
    if not found or min(found)[0] > CHANCE:
        return None
    chance, count = min(found)
    problem = (
        f"All {len(column)} values are among those of {count} episodes, which use one in {episodes // count} of the "
        f"steps that the stated {episodes} allow; by chance that happens with a probability of {chance:.1g} at most."
    )
    values = "; ".join(f"{number.printed}: {fitting(number, count, outcomes)}" for number in column)
    return Finding("grid", column, problem, f"{count} episodes would fit. {values}.")


def _chance(number: Number, fewer: int) -> float:
    """Share of the values that the stated number of episodes allows, all taken for equally likely, that fewer episodes
    give, too; times the same for the spreads up to twice the printed one."""
    stated, scale = number.episodes or 0, number.scale or 1
    step = number.value.step
    values = {round(Fraction(scale * count, stated) / step) * step for count in range(stated + 1)}
    windows = [Printed(value, number.value.decimals).window for value in values]
    coarse = [window for window in windows if attainable.counts(fewer, window / scale)]
    return len(coarse) / len(windows) * _chance_of_spread(number, stated, fewer)


def _chance_of_spread(number: Number, stated: int, fewer: int) -> float:
    if number.spread is None:
        return 1.0
    step, steps = number.spread.step, int(2 * number.spread.value / number.spread.step)
    if steps > MOST_VALUES:
        return 1.0
    others = [
        replace(number, spread=Printed(count * step, number.spread.decimals)) for count in range(steps + 1)
    ]
    possible = [other for other in others if run_counts(other, stated)]
    return sum(bool(run_counts(other, fewer)) for other in possible) / len(possible)
