"""An item as CSV, one line a number, unrounded, for other programs."""

from __future__ import annotations

import csv
import io

from analysis.metrics import Verdicts
from analysis.tables.entries import Computed

HEADS = [
    "item",
    "row",
    "column",
    "metric",
    "value",
    "deviation",
    "low",
    "high",
    "successes",
    "episodes",
    "errors",
    "seeds",
    "published",
    "published_spread",
]
COUNTS = ["numerator", "denominator", "not_judged", "episodes_that_say"]
"""Beside them where an item has metrics that are no verdicts. A quantile has its number of values in both."""


def table(computed: Computed) -> str:
    """CSV with a head; what is missing is empty."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    item = computed.item
    columns = {column.label: column for column in item.columns}
    counting = any(not isinstance(item.measure_of(column), Verdicts) for column in item.columns)
    writer.writerow([*HEADS, *COUNTS] if counting else HEADS)
    for (row, column), entry in computed.entries.items():
        counted = entry.counted
        low, high = entry.interval or (None, None)
        published = entry.published
        writer.writerow(
            [
                item.name,
                row,
                column,
                item.metric_of(columns[column]),
                None if entry.value is None else float(entry.value),
                entry.deviation,
                low,
                high,
                entry.successes,
                entry.episodes,
                entry.errors,
                entry.seeds,
                published.value if published else None,
                published.spread if published else None,
                *([counted.part, counted.whole, counted.left_out, counted.saying] if counting else []),
            ]
        )
    return buffer.getvalue()
