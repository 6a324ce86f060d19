"""Traces as scripts beside the page, a few megabytes each, which the page loads when an episode is opened: a page
that is opened from a disk may load a script, and nothing else. A script holds the episodes of one cell, packed; a
chat message that several of them share is in it once."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from analysis.report.packing import packed
from analysis.rows import Rows
from harness import store, tracing

CHARACTERS = 4_000_000
"""A script is closed once it holds this many, before packing."""
_IMAGE = re.compile(r"(?P<episode>.+)-t\d+-(start|end)\.png")

Places = Mapping[str, Mapping[str, int]]
"""Cell's identity to episode to the number of its script, from 1."""


def write(rows: Rows, folder: Path) -> Places:
    """Write the scripts into an empty folder. Episodes of which nothing was recorded are in none."""
    places: dict[str, dict[str, int]] = {}
    number = 0
    for identity, cell in rows.cells.items():
        recorded = rows.query(
            "SELECT 1 FROM rows WHERE cell = ? AND (trace IS NOT NULL OR video IS NOT NULL) LIMIT 1", identity
        )
        images = _images(cell.folder)
        if not recorded and not images:
            continue
        for episodes in _shares(cell.folder, images):
            number += 1
            text = json.dumps(episodes, separators=(",", ":"))
            script = f'engramTraces({number},"{packed(text.encode())}")\n'
            (folder / f"{number}.js").write_text(script, encoding="ascii")
            places.setdefault(identity, {}).update(dict.fromkeys(episodes, number))
    return places


def _shares(cell: Path, images: Mapping[str, list[str]]) -> Iterator[dict[str, Any]]:
    share: dict[str, Any] = {}
    seen: set[str] = set()
    size = 0
    for key, row in store.read_cell(cell).items():
        if row.get("trace") is None and row.get("video") is None and key not in images:
            continue
        episode = {"row": row, "images": images.get(key, []), **_events(cell, row.get("trace"), seen)}
        share[key] = strict(episode)
        size += sum(len(str(event)) for event in episode["events"]) + 1000
        if size > CHARACTERS:
            yield share
            share, seen, size = {}, set(), 0
    if share:
        yield share


def _events(cell: Path, trace: str | None, seen: set[str]) -> dict[str, Any]:
    """Events with the texts of messages that this script has not had yet; why there are none, where that is so."""
    if trace is None:
        return {"events": []}
    events = []
    problem = None
    try:
        for event in tracing.read(cell / trace):
            if "messages" in event:
                event["messages"] = [tracing.shortened(message, seen) for message in event["messages"]]
            events.append(event)
    except FileNotFoundError:
        problem = f"{trace} is not there any more."
    except (ValueError, KeyError) as error:
        problem = f"{trace} is damaged after {len(events)} events: {error}"
    return {"events": events} | ({"problem": problem} if problem else {})


def _images(cell: Path) -> dict[str, list[str]]:
    """Episode to the names of its pictures, in the order of trials."""
    found: dict[str, list[str]] = {}
    if (cell / "images").is_dir():
        for name in sorted(os.listdir(cell / "images"), key=_moment):
            if match := _IMAGE.fullmatch(name):
                found.setdefault(match["episode"], []).append(f"images/{name}")
    return found


def _moment(name: str) -> tuple[int, bool, str]:
    trial = re.search(r"-t(\d+)-", name)
    return int(trial[1]) if trial else 0, name.endswith("-end.png"), name


def strict(value: Any) -> Any:
    """As strict JSON has it: what is no finite number becomes its name."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: strict(item) for key, item in value.items()}
    if isinstance(value, list):
        return [strict(item) for item in value]
    return value
