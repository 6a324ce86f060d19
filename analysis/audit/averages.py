"""Averages against the rows that they average."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from analysis.audit import attainable
from analysis.audit.findings import Finding, percent
from analysis.audit.numbers import ALL, Number, Window
from analysis.audit.outcomes import Outcomes


def check(numbers: Sequence[Number], outcomes: Outcomes) -> Iterator[Finding]:
    """An average over tasks has to be that of its rows, each with one vote or with one vote an outcome, for some
    counts that the printed rows allow."""
    groups: dict[tuple[str, ...], list[Number]] = {}
    for number in numbers:
        if number.task != ALL and number.scale:
            groups.setdefault(_group(number), []).append(number)
    for average in numbers:
        rows = groups.get(_group(average), []) if average.task == ALL and average.scale else []
        if len(rows) > 1 and (finding := _compare(average, rows, outcomes)) is not None:
            yield finding


def _group(number: Number) -> tuple[str, ...]:
    paper, setting, name, benchmark, _, metric, _ = number.quantity
    return (paper, setting, number.item, name, benchmark, metric)


def _compare(average: Number, rows: Sequence[Number], outcomes: Outcomes) -> Finding | None:
    stated = [row.episodes for row in rows if row.episodes]
    if average.episodes and len(stated) == len(rows) and sum(stated) != average.episodes:
        problem = f"The rows have {' + '.join(map(str, stated))} = {sum(stated)} episodes; their average is said to "
        return Finding("episodes", [average, *rows], problem + f"stand on {average.episodes}.")
    totals = [outcomes.of(row) for row in rows]
    windows = [_possible(row, total) for row, total in zip(rows, totals, strict=True)]
    likely = [_mean(windows, [1] * len(rows))]
    known = [total for total in totals if total]
    if len(known) == len(rows):
        likely.append(_mean(windows, known))
    if any(average.window.meets(window) for window in likely):
        return None
    low, high = min(window.low for window in likely), max(window.high for window in likely)
    between = (
        f"{100 * float(low):.1f} %" if low == high else f"{100 * float(low):.1f} to {100 * float(high):.1f} %"
    )
    problem = f"The rows of {average.name} ({', '.join(row.printed for row in rows)}) average {between}; "
    problem += f"{average.printed} is printed."
    return Finding("average", [average, *rows], problem, _counts(windows, known, rows))


def _possible(row: Number, total: int | None) -> Window:
    """Shares that the row can stand for: of whole counts, where some fit."""
    found = attainable.counts(total, row.window) if total else ()
    return Window(Fraction(found[0], total), Fraction(found[-1], total)) if total and found else row.window


def _mean(windows: Sequence[Window], weights: Sequence[int]) -> Window:
    total = sum(weights)
    return Window(
        sum((w * window.low for w, window in zip(weights, windows, strict=True)), Fraction(0)) / total,
        sum((w * window.high for w, window in zip(weights, windows, strict=True)), Fraction(0)) / total,
    )


def _counts(windows: Sequence[Window], totals: Sequence[int], rows: Sequence[Number]) -> str:
    if len(totals) < len(rows) or any(window.low != window.high for window in windows):
        return ""
    counts = [int(window.low * total) for window, total in zip(windows, totals, strict=True)]
    added = " + ".join(map(str, counts))
    return f"{added} = {sum(counts)} of {sum(totals)} would be {percent(sum(counts), sum(totals))}."
