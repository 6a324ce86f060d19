"""Each number by itself: whether some count of successes gives the printed mean, and some counts per run the printed
spread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice

from analysis.audit import attainable
from analysis.audit.findings import Finding, percent, several
from analysis.audit.numbers import Number, Printed, Window
from analysis.audit.outcomes import Outcomes

MOST_RUNS = 10
"""Runs that are tried where the file does not say how many there were."""
MOST_ENUMERATED = 100, 20_000
"""Runs, and episodes over all runs, beyond which the spread is not checked: with so many, almost any can be had."""
FARTHEST = 1000
"""Other numbers of episodes that are tried, up to so far from the stated one."""


def check(numbers: Sequence[Number], outcomes: Outcomes) -> Iterator[Finding]:
    for number in numbers:
        total = outcomes.of(number)
        if _out_of_range(number):
            whole = f"{number.scale}" if number.counted else f"100 % ({number.scale} in its unit)"
            yield Finding("range", [number], f"{number.printed} is not between 0 and {whole}.")
        elif total is None:
            continue
        elif number.counted and number.scale != total:
            problem = f"{number.printed} counts successes of {number.scale}, but stands on {total} episodes."
            yield Finding("episodes", [number], problem)
        elif not attainable.counts(total, number.window):
            yield _mean(number, total, numbers, outcomes)
        elif (finding := _spread(number, numbers, outcomes)) is not None:
            yield finding


def run_counts(number: Number, episodes: int, missing: int = 1) -> list[tuple[int, ...]]:
    """Successes per run that give the number's mean and spread, were there so many episodes: the first eleven. Where
    the file does not say how many runs there were, of the smallest number of runs that gives any."""
    deviation = number.spread_window
    if deviation is None:
        return []
    for runs in [number.runs] if number.runs else range(2, MOST_RUNS + 1):
        if episodes % runs == 0:
            size = episodes // runs
            if found := list(islice(attainable.runs(runs, size, number.window, deviation, missing), 11)):
                return found
    return []


def fitting(number: Number, episodes: int, outcomes: Outcomes) -> str | None:
    """The counts that give the number with so many episodes, in words; None where none does."""
    total = outcomes.of(number, episodes)
    found = attainable.counts(total, number.window) if total else ()
    if not total or not found:
        return None
    successes = several([f"{count} of {total}" for count in found])
    if not _checked(number, total, episodes):
        return successes
    runs = run_counts(number, episodes)
    if not runs:
        return None
    each = several([", ".join(map(str, counts)) for counts in runs])
    return f"{successes}, in runs of {episodes // len(runs[0])} with {each}"


def _checked(number: Number, total: int | None, episodes: int) -> bool:
    """Whether the spread can be enumerated: of runs, not too many, that end in a yes or a no for each episode."""
    runs, size = MOST_ENUMERATED
    few = (number.runs or 0) <= runs and episodes <= size
    return number.spread_window is not None and total == episodes and few


def _out_of_range(number: Number) -> bool:
    return number.scale is not None and not Window(Fraction(0), Fraction(1)).meets(number.window)


def _mean(number: Number, total: int, numbers: Sequence[Number], outcomes: Outcomes) -> Finding:
    below = int(number.window.low * total)
    around = " and ".join(
        f"{count} give {percent(count, total, number.value.decimals + 1)}"
        for count in (below, below + 1)
        if count <= total
    )
    problem = f"No count of {total} gives {number.printed}: {around}."
    return Finding("mean", [number], problem, _alternatives(number, total, numbers, outcomes))


def _spread(number: Number, numbers: Sequence[Number], outcomes: Outcomes) -> Finding | None:
    episodes = number.episodes
    if episodes is None or not _checked(number, outcomes.of(number), episodes):
        return None
    if number.runs == 1:
        return Finding("spread", [number], f"{number.printed} is one run, which has no spread.")
    if not number.runs and not any(episodes % runs == 0 for runs in range(2, MOST_RUNS + 1)):
        return None  # runs that are not equal cannot be enumerated without knowing them
    if run_counts(number, episodes):
        return None
    if number.runs:
        what = f"{number.runs} runs of {episodes // number.runs} episodes"
    else:
        what = f"{episodes} episodes in 2 to {MOST_RUNS} equal runs"
    problem = f"No counts of {what} give {number.printed}.{_nearest_spreads(number, episodes)}"
    if population := run_counts(number, episodes, missing=0):
        counts = several([", ".join(map(str, counts)) for counts in population])
        return Finding("spread", [number], problem, f"With n instead of n - 1 in its denominator: {counts}.")
    return Finding("spread", [number], problem, _alternatives(number, episodes, numbers, outcomes))


def _nearest_spreads(number: Number, episodes: int) -> str:
    assert number.spread is not None
    found = []
    for direction in (-1, 1):
        for steps in range(1, 101):
            value = number.spread.value + direction * steps * number.spread.step
            other = replace(number, spread=Printed(value, number.spread.decimals))
            if value >= 0 and (counts := run_counts(other, episodes)):
                found.append(f"{other.spread} ({', '.join(map(str, counts[0]))})")
                break
    return f" The nearest spreads are {' and '.join(found)}." if found else ""


def _alternatives(number: Number, total: int, numbers: Sequence[Number], outcomes: Outcomes) -> str:
    """What would make the number attainable, the likeliest first."""
    shorter = replace(
        number, value=_without_zeros(number.value), spread=number.spread and _without_zeros(number.spread)
    )
    if shorter != number and (words := fitting(shorter, number.episodes or 0, outcomes)):
        return f"Printed as {shorter.printed}, without decimals that it may not have, it would fit: {words}."
    step = number.value.step / (number.scale or 1)
    exact = number.value.value / (number.scale or 1)
    cut = [
        count
        for count in attainable.counts(total, Window(exact, exact + step))
        if count < (exact + step) * total
    ]
    if cut and number.spread is None:
        return (
            f"Cut off instead of rounded it would fit: {several([f'{count} of {total}' for count in cut])}."
        )
    for scope in ("item", "paper"):
        same = [other for other in numbers if other.paper == number.paper]
        same = [other for other in same if scope == "paper" or other.item == number.item]
        for episodes in _by_distance(number, {other.episodes for other in same if other.episodes}):
            if words := fitting(number, episodes, outcomes):
                place = number.item if scope == "item" else number.paper
                return f"{episodes} episodes, as other numbers of {place} have, would fit: {words}."
    stated = number.episodes or 1
    for episodes in _by_distance(
        number, range(max(1, stated - FARTHEST), stated + min(stated, FARTHEST) + 1)
    ):
        if words := fitting(number, episodes, outcomes):
            return f"The nearest number of episodes that would fit is {episodes}: {words}."
    return ""


def _without_zeros(printed: Printed) -> Printed:
    """The number without the zeros at the end of its decimals: a table's or a spreadsheet's format may have added
    them."""
    decimals = printed.decimals
    while decimals and (printed.value * 10 ** (decimals - 1)).denominator == 1:
        decimals -= 1
    return Printed(printed.value, decimals)


def _by_distance(number: Number, episodes: range | set[int]) -> list[int]:
    stated = number.episodes or 0
    return sorted(
        (count for count in episodes if count != stated), key=lambda count: (abs(count - stated), count)
    )
