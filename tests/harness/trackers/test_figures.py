from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.failures import ERROR_KINDS, FAILURE_KINDS
from harness.intervals import clopper_pearson
from harness.store import Row
from harness.trackers import figures
from harness.trackers.figures import COLUMNS, Tally, line, metrics, point, summary


def row(episode: str = "lift-s0-i0", status: str = "success", **changes: Any) -> Row:
    found: Row = {
        "episode": episode,
        "task": episode.partition("-")[0],
        "instruction": "lift the block",
        "scene": 3,
        "status": status,
        "failure": "motion" if status == "failure" else None,
        "error": "crash" if status == "error" else None,
        "reason": "",
        "trial_count": 2,
        "steps": 120,
        "subtasks_done": 1,
        "subtasks": 4,
        "usage": {
            "calls": 9,
            "prompt_tokens": 800,
            "completion_tokens": 70,
            "cost_usd": 0.5,
            "roles": {"planner": 9},
        },
        "attempt": 1,
        "state_hash": "ff",
        "code": "c0de",
        "started": 1000.5,
        "timings": {"seconds": 20.0, "chat_seconds": 15.0},
        "video": None,
    }
    return {**found, **changes}


def test_numbers_of_an_episode() -> None:
    assert metrics(row()) == {
        "episode/success": 1,
        "episode/error": 0,
        "episode/trials": 2,
        "episode/steps": 120,
        "episode/subtasks": 0.25,
        "episode/calls": 9,
        "episode/prompt_tokens": 800,
        "episode/completion_tokens": 70,
        "episode/cost_usd": 0.5,
        "episode/seconds": 20,
        "episode/chat_seconds": 15,
    }
    assert metrics(row(status="failure"))["episode/success"] == 0


def test_an_error_has_no_success_and_what_is_unknown_is_left_out() -> None:
    dead = row(status="error", usage={}, timings={}, trial_count=0, steps=0, subtasks_done=0)
    assert metrics(dead) == {
        "episode/error": 1,
        "episode/trials": 0,
        "episode/steps": 0,
        "episode/subtasks": 0,
    }
    unpriced = row(usage={"calls": 1, "prompt_tokens": 1, "completion_tokens": 1, "cost_usd": None})
    assert "episode/cost_usd" not in metrics(unpriced)


def test_a_line_of_the_table() -> None:
    found = dict(zip(COLUMNS, line(row(status="failure", reason="拿起: no grasp")), strict=True))
    assert found["episode"] == "lift-s0-i0"
    assert (found["status"], found["failure"], found["error"]) == ("failure", "motion", None)
    assert (found["trials"], found["calls"], found["seconds"], found["cost_usd"]) == (2, 9, 20, 0.5)
    assert found["reason"] == "拿起: no grasp"
    assert None not in [found[name] for name in COLUMNS if name not in ("error",)]


def test_the_rate_so_far_counts_the_newest_row_of_an_episode() -> None:
    tally = Tally()
    assert tally.add(row("a-s0-i0", "error")) == {"so_far/errors": 1}
    assert tally.add(row("a-s1-i0", "failure")) == {"so_far/errors": 1, "so_far/success_rate": 0}
    assert tally.add(row("a-s0-i0", "success")) == {"so_far/errors": 0, "so_far/success_rate": 0.5}


def test_the_rate_so_far_keeps_a_verdict_that_another_jobs_error_comes_after() -> None:
    tally = Tally()
    assert tally.add(row("a-s0-i0", "success")) == {"so_far/errors": 0, "so_far/success_rate": 1}
    assert tally.add(row("a-s0-i0", "error")) == {"so_far/errors": 0, "so_far/success_rate": 1}


def points(*rows: Row) -> list[figures.Point]:
    return [point(number, each, {}, Path(), "none") for number, each in enumerate(rows)]


def test_the_summary_has_rates_with_intervals_of_verdicts_only() -> None:
    rows = [row(f"lift-s{i}-i0", "success" if i < 3 else "failure") for i in range(4)]
    rows += [row(f"push-s{i}-i0", "failure") for i in range(2)] + [row("push-s2-i0", "error")]
    found = summary(points(*rows), expected=10)
    low, high = clopper_pearson(3, 6)
    assert (found["episodes"], found["successes"], found["errors"], found["unplayed"]) == (6, 3, 1, 3)
    assert (found["success_rate"], found["success_rate_low"], found["success_rate_high"]) == (0.5, low, high)
    assert found["tasks/lift/success_rate"] == 0.75
    assert found["tasks/push/success_rate_high"] == clopper_pearson(0, 2)[1]
    assert (found["calls"], found["cost_usd"], found["seconds_median"]) == (54, 3.0, 20)
    assert found["failures/motion"] == 3
    assert found["errors_by_kind/crash"] == 1
    zeros = [name for name, value in found.items() if value == 0 and "/" in name and "tasks" not in name]
    assert len(zeros) == len(FAILURE_KINDS) + len(ERROR_KINDS) - 2


def test_the_summary_without_a_verdict_has_no_rate() -> None:
    found = summary(points(row(status="error")), expected=1)
    assert (found["episodes"], found["errors"]) == (0, 1)
    assert not [name for name in found if "rate" in name or name in ("cost_usd", "seconds_median")]


def test_one_unknown_price_makes_the_sum_unknown() -> None:
    usage = {"calls": 1, "prompt_tokens": 1, "completion_tokens": 1, "cost_usd": None}
    found = summary(points(row(), row("push-s0-i0", usage=usage)), expected=2)
    assert "cost_usd" not in found
    assert found["calls"] == 10


@pytest.mark.parametrize(
    ("media", "status", "sent"),
    [
        ("none", "failure", False),
        ("failures", "failure", True),
        ("failures", "error", True),
        ("failures", "success", False),
        ("all", "success", True),
    ],
)
def test_which_pictures_go_along(tmp_path: Path, media: str, status: str, sent: bool) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "videos").mkdir()
    video = tmp_path / "videos" / "lift-s1-i0.mp4"
    images = [tmp_path / "images" / f"lift-s1-i0-t0-{moment}.png" for moment in ("end", "start")]
    for path in (video, *images, tmp_path / "images" / "lift-s1-i01-t0-end.png"):
        path.write_bytes(b"x")
    found = point(0, row("lift-s1-i0", status, video="videos/lift-s1-i0.mp4"), {}, tmp_path, media)
    assert (found.videos, found.images) == (((video,), tuple(images)) if sent else ((), ()))


def test_a_video_that_was_deleted_is_not_sent(tmp_path: Path) -> None:
    assert point(0, row(video="videos/gone.mp4"), {}, tmp_path, "all").videos == ()
