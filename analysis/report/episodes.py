"""Every episode as one entry of a few columns, packed for the page: text by its number in a sorted list, numbers as
arrays that the browser reads without parsing. A million episodes are some ten megabytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from analysis.report.overview import variants
from analysis.report.packing import packed
from analysis.report.traces import Places
from analysis.rows import Rows

if TYPE_CHECKING:
    import numpy

_TEXTS = {
    "method": "rows.method",
    "env": "rows.env",
    "variant": "cells.variant",
    "task": "task",
    "status": "status",
    "kind": "coalesce(failure, error, '')",
    "reason": "coalesce(reason, '')",
    "instruction": "coalesce(instruction, '')",
    "cell": "cells.folder",
}
_NUMBERS = {
    "seed": ("rows.seed", "i4"),
    "scene": ("scene", "i4"),
    "wording": ("instruction_index", "i4"),
    "trials": ("coalesce(trial_count, 0)", "i4"),
    "steps": ("coalesce(steps, 0)", "i4"),
    "calls": ("coalesce(usage.calls, 0)", "i4"),
    "tokens": ("coalesce(usage.prompt_tokens + usage.completion_tokens, 0)", "i4"),
    "cost": ("CASE WHEN usage IS NULL THEN 0 ELSE coalesce(usage.cost_usd, 'nan') END", "f4"),
    "seconds": ("coalesce(timings.seconds, 'nan')", "f4"),
    "script": ("coalesce(places.script, 0)", "i4"),
}
"""Column of the page to what it is of a row, and its type; `nan` is for unknown, script 0 for nothing recorded."""


def pack(rows: Rows, places: Places) -> str:
    """The packed table: a line of JSON that describes the columns, then the columns one after the other, each of four
    bytes an episode, little-endian."""
    _note(rows, places)
    columns: list[dict[str, Any]] = []
    selected = []
    for name, expression in _TEXTS.items():
        rows.db.execute(
            f"CREATE OR REPLACE TYPE {name}_text AS ENUM (SELECT DISTINCT {expression} AS text FROM rows "
            "JOIN cells USING (cell) ORDER BY text)"
        )
        values = [value for (value,) in rows.query(f"SELECT unnest(enum_range(NULL::{name}_text))::VARCHAR")]
        columns.append({"name": name, "type": "text", "values": values})
        selected.append(f"enum_code(({expression})::{name}_text) AS page_{name}")
    for name, (expression, kind) in _NUMBERS.items():
        columns.append({"name": name, "type": kind})
        selected.append(f"{expression} AS page_{name}")
    found: Mapping[str, numpy.ndarray[Any, Any]] = rows.db.execute(
        f"SELECT {', '.join(selected)} FROM rows JOIN cells USING (cell) LEFT JOIN places USING (cell, episode) "
        "ORDER BY cells.folder, task, instruction_index, scene"
    ).fetchnumpy()
    arrays = []
    for column in columns:
        kind = "i4" if column["type"] == "text" else column["type"]
        arrays.append(found[f"page_{column['name']}"].astype(f"<{kind}").tobytes())
    description = json.dumps({"count": len(found["page_method"]), "columns": columns})
    return packed(description.encode() + b"\n" + b"".join(arrays))


def _note(rows: Rows, places: Places) -> None:
    """Put what is known of cells and scripts beside the rows."""
    labels = variants(list(rows.cells.values()))
    rows.db.execute("CREATE OR REPLACE TABLE cells (cell VARCHAR, folder VARCHAR, variant VARCHAR)")
    rows.db.execute(
        "INSERT INTO cells SELECT unnest(?), unnest(?), unnest(?)",
        [
            list(rows.cells),
            [cell.folder.name for cell in rows.cells.values()],
            [labels[identity] for identity in rows.cells],
        ],
    )
    rows.db.execute("CREATE OR REPLACE TABLE places (cell VARCHAR, episode VARCHAR, script INTEGER)")
    for identity, episodes in places.items():
        rows.db.execute(
            "INSERT INTO places SELECT ?, unnest(?), unnest(?)",
            [identity, list(episodes), list(episodes.values())],
        )
