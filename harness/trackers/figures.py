"""What of the rows goes to a tracker: numbers of an episode, a line of the table of episodes, the summary of a cell.
The same for every tracker, so that they can be compared with the rows and with each other."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.failures import ERROR_KINDS, FAILURE_KINDS
from harness.intervals import clopper_pearson
from harness.records import VERDICTS, counts_after
from harness.status import end_of
from harness.store import Row
from harness.trackers.protocol import Point

COLUMNS = (
    "episode",
    "task",
    "instruction",
    "scene",
    "status",
    "failure",
    "error",
    "reason",
    "trials",
    "steps",
    "subtasks_done",
    "subtasks",
    "calls",
    "prompt_tokens",
    "completion_tokens",
    "cost_usd",
    "seconds",
    "attempt",
    "state_hash",
    "code",
)
"""Of the table of episodes."""

PREFIX = "episode/"
"""Of the numbers of one episode."""
RATE = "so_far/success_rate"
ERRORS = "so_far/errors"


class Tally:
    """Verdicts and errors of a cell so far: one row of each episode counts, as in all that reads rows."""

    def __init__(self) -> None:
        self._statuses: dict[str, str] = {}
        self._counts: Counter[str] = Counter()

    def add(self, row: Row) -> dict[str, float]:
        """Count a row; returns the numbers after it. No rate before the first verdict: errors are in no rate."""
        before = self._statuses.get(row["episode"])
        if counts_after(row["status"], before):
            if before is not None:
                self._counts[before] -= 1
            self._statuses[row["episode"]] = row["status"]
            self._counts[row["status"]] += 1
        verdicts = sum(self._counts[status] for status in VERDICTS)
        figures = {ERRORS: float(self._counts["error"])}
        if verdicts:
            figures[RATE] = self._counts["success"] / verdicts
        return figures


def point(number: int, row: Row, so_far: Mapping[str, float], folder: Path, media: str) -> Point:
    """`folder` is the cell's, `media` of which episodes pictures and videos are wanted."""
    wanted = media == "all" or (media == "failures" and row["status"] != "success")  # as videos are recorded
    video = folder / row["video"] if wanted and row.get("video") else None
    images = sorted((folder / "images").glob(f"{row['episode']}-t*.png")) if wanted else ()
    return Point(
        number=number,
        episode=row["episode"],
        status=row["status"],
        code=row["code"],
        ended=end_of(row),
        metrics={**metrics(row), **so_far},
        line=line(row),
        videos=(video,) if video is not None and video.exists() else (),
        images=tuple(images),
    )


def metrics(row: Row) -> dict[str, float]:
    """Numbers of one episode. What is not known (the price of a call, the counts of a worker that died) is left out,
    and an error has no `success`."""
    usage, timings = row["usage"], row["timings"]
    found: dict[str, float | None] = {
        "success": float(row["status"] == "success") if row["status"] in VERDICTS else None,
        "error": float(row["status"] == "error"),
        "trials": row["trial_count"],
        "steps": row["steps"],
        "subtasks": row["subtasks_done"] / row["subtasks"] if row["subtasks"] else None,
        "calls": usage.get("calls"),
        "prompt_tokens": usage.get("prompt_tokens"),
        "completion_tokens": usage.get("completion_tokens"),
        "cost_usd": usage.get("cost_usd"),
        "seconds": timings.get("seconds"),
        "chat_seconds": timings.get("chat_seconds"),
    }
    return {PREFIX + name: float(value) for name, value in found.items() if value is not None}


def line(row: Row) -> tuple[Any, ...]:
    """A row of the table of episodes, in the order of `COLUMNS`."""
    flat = {**row, **row["usage"], "trials": row["trial_count"], "seconds": row["timings"].get("seconds")}
    return tuple(flat.get(column) for column in COLUMNS)


def summary(newest: Sequence[Point], expected: int) -> dict[str, Any]:
    """A cell in numbers, from the newest row of each of its episodes; `expected` is how many there should be. Rates
    are of verdicts and come with their 95 % interval (Clopper and Pearson)."""
    lines = [dict(zip(COLUMNS, point.line, strict=True)) for point in newest]
    verdicts = [line for line in lines if line["status"] in VERDICTS]
    found: dict[str, Any] = {
        **_rate("", verdicts),
        "errors": len(lines) - len(verdicts),
        "unplayed": max(0, expected - len(lines)),
    }
    for name in ("calls", "prompt_tokens", "completion_tokens", "cost_usd"):
        values = [line[name] for line in verdicts]
        if verdicts and None not in values:  # one unknown price makes the sum unknown
            found[name] = sum(values)
    if verdicts:
        found["seconds_median"] = statistics.median(line["seconds"] for line in verdicts)
    kinds = Counter(line["failure"] or line["error"] for line in lines)
    found |= {
        f"failures/{kind}": kinds[kind] for kind in FAILURE_KINDS
    }  # zeros too: they replace an earlier start's
    found |= {f"errors_by_kind/{kind}": kinds[kind] for kind in ERROR_KINDS}
    for task in sorted({line["task"] for line in verdicts}):
        found.update(_rate(f"tasks/{task}/", [line for line in verdicts if line["task"] == task]))
    return found


def _rate(prefix: str, verdicts: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    successes = sum(line["status"] == "success" for line in verdicts)
    found: dict[str, float] = {f"{prefix}episodes": len(verdicts), f"{prefix}successes": successes}
    if verdicts:
        low, high = clopper_pearson(successes, len(verdicts))
        found[f"{prefix}success_rate"] = successes / len(verdicts)
        found[f"{prefix}success_rate_low"], found[f"{prefix}success_rate_high"] = low, high
    return found
