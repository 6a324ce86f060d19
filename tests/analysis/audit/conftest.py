"""Lines of a file of published numbers, for tests of the audit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from analysis.audit import audit
from analysis.audit.findings import Finding
from analysis.audit.numbers import Number, read

COLUMNS = [
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
    "runs",
    "label",
    "setting",
]
DEFAULTS = {
    "paper": "p",
    "item": "table1",
    "method": "ours",
    "benchmark": "b",
    "task": "lift",
    "metric": "success_rate",
    "unit": "percent",
}


@pytest.fixture
def numbers_of(tmp_path: Path) -> Callable[..., Sequence[Number]]:
    """`numbers_of({"value": "40.0", "episodes": 15}, ...)`: a dict a line; what it lacks is as in `DEFAULTS`."""

    def write(*lines: dict[str, object]) -> Sequence[Number]:
        path = tmp_path / "numbers.csv"
        rows = [",".join(str((DEFAULTS | line).get(column, "")) for column in COLUMNS) for line in lines]
        path.write_text("\n".join([",".join(COLUMNS), *rows]), encoding="utf-8")
        return read(path).numbers

    return write


@pytest.fixture
def audit_of(numbers_of) -> Callable[..., list[Finding]]:
    """The findings of such lines."""
    return lambda *lines: audit(numbers_of(*lines))
