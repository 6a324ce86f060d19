from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness import pool, store
from harness.cells import Cell
from harness.failures import UsageError
from harness.play import blank_row, comparable
from harness.pool import Finished
from harness.records import EpisodeKey
from harness.store import StorageError
from harness.sweep import Job, Queue, Sweep, run_cells
from harness.tracing import read

MakeCell = Callable[..., Cell]
PROJECT = Path(__file__).resolve().parents[2]
WORKERS = {"workers": 2}


def rows_of(root: Path) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["cell"], row["episode"]): comparable(row) for row in store.load(root)}


def test_serial_parallel_and_resumed_runs_give_the_same_rows(tmp_path: Path, make_cell: MakeCell) -> None:
    def cells(**changes: Any) -> list[Cell]:
        return [make_cell(seed=seed, method={"trials": 3}, **changes) for seed in (0, 1)]

    assert run_cells(cells(), tmp_path / "serial").complete
    assert run_cells(cells(run=WORKERS), tmp_path / "parallel").complete
    run_cells(cells(env={"tasks": ["task1"], "scenes": 3}), tmp_path / "resumed")
    resumed = run_cells(list(reversed(cells(run=WORKERS))), tmp_path / "resumed")
    assert resumed.played == 2 * 12
    serial = rows_of(tmp_path / "serial")
    assert len(serial) == 30
    assert {row["status"] for row in serial.values()} == {"success", "failure"}
    assert rows_of(tmp_path / "parallel") == serial
    assert rows_of(tmp_path / "resumed") == serial


def test_a_row_says_what_happened(tmp_path: Path, make_cell: MakeCell) -> None:
    result = run_cells(
        [make_cell(env={"rate": 0.0, "scenes": 1, "size": 1}, method={"trials": 3, "steps": 2})], tmp_path
    )
    (row,) = store.load(tmp_path)
    wanted = {
        "method": "noop",
        "env": "noop",
        "task": "task0",
        "instruction": "do nothing",
        "scene": 0,
        "seed": 0,
    }
    assert wanted.items() <= row.items()
    assert (row["status"], row["failure"], row["error"], row["trial_count"], row["steps"]) == (
        "failure",
        "goal",
        None,
        3,
        6,
    )
    assert [trial["failure"] for trial in row["trials"]] == ["goal"] * 3
    assert row["versions"]["simulator"] == "none"
    assert row["trace"] is None  # nothing happened that the row does not say
    description = json.loads((result.cells[0].folder / "cell.json").read_text())
    assert (description["format"], description["cell"]) == (store.FORMAT, row["cell"])


def test_running_again_plays_nothing_and_a_longer_grid_only_adds(tmp_path: Path, make_cell: MakeCell) -> None:
    assert run_cells([make_cell(env={"scenes": 2})], tmp_path).played == 6
    before = rows_of(tmp_path)
    assert run_cells([make_cell(env={"scenes": 2})], tmp_path).played == 0
    assert run_cells([make_cell(env={"scenes": 4})], tmp_path).played == 6
    after = rows_of(tmp_path)
    assert before.items() <= after.items()
    assert len(after) == 12
    shorter = run_cells([make_cell(env={"scenes": 1, "tasks": ["task2"]})], tmp_path)
    assert (shorter.played, list(shorter.cells[0].rows)) == (0, ["task2-s0-i0"])


@pytest.mark.parametrize(
    ("fault", "status", "kind"),
    [
        ("raise", "error", "bug"),
        ("provider", "error", "provider"),
        ("generation", "failure", "generation"),
        ("unknown", "error", "bug"),
        ("memory", "error", "bug"),
    ],
)
def test_whose_doing_it_was(tmp_path: Path, make_cell: MakeCell, fault: str, status: str, kind: str) -> None:
    result = run_cells([make_cell(method={"fault": fault}, env={"rate": 0.0, "scenes": 1})], tmp_path)
    row = result.cells[0].rows["task1-s0-i0"]
    assert (row.status, row.failure or row.error) == (status, kind)
    assert result.complete == (status == "failure")
    if fault == "memory":
        assert row.reason.startswith("MemoryError")
    if kind == "bug":
        events = list(read(result.cells[0].folder / str(row.trace)))
        assert [event["event"] for event in events] == ["episode", "trial", "error", "episode_end"]
        assert "in _break" in events[2]["traceback"]
    others = [row.status for name, row in result.cells[0].rows.items() if not name.startswith("task1")]
    assert others == ["failure", "failure"]


@pytest.mark.parametrize(
    ("fault", "how"), [("kill", "SIGKILL"), ("segfault", "SIGSEGV"), ("exit", "exit status 3")]
)
def test_a_worker_that_dies_costs_its_episode_only(
    tmp_path: Path, make_cell: MakeCell, fault: str, how: str
) -> None:
    result = run_cells([make_cell(method={"fault": fault}, env={"scenes": 1}, run=WORKERS)], tmp_path)
    (error,) = result.cells[0].errors
    assert (error.task, error.error) == ("task1", "crash")
    assert how in error.reason
    assert len(result.cells[0].rows) == 3
    assert [row["attempt"] for row in store.load(tmp_path) if row["status"] == "error"] == [2]
    assert not result.complete


def test_a_worker_that_dies_once_is_replaced_and_the_episode_played_again(
    tmp_path: Path, make_cell: MakeCell
) -> None:
    once = {"fault": "kill", "fault_once": str(tmp_path / "died")}
    result = run_cells([make_cell(method=once, run=WORKERS)], tmp_path / "out")
    assert result.complete
    calm = run_cells([make_cell(method={**once, "fault": ""}, run=WORKERS)], tmp_path / "calm")
    theirs, ours = calm.cells[0].rows, result.cells[0].rows
    assert {name: row.status for name, row in ours.items()} == {
        name: row.status for name, row in theirs.items()
    }


def test_the_watchdog_ends_a_hung_episode(
    tmp_path: Path, make_cell: MakeCell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its time is over once it hangs and the others are done, so that none of those needs to be fast."""
    hangs, root = tmp_path / "hangs", tmp_path / "out"

    def clock() -> float:
        return time.monotonic() + (1000.0 if hangs.exists() and count_rows(root) == 2 else 0.0)

    monkeypatch.setattr(pool, "time", SimpleNamespace(monotonic=clock))
    method = {"fault": "hang", "fault_once": str(hangs)}
    run = {"workers": 2, "episode_timeout": 900.0, "retries": 0}
    result = run_cells([make_cell(method=method, env={"scenes": 1}, run=run)], root)
    (error,) = result.cells[0].errors
    assert (error.task, error.error) == ("task1", "timeout")
    assert error.reason == "no end after 900 s (run.episode_timeout)"
    assert len(result.cells[0].rows) == 3


def test_errors_run_again_with_the_same_command(tmp_path: Path, make_cell: MakeCell) -> None:
    once = {"fault": "raise", "fault_once": str(tmp_path / "raised")}
    first = run_cells([make_cell(method=once)], tmp_path / "out")
    assert [row.error for row in first.cells[0].errors] == ["bug"]
    second = run_cells([make_cell(method=once)], tmp_path / "out")
    assert (second.played, second.complete) == (1, True)
    assert len(store.load(tmp_path / "out")) == 15


def test_a_cell_that_always_errs_is_given_up_and_others_finish(tmp_path: Path, make_cell: MakeCell) -> None:
    broken = make_cell(env={"broken": "open"}, run=WORKERS)
    result = run_cells([broken, make_cell(run=WORKERS)], tmp_path)
    bad, good = result.cells
    assert good.complete
    assert "in a row" in bad.stopped
    assert bad.unplayed + len(bad.errors) == 15
    assert {row.error for row in bad.errors} == {"simulator"}


class InFlight(Sweep):
    """Two episodes are being played; they end in the errors given. `stop`: Ctrl-C came meanwhile."""

    ends: tuple[str, str] = ("quota", "simulator")
    stop = False

    def _play(self) -> None:
        jobs = [self._queue.take(""), self._queue.take("")]
        self._stop_requests = int(self.stop)
        for job, kind in zip(jobs, self.ends, strict=True):
            assert job is not None
            row = blank_row(job.cell, job.key, "do nothing", "code", job.attempt)
            self._handle(Finished(job, {**row, "error": kind, "reason": f"{kind} went wrong"}))


def test_a_sweep_that_has_stopped_plays_nothing_again_and_says_of_all_cells_why(
    tmp_path: Path, make_cell: MakeCell
) -> None:
    sweep = InFlight([make_cell(), make_cell(seed=1)], tmp_path)
    result = sweep.run()
    assert [row["error"] for row in store.load(tmp_path)] == ["quota", "simulator"]
    assert len(sweep._queue) == 0
    why = "the sweep stopped at error quota of noop noop seed 0 task0-s0-i0"
    assert [(cell.unplayed, cell.stopped) for cell in result.cells] == [(13, why), (15, why)]


def test_the_first_of_several_errors_that_stop_a_sweep_is_the_reason(
    tmp_path: Path, make_cell: MakeCell
) -> None:
    class Spent(InFlight):
        ends = ("price", "quota")

    result = Spent([make_cell()], tmp_path).run()
    assert result.cells[0].stopped == "the sweep stopped at error price of noop noop seed 0 task0-s0-i0"


def test_what_breaks_after_ctrl_c_has_its_row(tmp_path: Path, make_cell: MakeCell) -> None:
    class Stopped(InFlight):
        ends = ("crash", "timeout")
        stop = True

    assert Stopped([make_cell()], tmp_path).run().interrupted
    assert [row["error"] for row in store.load(tmp_path)] == ["crash", "timeout"]


def test_trials_from_different_states_are_an_error(tmp_path: Path, make_cell: MakeCell) -> None:
    cell = make_cell(env={"broken": "hash", "rate": 0.0, "scenes": 1, "size": 1}, method={"trials": 2})
    result = run_cells([cell], tmp_path)
    (error,) = result.cells[0].errors
    assert error.error == "simulator"
    assert "not repeatable" in error.reason


def test_a_missing_simulator_is_told_before_anything_runs(tmp_path: Path, make_cell: MakeCell) -> None:
    with pytest.raises(UsageError, match=r"simulator is missing. Install it"):
        run_cells([make_cell(env={"broken": "problem"})], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_torn_row_is_played_again(tmp_path: Path, make_cell: MakeCell) -> None:
    first = run_cells([make_cell()], tmp_path)
    whole = rows_of(tmp_path)
    path = first.cells[0].folder / store.ROWS
    path.write_bytes(path.read_bytes()[:-20])
    second = run_cells([make_cell()], tmp_path)
    assert second.played == 1
    assert any("torn" in note for note in second.notes)
    assert rows_of(tmp_path) == whole


def test_a_full_disk_ends_the_sweep_and_keeps_what_was_written(
    tmp_path: Path, make_cell: MakeCell, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, room = os.write, [5]

    def write(descriptor: int, data: bytes) -> int:
        room[0] -= 1
        return real(descriptor, data if room[0] >= 0 else data[:10])

    monkeypatch.setattr(os, "write", write)
    with pytest.raises(StorageError, match="run the same command again"):
        run_cells([make_cell()], tmp_path)
    monkeypatch.undo()
    assert len(store.load(tmp_path)) == 5
    assert run_cells([make_cell()], tmp_path).played == 10


def test_a_failing_tracker_costs_a_warning(
    tmp_path: Path, make_cell: MakeCell, capsys: pytest.CaptureFixture[str]
) -> None:
    tracker = {"_target_": "harness.testing.noop.BrokenTracker"}
    assert run_cells([make_cell(tracker=tracker)], tmp_path).complete
    assert capsys.readouterr().err.count("tracker failed") == 1


SCRIPT = """
import json, sys
from pathlib import Path
from harness.cells import Cell
from harness.sweep import run_cells
config, choices, root = json.loads(sys.argv[1])
cells = [Cell({**config, "seed": seed}, choices) for seed in (0, 1)]
result = run_cells(cells, Path(root))
sys.exit(0 if result.complete else 1)
"""


PATIENCE = 300.0
"""Seconds within which a process does what is waited for, on any machine."""


def start(cell: Cell, root: Path) -> subprocess.Popen[str]:
    argument = json.dumps([dict(cell.config), dict(cell.choices), str(root)])
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, argument], cwd=PROJECT, stderr=subprocess.PIPE, text=True
    )


def waiting(make_cell: MakeCell, gate: Path) -> Cell:
    """Two of its cells, as `start` plays them, have the five episodes of task0 done and two workers waiting."""
    return make_cell(method={"_target_": "tests.harness.waiting.Waiting", "gate": str(gate)}, run=WORKERS)


def count_rows(root: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in root.glob("*/episodes.jsonl"))


def wait_until(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def wait_for_line(process: subprocess.Popen[str], start: str) -> None:
    assert process.stderr is not None
    assert any(line.startswith(start) for line in process.stderr), f"it did not say: {start}"


def end_of(process: subprocess.Popen[str]) -> int:
    """Its exit status."""
    process.communicate(timeout=PATIENCE)
    return process.returncode


def descendants(root: Path) -> list[str]:
    """Worker processes of a sweep that are still there."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if "harness.worker" in line and str(root) in line:
            found.append(line)
    return found


STOPPING = "Stopping once the episodes in flight are done"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_sweep_that_is_ended_in_the_middle_continues_to_the_same_rows(
    tmp_path: Path, make_cell: MakeCell, number: signal.Signals
) -> None:
    gate, root, undisturbed = tmp_path / "gate", tmp_path / "killed", tmp_path / "undisturbed"
    cell = waiting(make_cell, gate)
    process = start(cell, root)
    wait_until(lambda: count_rows(root) == 5, "the sweep wrote no rows")
    process.send_signal(number)
    if number == signal.SIGINT:
        wait_for_line(process, STOPPING)
        gate.touch()
    assert end_of(process) != 0
    wait_until(lambda: descendants(root) == [], "its workers outlived it")
    in_flight = (6, 7) if number == signal.SIGINT else (5,)
    assert len(store.load(root)) in in_flight
    gate.touch()
    assert end_of(start(cell, root)) == 0
    calm = make_cell(method=dict(cell.config["method"]))
    assert run_cells(
        [Cell({**calm.config, "seed": seed}, calm.choices) for seed in (0, 1)], undisturbed
    ).complete
    assert rows_of(root) == rows_of(undisturbed)
    assert len(rows_of(root)) == 30


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_once_ends_what_is_being_played_and_twice_stops_now(
    tmp_path: Path, make_cell: MakeCell, times: int
) -> None:
    gate, root = tmp_path / "gate", tmp_path / "out"
    process = start(waiting(make_cell, gate), root)
    wait_for_line(process, "2 cells, 30 episodes")
    wait_until(lambda: count_rows(root) == 5, "the sweep wrote no rows")
    process.send_signal(signal.SIGINT)
    wait_for_line(process, STOPPING)
    if times == 2:
        process.send_signal(signal.SIGINT)
    else:
        gate.touch()
    assert end_of(process) != 0
    rows = store.load(root)
    assert {row["status"] for row in rows} <= {"success", "failure"}
    assert len(rows) in ((6, 7) if times == 1 else (5,))
    wait_until(lambda: descendants(root) == [], "its workers outlived it")


def test_two_sweeps_on_one_folder(tmp_path: Path, make_cell: MakeCell) -> None:
    root = tmp_path / "out"
    process = start(waiting(make_cell, tmp_path / "gate"), root)
    wait_until(lambda: count_rows(root) == 5, "the sweep wrote no rows")
    with pytest.raises(UsageError, match="in use by process"):
        run_cells([make_cell()], root)
    process.kill()
    process.communicate()


def test_the_queue_keeps_a_worker_on_its_simulator(make_cell: MakeCell) -> None:
    cells = [make_cell(env={"rate": rate}) for rate in (0.1, 0.2)]
    jobs = [Job(cell, EpisodeKey("task0", 0, scene)) for cell in cells for scene in range(3)]
    queue = Queue(jobs)
    first = queue.take("")
    assert first is not None
    taken = [queue.take(first.cell.env_identity) for _ in range(2)]
    assert [job and job.cell.identity for job in taken] == [first.cell.identity] * 2
    assert queue.drop(lambda job: job.cell is not first.cell) == 3
    assert queue.take("") is None
    assert len(queue) == 0


def test_a_cell_that_learns_is_played_one_after_the_other_beside_others(
    tmp_path: Path, make_cell: MakeCell
) -> None:
    """In its own order, with every row before in its history, whatever the number of workers."""

    def cells(**changes: Any) -> list[Cell]:
        learning = make_cell(method={"one_by_one": True}, env={"scenes": 2}, **changes)
        return [learning, make_cell(env={"scenes": 2}, **changes)]

    assert run_cells(cells(), tmp_path / "serial").complete
    assert run_cells(cells(run=WORKERS), tmp_path / "parallel").complete
    assert rows_of(tmp_path / "serial") == rows_of(tmp_path / "parallel")
    (learned,) = [
        path for path in (tmp_path / "parallel").glob("*/episodes.jsonl") if "after" in path.read_text()
    ]
    rows = [json.loads(line) for line in learned.read_text().splitlines()]
    order = [f"task{task}-s{scene}-i0" for task in (2, 1, 0) for scene in (1, 0)]
    assert [row["episode"] for row in rows] == order
    assert [row["trials"][0]["facts"]["after"] for row in rows] == [order[:i] for i in range(6)]


def test_a_cell_that_learns_goes_on_where_it_was_stopped(tmp_path: Path, make_cell: MakeCell) -> None:
    method = {"one_by_one": True, "fault": "raise"}
    broken = make_cell(method=method, run={"max_errors": 1})
    first = run_cells([broken], tmp_path)
    assert not first.complete
    assert [result.unplayed for result in first.cells] == [9]
    whole = run_cells([make_cell(method={"one_by_one": True})], tmp_path / "whole")
    assert whole.complete
    folder = next((tmp_path / "whole").glob("*/episodes.jsonl"))
    lines = folder.read_text().splitlines(keepends=True)
    folder.write_text("".join(lines[:5]))
    assert run_cells([make_cell(method={"one_by_one": True})], tmp_path / "whole").played == len(lines) - 5
    again = [json.loads(line)["trials"][0]["facts"]["after"] for line in folder.read_text().splitlines()]
    assert again == [json.loads(line)["trials"][0]["facts"]["after"] for line in lines]


def test_an_error_ends_a_cell_that_learns_so_that_its_order_is_kept(
    tmp_path: Path, make_cell: MakeCell, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each episode hangs on those before: none is played over a gap, and on resume the gap comes first."""
    method = {"one_by_one": True, "fault": "raise", "fault_once": str(tmp_path / "raised")}
    cells = [
        make_cell(method=method, env={"scenes": 2}, run=WORKERS),
        make_cell(env={"scenes": 2}, run=WORKERS),
    ]
    first = run_cells(cells, tmp_path / "out")
    learning, other = first.cells
    assert other.complete
    assert (len(learning.rows), len(learning.errors), learning.unplayed) == (3, 1, 3)
    assert learning.stopped == "an error, on which the next would hang; 3 episodes were not played"
    assert run_cells(cells, tmp_path / "out").complete
    rows = [json.loads(line) for line in (learning.folder / store.ROWS).read_text().splitlines()]
    order = [f"task{task}-s{scene}-i0" for task in (2, 1, 0) for scene in (1, 0)]
    verdicts = [row for row in rows if row["status"] != "error"]
    assert [row["episode"] for row in verdicts] == order
    assert [row["trials"][0]["facts"]["after"] for row in verdicts] == [order[:i] for i in range(6)]
