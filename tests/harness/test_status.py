from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import commands
from harness.cells import Cell
from harness.cluster import record
from harness.commandline import main
from harness.commands.status import state
from harness.failures import UsageError
from harness.status import Status
from harness.store import LOCK
from harness.sweep import run_cells

MakeCell = Callable[..., Cell]
NOW = 1_800_000_000.0


class Folder:
    """An experiment's folder, written by hand: what it holds is known to the row."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def cell(
        self, name: str, plan: list[str], started: float = NOW, method: str = "mtp", seed: int = 0
    ) -> Path:
        folder = self.root / name
        folder.mkdir(parents=True)
        config = {"run": {"episode_timeout": 1200.0}}
        description = {"format": 1, "cell": name, "method": method, "env": "playtable", "seed": seed}
        description |= {"choices": {}, "config": config}
        (folder / "cell.json").write_text(json.dumps(description))
        (folder / "plan.json").write_text(json.dumps({"started": started, "episodes": plan}))
        return folder

    def held(self, process: int, host: str) -> None:
        (self.root / LOCK).write_text(f"process {process} on {host}\n")


@pytest.fixture
def experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    monkeypatch.setattr(time, "time", lambda: NOW + 60)
    return Folder(tmp_path / "mine")


def append(folder: Path, episode: str, status: str, ended: float, seconds: float = 2.0) -> None:
    row = {"episode": episode, "status": status, "started": ended - seconds, "timings": {"seconds": seconds}}
    with open(folder / "episodes.jsonl", "a") as file:
        file.write(json.dumps(row) + "\n")


def look(experiment: Folder) -> Status:
    status = Status(experiment.root)
    status.look()
    return status


def ended_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_counts_rate_and_remaining_time_of_a_running_sweep(experiment: Folder) -> None:
    folder = experiment.cell("a", [f"t-s{i}-i0" for i in range(20)])
    append(folder, "t-s0-i0", "success", NOW - 500)  # of a command before
    append(folder, "t-s1-i0", "error", NOW - 400)  # plays again now
    for i, result in enumerate(["success", "failure", "failure", "failure", "success", "error"], start=2):
        append(folder, f"t-s{i}-i0", result, NOW + 6 * i)
    experiment.held(os.getpid(), socket.gethostname())
    status = look(experiment)
    cell = status.cells[0]
    assert (cell.total, cell.done, cell.successes, cell.errors) == (20, 6, 3, 2)
    assert status.rate() == 6 / 60
    assert cell.to_play == 13
    assert status.seconds_left() == pytest.approx(130)
    assert status.running == f"process {os.getpid()}"


def test_a_replayed_error_is_none_any_more(experiment: Folder) -> None:
    folder = experiment.cell("a", ["t-s0-i0", "t-s1-i0"])
    append(folder, "t-s0-i0", "error", NOW + 1)
    status = look(experiment)
    assert (status.done, status.errors) == (0, 1)
    append(folder, "t-s0-i0", "failure", NOW + 2)
    status.look()
    assert (status.done, status.errors, status.total) == (1, 0, 2)


def test_a_shorter_command_does_not_hide_what_was_played(experiment: Folder) -> None:
    folder = experiment.cell("a", ["t-s9-i0"])
    append(folder, "t-s0-i0", "success", NOW)
    assert (look(experiment).done, look(experiment).total) == (1, 2)


def test_cells_of_an_older_command_are_not_waited_for(experiment: Folder) -> None:
    experiment.cell("old", ["t-s0-i0", "t-s1-i0", "t-s2-i0"], started=NOW - 9000)
    folder = experiment.cell("new", ["t-s0-i0", "t-s1-i0"])
    append(folder, "t-s0-i0", "success", NOW + 30)
    experiment.held(os.getpid(), socket.gethostname())
    assert look(experiment).seconds_left() == pytest.approx(60)


def test_slow_episodes_have_a_rate_from_all_of_their_command(
    experiment: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = experiment.cell("a", ["t-s0-i0", "t-s1-i0"])
    append(folder, "t-s0-i0", "success", NOW + 900, seconds=900)
    experiment.held(os.getpid(), socket.gethostname())
    monkeypatch.setattr(time, "time", lambda: NOW + 1800)
    assert look(experiment).rate() == 1 / 1800


def test_who_runs_it(experiment: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = experiment.cell("a", ["t-s0-i0", "t-s1-i0"])
    append(folder, "t-s0-i0", "success", NOW + 30)
    assert look(experiment).running == ""
    experiment.held(ended_process(), socket.gethostname())
    assert (look(experiment).running, look(experiment).rate()) == ("", None)
    experiment.held(7, "node-17.cluster")
    assert look(experiment).running == "process 7 on node-17.cluster"
    monkeypatch.setattr(time, "time", lambda: NOW + 2000)  # no episode takes that long
    assert look(experiment).running == ""


def test_a_torn_last_row_and_a_damaged_one(experiment: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    folder = experiment.cell("a", ["t-s0-i0", "t-s1-i0"])
    append(folder, "t-s0-i0", "success", NOW)
    with open(folder / "episodes.jsonl", "a") as file:
        file.write('{"nonsense": 1}\n{"episode": "t-s1')
    assert main(commands, "", ["status", str(experiment.root)]) == 0
    printed = capsys.readouterr().out
    assert "1/2" in printed
    assert "1 line of episodes.jsonl cannot be read" in printed


def test_a_folder_that_is_no_experiment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        assert main(commands, "", ["status", str(folder)]) == 2
        assert "holds no cell" in capsys.readouterr().err
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "cell.json").write_text('{"format": 99}')
    with pytest.raises(UsageError, match="format 99"):
        Status(tmp_path).look()


def table(printed: str) -> list[list[str]]:
    return [line.split() for line in printed.splitlines()[4:]]


def test_what_is_printed(
    experiment: Folder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = experiment.cell("mtp-playtable-s2-aaaa", ["t-s0-i0", "t-s1-i0"], seed=2)
    experiment.cell("mtp-playtable-s10-bbbb", ["t-s0-i0"], seed=10)
    experiment.cell("mtp-playtable-s10-cccc", ["t-s0-i0"], seed=10)
    append(first, "t-s0-i0", "success", NOW + 30)
    append(first, "t-s1-i0", "error", NOW + 50)
    experiment.held(os.getpid(), socket.gethostname())
    assert main(commands, "", ["status", str(experiment.root)]) == 0
    printed = capsys.readouterr().out
    assert printed.splitlines()[0] == f"{experiment.root}: running (process {os.getpid()})"
    assert printed.splitlines()[1] == (
        "3 cells, 1 of 4 episodes (25 %), 1 error, 2 a minute, about 60 s left"
    )
    assert table(printed) == [
        ["mtp", "playtable", "s2", "1/2", "100", "%", "1", "2", "10", "s", "ago"],
        ["mtp", "playtable", "s10", "bbbb", "0/1", "-", "0", "-", "-"],
        ["mtp", "playtable", "s10", "cccc", "0/1", "-", "0", "-", "-"],
    ]
    (experiment.root / LOCK).unlink()
    main(commands, "", ["status", str(experiment.root)])
    assert "not running; its command, run again, plays what is missing" in capsys.readouterr().out


def test_watching_without_a_terminal_prints_a_line_for_what_is_new_and_ends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the first two looks there is nothing new, at the third the last row."""
    experiment, waited = Folder(tmp_path / "mine"), []
    folder = experiment.cell("a", ["t-s0-i0", "t-s1-i0"])
    append(folder, "t-s0-i0", "success", NOW)

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 2:
            append(folder, "t-s1-i0", "failure", NOW)

    monkeypatch.setattr(time, "sleep", sleep)
    assert main(commands, "", ["status", str(experiment.root), "--watch", "0.02"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "1 cell, 1 of 2 episodes (50 %)",
        "1 cell, 2 of 2 episodes (100 %)",
    ]
    assert waited == [0.02, 0.02]
    assert main(commands, "", ["status", str(experiment.root), "--watch", "0"]) == 2


def test_of_a_real_sweep(tmp_path: Path, make_cell: MakeCell) -> None:
    changes: dict[str, Any] = {"fault": "provider", "fault_task": "task1"}
    run_cells([make_cell(method=changes, seed=seed) for seed in (0, 1)], tmp_path)
    status = Status(tmp_path)
    status.look()
    assert [(cell.seed, cell.total, cell.done, cell.errors) for cell in status.cells] == [
        (0, 15, 5, 5),  # five errors in a row stop a cell
        (1, 15, 5, 5),
    ]
    assert len({cell.started for cell in status.cells}) == 1
    assert not status.complete
    assert status.running == "", "this process is no sweep any more"
    run_cells(
        [make_cell(seed=0, env={"scenes": 6})], tmp_path
    )  # the same environment, more scenes: another cell
    status.look()
    assert [cell.total for cell in status.cells] == [15, 18, 15]


def test_jobs_that_nobody_waits_for_play_it_as_long_as_there_is_something_to_play(experiment: Folder) -> None:
    """Else `harness track`, which follows whoever plays, would wait for a job that ended long ago."""
    cell = experiment.cell("a", ["t-s0-i0", "t-s1-i0"], started=NOW)
    given = record.Given("7_0", "a", "episodes-x-00000.jsonl", ("t-s0-i0", "t-s1-i0"))
    record.write(experiment.root, "slurm", [given])
    append(cell, "t-s0-i0", "success", NOW + 10)
    assert look(experiment).running == "slurm job 7, unless it has ended"
    append(cell, "t-s1-i0", "error", NOW + 20)
    status = look(experiment)
    assert (status.running, status.complete) == ("", False)


def test_an_error_of_one_job_takes_no_verdict_of_another_away(experiment: Folder) -> None:
    cell = experiment.cell("a", ["t-s0-i0", "t-s1-i0"])
    append(cell, "t-s0-i0", "success", NOW + 10)
    append(cell, "t-s1-i0", "error", NOW + 10)
    (cell / "episodes.jsonl").rename(cell / "episodes-x-00000.jsonl")
    append(cell, "t-s0-i0", "error", NOW + 20)
    append(cell, "t-s1-i0", "failure", NOW + 20)
    (cell / "episodes.jsonl").rename(cell / "episodes-x-00001.jsonl")
    status = look(experiment)
    assert (status.done, status.errors, status.cells[0].successes, status.complete) == (2, 0, 1, True)


@pytest.mark.parametrize("text", ['{"format": 1, "ce', '{"format": 1}'])
def test_a_damaged_cell_is_named_and_the_others_are_counted(
    experiment: Folder, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    broken, whole = experiment.cell("a", ["t-s0-i0"]), experiment.cell("b", ["t-s0-i0", "t-s1-i0"])
    (broken / "cell.json").write_text(text)
    for episode in ("t-s0-i0", "t-s1-i0"):
        append(whole, episode, "success", NOW + 10)
    for watch in ([], ["--watch", "0.02"]):
        assert main(commands, "", ["status", str(experiment.root), *watch]) == 0
        told = capsys.readouterr()
        assert f"{broken}/cell.json is damaged (" in told.out + told.err
        assert "1 cell, 2 of 2 episodes (100 %)" in told.out
    status = look(experiment)
    assert [cell.folder for cell in status.cells] == [whole]
    assert state(status) == "complete, but for cells that cannot be read"
    (whole / "cell.json").write_text(text)
    with pytest.raises(UsageError) as told_of_all:
        look(experiment)
    assert [line.partition(" is damaged")[0] for line in str(told_of_all.value).splitlines()] == [
        f"{broken}/cell.json",
        f"{whole}/cell.json",
    ]


def test_a_cell_that_was_mended_is_read_at_the_next_look(experiment: Folder) -> None:
    experiment.cell("b", ["t-s0-i0"])
    description = experiment.cell("a", ["t-s0-i0"]) / "cell.json"
    text = description.read_text()
    description.write_text("")
    status = look(experiment)
    assert (len(status.cells), len(status.unreadable)) == (1, 1)
    description.write_text(text)
    status.look()
    assert (len(status.cells), status.unreadable) == (2, [])


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"episodes": 3, "started": 0}'])
def test_a_plan_that_a_crash_of_the_machine_left_empty_is_none(experiment: Folder, text: str) -> None:
    cell = experiment.cell("a", ["t-s0-i0", "t-s1-i0"])
    append(cell, "t-s0-i0", "success", NOW + 10)
    (cell / "plan.json").write_text(text)
    status = look(experiment)
    assert (status.done, status.total) == (1, 1)
