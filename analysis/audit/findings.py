"""What an audit has to say of a number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from analysis.audit.numbers import Number

Kind = Literal["range", "mean", "spread", "average", "episodes", "grid", "repeat", "label", "setting"]
"""`range`: not between nothing and all. `mean`, `spread`: no counts give it. `average`: not that of its rows.
`episodes`: not as many as its rows have. `grid`: a column that stands on fewer episodes than stated, by its values.
`repeat`: one quantity printed with two values. `label`: the same, and what one item prints for the method stands in the
other under another's label: exchanged labels, or a cell copied from a neighbour.
`setting`: two groups of items that agree in nothing they share."""


@dataclass(frozen=True)
class Finding:
    """`problem` is what is inconsistent, with the counts that show it; `fits` is what would be consistent, where there
    is something."""

    kind: Kind
    numbers: Sequence[Number]
    problem: str
    fits: str = ""

    def __str__(self) -> str:
        lines = [str(number.line) for number in self.numbers]
        shown = ", ".join(lines[:8]) + (f" and {len(lines) - 8} more" if len(lines) > 8 else "")
        first = self.numbers[0]
        where = first.where if len(self.numbers) == 1 else f"{first.paper} {items(self.numbers)}"
        text = f"[{self.kind}] {where} (line {shown})\n    {self.problem}"
        return f"{text}\n    {self.fits}" if self.fits else text


def items(numbers: Sequence[Number]) -> str:
    """The items that print these numbers, in the order of the file."""
    return ", ".join(dict.fromkeys(number.item for number in numbers))


def percent(count: int, outcomes: int, decimals: int = 1) -> str:
    return f"{100 * count / outcomes:.{decimals}f} %"


def several(items: Sequence[str], most: int = 3) -> str:
    """`a or b or c`, and how many more."""
    more = len(items) - most
    rest = f" or {more} other{'s' * (more > 1)}" if more > 0 else ""
    return " or ".join(items[:most]) + rest
