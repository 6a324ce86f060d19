from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import imageio.v3 as iio
import pytest

from harness import store
from harness.cells import Cell
from harness.failures import UsageError
from harness.recording import Recorder
from harness.sweep import run_cells

MakeCell = Callable[..., Cell]
RECORD = {"trace": True, "images": False, "video": "failures", "camera": "front", "fps": 5.0}


def test_a_video_is_kept_of_failures_only(tmp_path: Path, make_cell: MakeCell) -> None:
    cell = make_cell(env={"size": 1, "scenes": 8}, method={"steps": 20}, record=RECORD)
    result = run_cells([cell], tmp_path)
    rows = store.load(tmp_path)
    assert {row["status"] for row in rows} == {"success", "failure"}
    for row in rows:
        assert (row["video"] is not None) == (row["status"] == "failure")
    videos = sorted(path.name for path in (result.cells[0].folder / "videos").iterdir())
    assert videos == sorted(f"{row['episode']}.mp4" for row in rows if row["status"] == "failure")
    frames = iio.imread(result.cells[0].folder / "videos" / videos[0])
    assert frames.shape == (10, 64, 64, 3)  # 20 control steps at 10 a second, 5 frames a second


def test_all_videos_on_request(tmp_path: Path, make_cell: MakeCell) -> None:
    record = {**RECORD, "video": "all"}
    run_cells(
        [make_cell(env={"size": 1, "scenes": 2, "rate": 1.0}, method={"steps": 2}, record=record)], tmp_path
    )
    assert all(row["video"] for row in store.load(tmp_path))


def test_images_at_both_ends_of_each_trial(tmp_path: Path, make_cell: MakeCell) -> None:
    record = {**RECORD, "video": "none", "images": True}
    cell = make_cell(env={"size": 1, "scenes": 1, "rate": 0.0}, method={"trials": 2}, record=record)
    result = run_cells([cell], tmp_path)
    names = sorted(path.name for path in (result.cells[0].folder / "images").iterdir())
    assert names == [f"task0-s0-i0-t{trial}-{moment}.png" for trial in (0, 1) for moment in ("end", "start")]
    assert iio.imread(result.cells[0].folder / "images" / names[0]).shape == (64, 64, 3)


def files(folder: Path) -> set[str]:
    kinds = ("traces", "videos", "images")
    return {f"{kind}/{path.name}" for kind in kinds for path in (folder / kind).glob("*")}


@pytest.mark.parametrize("again", [{}, {"video": "none", "images": False, "trace": False}])
def test_a_rerun_leaves_nothing_of_the_attempt_that_ended_in_an_error(
    tmp_path: Path, make_cell: MakeCell, again: dict[str, object]
) -> None:
    """Also when it records less: what the former attempt left shows what did not happen in this one."""
    record = {**RECORD, "images": True}
    fault = {
        "fault": "raise",
        "fault_task": "task0",
        "fault_once": str(tmp_path / "once"),
        "trials": 3,
        "steps": 2,
    }
    changes = {"env": {"size": 1, "scenes": 1, "rate": 1.0}, "method": fault}
    folder = run_cells([make_cell(**changes, record=record)], tmp_path / "it").cells[0].folder
    (row,) = store.load(tmp_path / "it")
    assert row["status"] == "error"
    assert files(folder) == {
        "traces/task0-s0-i0.jsonl",
        "videos/task0-s0-i0.mp4",
        "images/task0-s0-i0-t0-start.png",
    }
    for name in ("images/task0-s0-i0-t1-end.png", "images/task0-s0-i0-t2-start.png"):
        (folder / name).touch()  # as of an attempt that got further
    for name in ("images/task0-s1-i0-t0-end.png", "videos/task0-s0-i1.mp4", "videos/task0-s0-i0.part.mp4"):
        (folder / name).touch()
    others = {"images/task0-s1-i0-t0-end.png", "videos/task0-s0-i1.mp4"}
    run_cells([make_cell(**changes, record={**record, **again})], tmp_path / "it")
    row = list(store.load(tmp_path / "it"))[-1]
    assert (row["status"], row["video"], row["trace"]) == ("success", None, None)
    own = {f"images/task0-s0-i0-t0-{moment}.png" for moment in ("start", "end")}
    assert files(folder) == others | (set() if again else own)


def test_recording_does_not_change_a_cell(make_cell: MakeCell) -> None:
    assert make_cell(record=RECORD).identity == make_cell().identity


@pytest.mark.parametrize("change", [{"video": "some"}, {"fps": 0.0}])
def test_unknown_settings_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=r"record\."):
        Recorder(Path(), **{**RECORD, **change})  # type: ignore[arg-type]
