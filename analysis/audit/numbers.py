"""Printed numbers, as a CSV file lists them: one number a line, with what the paper says it stands on. Nothing is
judged here; the column `note` and other columns that are not named below are not read."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path

from harness.failures import UsageError

REQUIRED = (
    "paper",
    "item",
    "method",
    "benchmark",
    "task",
    "metric",
    "value",
    "spread",
    "unit",
    "episodes",
)
OPTIONAL = ("runs", "label", "setting")
ALL = "all"
"""The task of a number that is an average over tasks."""
SUCCESS = "success_rate"
MOST_DECIMALS = 12
"""Decimals beyond these are those of a program's floating-point numbers, whose last ones are not exact."""
_SAME_METRIC = {"successes": SUCCESS}


@dataclass(frozen=True)
class Window:
    """All values from `low` to `high`, both included."""

    low: Fraction
    high: Fraction

    def meets(self, other: Window) -> bool:
        return self.low <= other.high and other.low <= self.high

    def __truediv__(self, scale: int) -> Window:
        return Window(self.low / scale, self.high / scale)


@dataclass(frozen=True)
class Printed:
    """A number as printed, to so many decimals."""

    value: Fraction
    decimals: int

    @classmethod
    def of(cls, text: str) -> Printed:
        """Raises `ValueError` for what is no finite decimal number."""
        try:
            number = Decimal(text)
        except InvalidOperation:
            raise ValueError(text) from None
        exponent = number.as_tuple().exponent
        if not isinstance(exponent, int):
            raise ValueError(text)
        decimals = min(MOST_DECIMALS, max(0, -exponent))
        return cls(round(Fraction(number), decimals), decimals)

    @property
    def step(self) -> Fraction:
        """One unit of the last decimal."""
        return Fraction(1, 10**self.decimals)

    @property
    def window(self) -> Window:
        """What may have been rounded to this, up or down or to even."""
        return Window(self.value - self.step / 2, self.value + self.step / 2)

    def __str__(self) -> str:
        return f"{float(self.value):.{self.decimals}f}"


@dataclass(frozen=True)
class Number:
    """One line of the file. `name` is the method as the item itself labels it; `method` as the file files it.

    `episodes` is what the paper says the number stands on, over all `runs`; the spread is over these. `setting` says
    what else was different from other numbers of the same method and task.
    """

    line: int
    paper: str
    item: str
    method: str
    benchmark: str
    task: str
    metric: str
    value: Printed
    spread: Printed | None
    unit: str
    episodes: int | None
    runs: int | None
    name: str
    setting: str

    @property
    def scale(self) -> int | None:
        """What 1 is in the number's unit; None where the unit is no share of a whole."""
        counted = re.fullmatch(r"count of (\d+)", self.unit)
        return int(counted[1]) if counted else {"percent": 100, "fraction": 1}.get(self.unit)

    @property
    def counted(self) -> bool:
        """Whether the value is a plain count of successes."""
        return self.unit.startswith("count of ")

    @property
    def window(self) -> Window:
        """What the number may stand for: a share from 0 to 1 where it is one, else in its unit."""
        exact = Window(self.value.value, self.value.value) if self.counted else self.value.window
        return exact / self.scale if self.scale else exact

    @property
    def spread_window(self) -> Window | None:
        """Of a share, from 0 to 1."""
        if self.spread is None or not self.scale:
            return None
        return Window(max(Fraction(0), self.spread.window.low), self.spread.window.high) / self.scale

    @property
    def quantity(self) -> tuple[str, ...]:
        """What is measured, whatever the item and the unit of a share."""
        unit = "share" if self.scale else self.unit
        metric = _SAME_METRIC.get(self.metric, self.metric)
        return (self.paper, self.setting, self.name, self.benchmark, self.task, metric, unit)

    @property
    def printed(self) -> str:
        """As the paper prints it."""
        value = f"{self.value}/{self.scale}" if self.counted else str(self.value)
        return value if self.spread is None else f"{value} ± {self.spread}"

    @property
    def where(self) -> str:
        return f"{self.paper} {self.item}, {self.name}, {self.benchmark} {self.task}, {self.metric}"


@dataclass(frozen=True)
class Numbers:
    """A file's numbers, and its columns that are not read."""

    numbers: Sequence[Number]
    unused: Sequence[str]


def read(path: Path) -> Numbers:
    """Read a file. Raises `UsageError` with the one thing to mend: no such file, columns that are missing, or a cell
    that is no number; lines without a value are left out."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            columns = [column.strip() for column in reader.fieldnames or ()]
            reader.fieldnames = columns
            _check_columns(path, columns)
            found = [
                _number(path, reader.line_num, cells) for cells in reader if (cells["value"] or "").strip()
            ]
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path} is no CSV file in UTF-8: {error}.") from error
    return Numbers(found, [column for column in columns if column not in (*REQUIRED, *OPTIONAL)])


def _check_columns(path: Path, columns: Sequence[str]) -> None:
    missing = [column for column in REQUIRED if column not in columns]
    if missing:
        raise UsageError(
            f"{path} lacks the columns {', '.join(missing)}. Its first line has to name {', '.join(REQUIRED)} "
            f"(and {', '.join(OPTIONAL)}, if there are any), separated by commas; it names "
            f"{', '.join(columns) or 'nothing'}."
        )
    double = sorted({column for column in columns if columns.count(column) > 1})
    if double:
        raise UsageError(f"{path} has the column {', '.join(double)} twice; name each once.")


def _number(path: Path, line: int, cells: dict[str, str | None]) -> Number:
    text = {column: (cells.get(column) or "").strip() for column in (*REQUIRED, *OPTIONAL)}
    where = f"{path}, line {line}"
    number = Number(
        line=line,
        paper=text["paper"],
        item=text["item"],
        method=text["method"],
        benchmark=text["benchmark"],
        task=text["task"],
        metric=text["metric"],
        value=_decimal(where, "value", text["value"]),
        spread=_decimal(where, "spread", text["spread"]) if text["spread"] else None,
        unit=text["unit"],
        episodes=_count(where, "episodes", text["episodes"]),
        runs=_count(where, "runs", text["runs"]),
        name=text["label"] or text["method"],
        setting=text["setting"],
    )
    if number.runs and number.episodes and number.episodes % number.runs:
        raise UsageError(
            f"{where}: {number.episodes} episodes cannot be {number.runs} equal runs. `episodes` counts those of "
            "all runs together; leave `runs` empty where they are not equal."
        )
    return number


def _decimal(where: str, column: str, text: str) -> Printed:
    try:
        return Printed.of(text)
    except ValueError:
        raise UsageError(f"{where}: {column} is `{text}`; write a number as 39.3, without a unit.") from None


def _count(where: str, column: str, text: str) -> int | None:
    if not text:
        return None
    try:
        number = Printed.of(text).value
    except ValueError:
        number = Fraction(0)
    if number < 1 or number.denominator != 1:
        raise UsageError(f"{where}: {column} is `{text}`; write a whole number from 1, or leave it empty.")
    return int(number)
