"""Items with made-up numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

import pytest

from analysis.items import Group, Item
from analysis.published import Published
from analysis.statistics.rates import Rate
from analysis.tables.entries import Computed, Entry
from analysis.tables.measured import Measured

Make = Callable[..., Computed]


def entry(successes: int, episodes: int, published: str = "", rate: bool = True) -> Entry:
    """Without episodes it has no value; a rate has the exact interval."""
    low, high = Rate(successes, episodes).interval()
    return Entry(
        value=Fraction(100 * successes, episodes) if episodes else None,
        interval=(100 * low, 100 * high) if rate and episodes else None,
        successes=successes,
        episodes=episodes,
        counted=Measured(saying=episodes),
        published=Published(published, "", "percent") if published else None,
    )


def computed(entries: Mapping[tuple[str, str], Entry], **changes: object) -> Computed:
    """An item of HiMe with the rows and columns that the entries name."""
    rows, columns = (list(dict.fromkeys(key[place] for key in entries)) for place in (0, 1))
    given: dict[str, object] = {
        "paper": "hime",
        "number": "figure4",
        "title": "Progress",
        "metric": "success_rate",
        "episodes": 21,
        "rows": [Group(row, published=row.lower()) for row in rows],
        "columns": [Group(column, benchmark="widowx") for column in columns],
    }
    return Computed(Item(**(given | changes)), entries, {}, {"widowx": "household"})  # type: ignore[arg-type]


@pytest.fixture
def two_by_two() -> Computed:
    """Flat lacks a task, and failed at the other one."""
    return computed(
        {
            ("Flat", "Search"): entry(0, 7, "64"),
            ("Flat", "Count"): entry(0, 0, "58"),
            ("HiMe", "Search"): entry(20, 21, "92"),
            ("HiMe", "Count"): entry(12, 21),
        }
    )
