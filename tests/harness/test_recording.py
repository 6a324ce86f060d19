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


def test_recording_does_not_change_a_cell(make_cell: MakeCell) -> None:
    assert make_cell(record=RECORD).identity == make_cell().identity


@pytest.mark.parametrize("change", [{"video": "some"}, {"fps": 0.0}])
def test_unknown_settings_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=r"record\."):
        Recorder(Path(), **{**RECORD, **change})  # type: ignore[arg-type]
