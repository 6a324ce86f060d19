"""A sweep with a tracker in its own process: what is told, and what a broken one costs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import store
from harness.cells import Cell
from harness.store import StorageError
from harness.sweep import run_cells
from harness.trackers.guarded import GuardedTracker
from harness.trackers.none import NoTracker

MakeCell = Callable[..., Cell]
PROJECT = Path(__file__).resolve().parents[3]

DIARY = '''
import json, os, sys
from dataclasses import dataclass

@dataclass(frozen=True)
class Diary:
    """Writes down what it is told."""
    path: str
    patience: float = 300.0
    media: str = "none"

    def problems(self): return []
    def destination(self): return self.path
    def open(self, root):
        print("chatter of a library")
        print("and of its errors", file=sys.stderr)
        return self
    address = "a diary"

    def _write(self, *entry):
        with open(self.path, "a") as file: file.write(json.dumps(entry) + chr(10))

    def begin(self, cell, code): self._write("begin", cell.run, os.getpid())
    def add(self, cell, points):
        for point in points: self._write("row", cell.run, point.number, point.episode, point.status)
    def end(self, cell, newest, summary, state): self._write("end", cell.run, state, summary["episodes"])
    def close(self): self._write("close")
'''


@pytest.fixture
def diary(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The config of a tracker that writes lines into a file; from a package that is not ours."""
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "diary.py").write_text(DIARY)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), str(PROJECT)]))
    return {"_target_": "diary.Diary", "path": str(folder / "diary.jsonl")}


def entries(diary: dict[str, Any]) -> list[list[Any]]:
    path = Path(diary["path"])
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def states(diary: dict[str, Any]) -> list[str]:
    return [entry[2] for entry in entries(diary) if entry[0] == "end"]


def broken(fault: str, patience: float = 300.0) -> dict[str, Any]:
    return {"_target_": "harness.testing.noop.BrokenTracker", "fault": fault, "patience": patience}


@pytest.mark.parametrize("fault", ["problem", "open", "begin", "add", "end", "exit"])
def test_a_broken_tracker_costs_one_warning(
    tmp_path: Path, make_cell: MakeCell, capsys: pytest.CaptureFixture[str], fault: str
) -> None:
    assert run_cells([make_cell(tracker=broken(fault))], tmp_path).complete
    printed = capsys.readouterr().err
    assert printed.count("The tracker ") == 1
    assert "Nothing of the results is lost" in printed
    told = {"problem": "pip install it", "exit": "ended with status 3"}.get(fault, f"no server for {fault}()")
    assert told in printed
    assert len(store.load(tmp_path)) == 15


def test_a_tracker_that_hangs_is_left_after_its_time(
    tmp_path: Path, make_cell: MakeCell, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_cells([make_cell(tracker=broken("hang", patience=0.5))], tmp_path).complete
    printed = capsys.readouterr().err
    assert printed.count("The tracker ") == 1
    assert "had not sent everything after 0.5 s" in printed
    assert following(tmp_path) == []


def following(root: Path) -> list[str]:
    """Tracker processes that follow an experiment: their log lies in its folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes()
            log = os.readlink(process / "fd" / "2")
        except OSError:
            continue
        if b"harness.trackers.following" in line and log.startswith(str(root)):
            found.append(process.name)
    return found


def test_one_that_cannot_be_started(
    tmp_path: Path, make_cell: MakeCell, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "missing"))
    assert run_cells([make_cell(tracker=broken("open"))], tmp_path).complete
    assert capsys.readouterr().err.count("The tracker could not be started") == 1


def test_no_process_without_a_destination(tmp_path: Path) -> None:
    notes: list[str] = []
    guarded = GuardedTracker(NoTracker(), {}, notes.append)
    with guarded.following(tmp_path, [], interrupted=lambda: False):
        guarded.listen()
        assert following(tmp_path) == []
    assert (notes, list(tmp_path.iterdir())) == ([], [])


def test_rows_go_to_the_tracker_and_its_chatter_to_a_log(
    tmp_path: Path, make_cell: MakeCell, diary: dict[str, Any], capfd: pytest.CaptureFixture[str]
) -> None:
    cells = [make_cell(seed=seed, tracker=diary, run={"workers": 2}) for seed in (0, 1)]
    assert run_cells(cells, tmp_path).complete
    rows = [entry for entry in entries(diary) if entry[0] == "row"]
    assert sorted(row[3] for row in rows) == sorted(row["episode"] for row in store.load(tmp_path))
    assert states(diary) == ["finished", "finished"]
    printed = capfd.readouterr()
    assert "chatter" not in printed.out + printed.err
    assert "Tracked: 30 rows to a diary" in printed.err
    before = entries(diary)
    run_cells(cells, tmp_path)
    assert entries(diary) == before, "the same command again has nothing to tell"


def test_errors_are_told_as_failed(tmp_path: Path, make_cell: MakeCell, diary: dict[str, Any]) -> None:
    run_cells([make_cell(tracker=diary, method={"fault": "provider"})], tmp_path)
    assert states(diary) == ["failed"]


def test_a_full_disk_is_told_as_failed(
    tmp_path: Path, make_cell: MakeCell, diary: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    real, count = store.CellStore.append, 0

    def append(self: store.CellStore, row: store.Row) -> store.Digest:
        nonlocal count
        count += 1
        if count > 4:
            raise StorageError("the disk is full")
        return real(self, row)

    monkeypatch.setattr(store.CellStore, "append", append)
    with pytest.raises(StorageError):
        run_cells([make_cell(tracker=diary)], tmp_path)
    assert states(diary) == ["failed"]
    assert sum(entry[0] == "row" for entry in entries(diary)) == 4
    monkeypatch.undo()


SCRIPT = """
import json, sys
from pathlib import Path
from harness.cells import Cell
from harness.sweep import run_cells
from harness.trackers import guarded
guarded.HURRY = 300.0
config, choices, root = json.loads(sys.argv[1])
run_cells([Cell(config, choices)], Path(root))
"""


@pytest.mark.parametrize(
    ("numbers", "state"),
    [
        ([signal.SIGINT], "stopped"),
        ([signal.SIGINT, signal.SIGINT], "stopped"),
        ([signal.SIGTERM], "stopped"),
        ([signal.SIGKILL], "failed"),
    ],
)
def test_a_sweep_that_is_ended_in_the_middle_is_told_so_and_continues_its_run(
    tmp_path: Path, make_cell: MakeCell, diary: dict[str, Any], numbers: list[signal.Signals], state: str
) -> None:
    """With the five episodes of task0 told of and the next one being played."""
    gate, root = tmp_path / "gate", tmp_path / "out"
    method = {"_target_": "tests.harness.waiting.Waiting", "gate": str(gate)}
    cell = make_cell(tracker=diary, method=method, run={"workers": 1})
    argument = json.dumps([dict(cell.config), dict(cell.choices), str(root)])
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, argument], cwd=PROJECT, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    wait_until(lambda: sum(entry[0] == "row" for entry in entries(diary)) == 5)
    process.send_signal(numbers[0])
    if numbers[0] == signal.SIGINT:
        assert any(line.startswith("Stopping once") for line in process.stderr)
    if numbers == [signal.SIGINT]:
        gate.touch()  # what is being played ends
    for number in numbers[1:]:
        process.send_signal(number)
    process.communicate(timeout=300)
    gate.touch()
    wait_until(lambda: bool(states(diary)))
    assert states(diary) == [state]
    wait_until(lambda: following(root) == [])
    assert run_cells([cell], root).complete
    rows = [entry for entry in entries(diary) if entry[0] == "row"]
    assert [row[2] for row in rows] == list(range(15))
    assert len({row[1] for row in rows}) == 1
    assert len({row[3] for row in rows}) == 15
    assert states(diary) == [state, "finished"]


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.05)
