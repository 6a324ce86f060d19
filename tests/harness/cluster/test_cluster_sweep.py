"""Sweeps through a scheduler, with one that plays in this process when it is asked for what is left."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from harness import store
from harness.cells import Cell
from harness.cluster import record, sweep
from harness.cluster.shards import Shard, split
from harness.cluster.sweep import Plan, run_on_cluster
from harness.failures import UsageError
from harness.play import comparable
from harness.pool import Job
from harness.records import EpisodeKey
from harness.status import Status
from harness.sweep import run_cells

MakeCell = Callable[..., Cell]
PLAN = Plan(shard=2, workers=1)


@dataclass
class InProcess:
    """Jobs wait until `alive` is asked, which plays the next; `lost` ones end without having played, `silent` is a
    scheduler that does not answer."""

    lost: int = 0
    silent: bool = False
    waiting: dict[str, Shard] = field(default_factory=dict)
    submitted: list[Shard] = field(default_factory=list)
    cancelled: set[str] = field(default_factory=set)

    name = "slurm"
    lasting = True
    patience = 0.0

    def submit(self, shards: Sequence[Shard], folder: Path) -> list[str]:
        first = len(self.submitted)
        self.submitted += shards
        ids = [f"7_{first + number}" for number in range(len(shards))]
        self.waiting |= dict(zip(ids, shards, strict=True))
        return ids

    def alive(self) -> frozenset[str] | None:
        if self.silent:
            return None
        if self.waiting:
            shard = self.waiting.pop(next(iter(self.waiting)))
            if self.lost > 0:
                self.lost -= 1
            else:
                shard()
        return frozenset(self.waiting)

    def cancel(self, jobs: Collection[str]) -> None:
        self.cancelled |= set(jobs)
        self.waiting.clear()

    def close(self) -> None:
        """Nothing to close."""


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sweep, "LOOK", 0.0)
    monkeypatch.chdir(tmp_path)


def rows_of(root: Path) -> dict[tuple[str, str], dict[str, Any]]:
    rows = store.load(root)
    keyed = {(row["cell"], row["episode"]): comparable(row) for row in rows}
    assert len(keyed) == len(rows)
    return keyed


def files(root: Path) -> set[str]:
    return {path.name for path in root.glob("*/episodes*")}


def test_jobs_give_the_rows_of_the_local_pool(tmp_path: Path, make_cell: MakeCell) -> None:
    cells = [make_cell(seed=seed, method={"trials": 2}) for seed in (0, 1)]
    cells.append(make_cell(method={"one_by_one": True}))
    scheduler = InProcess()
    result = run_on_cluster(cells, tmp_path / "jobs", scheduler, PLAN)
    run_cells(cells, tmp_path / "here")
    assert (result.complete, result.played, len(scheduler.submitted)) == (True, 45, 8 + 8 + 1)
    assert rows_of(tmp_path / "jobs") == rows_of(tmp_path / "here")
    assert files(tmp_path / "jobs") == {store.ROWS}
    assert not (tmp_path / "jobs" / record.FOLDER).exists()
    assert run_on_cluster(cells, tmp_path / "jobs", scheduler, PLAN).played == 0
    assert len(scheduler.submitted) == 17


def test_only_what_is_missing_is_submitted(tmp_path: Path, make_cell: MakeCell) -> None:
    run_cells([make_cell(env={"scenes": 2})], tmp_path / "out")
    scheduler = InProcess()
    cells = [make_cell(env={"scenes": 4}), make_cell(env={"scenes": 2})]
    assert run_on_cluster(cells, tmp_path / "out", scheduler, Plan(None, 1)).complete
    (shard,) = scheduler.submitted
    assert {key.split("-")[1] for key in shard.episodes} == {"s2", "s3"}


def test_a_job_that_is_lost_is_told_of_and_the_same_command_mends_it(
    tmp_path: Path, make_cell: MakeCell
) -> None:
    scheduler = InProcess(lost=1)
    result = run_on_cluster([make_cell(env={"scenes": 2})], tmp_path / "out", scheduler, PLAN)
    assert (result.complete, result.played, result.cells[0].unplayed) == (False, 4, 2)
    assert result.cells[0].stopped.startswith("job 7_0 ended, 2 of its episodes not played: without a word")
    again = run_on_cluster([make_cell(env={"scenes": 2})], tmp_path / "out", scheduler, PLAN)
    assert (again.complete, again.played, len(scheduler.submitted)) == (True, 2, 4)


class WithOrphan(InProcess):
    """A job of a sweep that was killed still writes: it plays an episode after the new jobs were submitted."""

    def submit(self, shards: Sequence[Shard], folder: Path) -> list[str]:
        ids = super().submit(shards, folder)
        first = shards[0]
        replace(first, part="episodes-19990101T000000-00000.jsonl", episodes=first.episodes[:1])()
        return ids


def test_what_a_job_of_a_killed_sweep_still_writes_counts(tmp_path: Path, make_cell: MakeCell) -> None:
    cell = make_cell(env={"scenes": 2})
    result = run_on_cluster([cell], tmp_path / "out", WithOrphan(), PLAN)
    assert (result.complete, result.played, result.cells[0].stopped) == (True, 5, "")
    assert len(result.cells[0].rows) == 6
    run_cells([cell], tmp_path / "here")
    assert rows_of(tmp_path / "out") == rows_of(tmp_path / "here")
    assert files(tmp_path / "out") == {store.ROWS}


def test_rows_of_jobs_reach_the_tracker_once(
    tmp_path: Path, make_cell: MakeCell, capsys: pytest.CaptureFixture[str]
) -> None:
    tracker = {"_target_": "harness.testing.noop.BrokenTracker", "fault": "none"}
    cell = make_cell(env={"scenes": 2}, tracker=tracker)
    assert run_on_cluster([cell], tmp_path / "out", InProcess(), PLAN).complete
    assert capsys.readouterr().err.count("Tracked: 6 rows to a server that is down") == 1


def test_what_a_job_says_reaches_the_table(tmp_path: Path, make_cell: MakeCell) -> None:
    broken = make_cell(env={"broken": "open"}, run={"max_errors": 2, "retries": 0})
    result = run_on_cluster([broken], tmp_path / "out", InProcess(), Plan(5, 1))
    assert [row.error for row in result.cells[0].errors] == ["simulator"] * 6
    assert "2 errors in a row; 3 episodes were not played" in result.cells[0].stopped


def test_jobs_of_an_earlier_start_are_waited_for_and_a_longer_grid_adds_to_them(
    tmp_path: Path, make_cell: MakeCell
) -> None:
    scheduler, root = InProcess(), tmp_path / "out"
    left = run_on_cluster([make_cell(env={"scenes": 2})], root, scheduler, replace(PLAN, wait=False))
    assert (left.complete, left.played) == (False, 0)
    assert "slurm job 7 will play it" in left.notes[0]
    assert record.read(root).named == "slurm job 7"
    status = Status(root)
    status.look()
    assert (status.running, status.total) == ("slurm job 7, unless it has ended", 6)
    with pytest.raises(UsageError, match=r"was given to slurm job 7.*harness cancel"):
        run_cells([make_cell()], root)
    scheduler.alive()  # plays one
    status.look()
    assert status.done == 2
    result = run_on_cluster([make_cell(env={"scenes": 3})], root, scheduler, PLAN)
    assert result.complete
    assert sorted(sum((shard.episodes for shard in scheduler.submitted), ())) == sorted(result.cells[0].rows)
    assert files(root) == {store.ROWS}
    assert record.read(root).jobs == ()


def test_a_scheduler_that_does_not_answer_is_not_taken_for_one_without_jobs(
    tmp_path: Path, make_cell: MakeCell
) -> None:
    root = tmp_path / "out"
    scheduler = InProcess()
    run_on_cluster([make_cell()], root, scheduler, replace(PLAN, wait=False))
    with pytest.raises(UsageError, match="does not answer"):
        run_on_cluster([make_cell()], root, replace(scheduler, silent=True), PLAN)
    assert len(record.read(root).jobs) == 8


def test_the_first_error_cancels_the_jobs_when_asked_to(tmp_path: Path, make_cell: MakeCell) -> None:
    cell = make_cell(method={"fault": "raise", "fault_task": "task0"}, run={"fail_fast": True})
    scheduler = InProcess()
    result = run_on_cluster([cell], tmp_path / "out", scheduler, PLAN)
    assert scheduler.cancelled
    assert (len(result.cells[0].errors), result.complete) == (1, False)
    assert result.cells[0].stopped == "the sweep stopped at error bug of noop noop seed 0 task0-s0-i0"


def test_a_budget_is_kept_over_all_jobs(tmp_path: Path, make_cell: MakeCell) -> None:
    limits = {"usd": None, "tokens": None, "calls": 5, "episode": dict.fromkeys(("usd", "tokens", "calls"))}
    cell = make_cell(budget=limits)

    class Spending(InProcess):
        def alive(self) -> frozenset[str] | None:
            parts = {shard.part for shard in self.waiting.values()}
            left = super().alive()
            for path in (tmp_path / "out").glob("*/episodes-*.jsonl"):
                if path.name in parts and path.stat().st_size:
                    rows = [json.loads(line) for line in path.read_text().splitlines()]
                    spent = {"calls": 1, "cached_calls": 0, "tokens": 9, "cost_usd": 0.0}
                    path.write_text("".join(json.dumps({**row, "spent": spent}) + "\n" for row in rows))
            return left

    scheduler = Spending()
    result = run_on_cluster([cell], tmp_path / "out", scheduler, PLAN)
    assert result.cells[0].stopped.startswith("budget.calls=5 is reached (6 used)")
    assert (result.played, len(scheduler.waiting)) == (6, 0)
    assert {"7_3", "7_7"} <= scheduler.cancelled
    with pytest.raises(UsageError, match="wait=false"):
        run_on_cluster([cell], tmp_path / "other", scheduler, replace(PLAN, wait=False))


def test_a_job_called_again_goes_on_from_its_rows(tmp_path: Path, make_cell: MakeCell) -> None:
    """As one that was put back into the queue: an error is played again, a torn row too, a verdict is kept."""
    once = {"fault": "raise", "fault_once": str(tmp_path / "raised")}
    cell = make_cell(method=once)

    class Requeuing(InProcess):
        def alive(self) -> frozenset[str] | None:
            (shard,) = self.waiting.values()
            shard()
            path = tmp_path / "out" / shard.cell_folder / shard.part
            before = path.read_bytes().splitlines(keepends=True)
            path.write_bytes(path.read_bytes()[:-5])
            shard()
            after = path.read_bytes().splitlines(keepends=True)
            assert (len(before), len(after)) == (
                15,
                16,
            )  # the error is replaced when the file is opened again
            assert before[:14] == after[:14]
            self.waiting.clear()
            return frozenset()

    result = run_on_cluster([cell], tmp_path / "out", Requeuing(), Plan(None, 1))
    assert (result.complete, result.played) == (True, 15)
    assert len(store.load(tmp_path / "out")) == 15


def test_shards_are_of_a_size_and_deal_tasks_out(tmp_path: Path, make_cell: MakeCell) -> None:
    cell, learning = make_cell(), make_cell(method={"one_by_one": True})
    keys = [EpisodeKey(f"task{task}", 0, scene) for task in range(2) for scene in range(5)]
    jobs = [Job(of, key) for of in (cell, learning) for key in keys]
    shards = split(jobs, frozenset([learning.identity]), 4, 3, tmp_path, tmp_path)
    assert [len(shard.episodes) for shard in shards] == [4, 3, 3, 10]
    assert shards[1].episodes == ("task0-s1-i0", "task0-s4-i0", "task1-s2-i0")
    assert shards[3].episodes == tuple(map(str, keys))
    assert {shard.cell.config["run"]["workers"] for shard in shards} == {0}  # as it is given
    assert len({shard.part for shard in shards}) == 4
    assert {shard.cell.identity for shard in shards} == {cell.identity, learning.identity}
    with pytest.raises(UsageError, match="at least 1"):
        Plan(shard=0, workers=1)


def test_a_job_whose_files_changed_says_so(tmp_path: Path, make_cell: MakeCell) -> None:
    (shard,) = split(
        [Job(make_cell(), EpisodeKey("task0", 0, 0))], frozenset(), None, 1, tmp_path, tmp_path / "logs"
    )
    with pytest.raises(UsageError, match="not on the node"):
        replace(shard, cell_folder="another")()
    assert "not on the node" in shard.log.read_text()
