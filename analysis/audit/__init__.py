"""Checks published numbers against each other and against what their stated episodes can give.

It works from the numbers alone and says where they contradict themselves; it does not say which of two is right, nor
why. What a number stands on is taken as the paper states it."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.audit import averages, grids, means, repeats
from analysis.audit.findings import Finding
from analysis.audit.numbers import Number
from analysis.audit.outcomes import outcomes


def audit(numbers: Sequence[Number]) -> list[Finding]:
    """All findings, in the order of the file."""
    known = outcomes(numbers)
    found = [
        *means.check(numbers, known),
        *averages.check(numbers, known),
        *grids.check(numbers, known),
        *repeats.check(numbers),
    ]
    return sorted(found, key=lambda finding: min(number.line for number in finding.numbers))


def countable(numbers: Sequence[Number]) -> int:
    """How many of the numbers are shares of a known number of outcomes, which can be checked one by one."""
    known = outcomes(numbers)
    return sum(known.of(number) is not None for number in numbers)
