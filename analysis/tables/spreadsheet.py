"""An item as CSV, one line a number, unrounded, for other programs."""

from __future__ import annotations

import csv
import io

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


def table(computed: Computed) -> str:
    """CSV with a head; what is missing is empty."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(HEADS)
    for (row, column), entry in computed.entries.items():
        low, high = entry.interval or (None, None)
        published = entry.published
        writer.writerow(
            [
                computed.item.name,
                row,
                column,
                computed.item.metric,
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
            ]
        )
    return buffer.getvalue()
