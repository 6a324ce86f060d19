"""A sweep that has a scheduler's jobs play, and follows their files. It plays nothing and writes no row."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import preflight
from harness.cells import Cell, unique
from harness.chat.budget import EpisodeGuard, Purse
from harness.cluster import record
from harness.cluster.record import Given
from harness.cluster.scheduler import Scheduler
from harness.cluster.shards import split
from harness.failures import UsageError
from harness.pool import Job
from harness.records import VERDICTS
from harness.stopping import plan as stopping
from harness.store import Digest, Row, claimed
from harness.sweep import STOPPING_ERRORS, Sweep, SweepResult
from harness.tail import Tail

LOOK = 1.0
"""Seconds between two looks at the jobs' files, or more where looking takes long."""
SHARE_OF_LOOKING = 0.05


@dataclass(frozen=True)
class Plan:
    """How cells become jobs."""

    shard: int | None
    """Episodes that a job plays at most; None: a cell is a job."""
    workers: int
    """Worker processes of a job, where `run.workers` is not given."""
    wait: bool = True

    def __post_init__(self) -> None:
        if self.shard is not None and self.shard < 1:
            raise UsageError(f"hydra.launcher.shard is {self.shard}; it has to be at least 1, or null.")


def run_on_cluster(cells: Sequence[Cell], root: Path, scheduler: Scheduler, plan: Plan) -> SweepResult:
    """Give what is missing of `cells` to a scheduler and, if the plan says so, wait for it. Raises as
    `harness.sweep.run_cells` does."""
    cells = unique(cells)
    if not cells:
        raise UsageError("There is no cell to run.")
    preflight.check(cells)
    stopping.refuse(cells, scheduler.name)
    root = root.resolve()
    with claimed(root):
        record.refuse_others(root, scheduler.name)
        try:
            return ClusterSweep(cells, root, scheduler, plan).run()
        finally:
            scheduler.close()


class ClusterSweep(Sweep):
    """Jobs of an earlier start that still wait or run are waited for, and what they were given is not submitted
    again."""

    def __init__(self, cells: Sequence[Cell], root: Path, scheduler: Scheduler, plan: Plan) -> None:
        self._scheduler, self._plan = scheduler, plan
        self._given = _still_there(record.read(root).jobs, scheduler)
        super().__init__(cells, root, being_written=[given.part for given in self._given])
        budget = cells[0].config["budget"]
        self._limited = any(value is not None for key, value in budget.items() if key != "episode")
        if self._limited and not plan.wait:
            raise UsageError(
                "A budget is kept by the sweep that waits for its jobs; it cannot have wait=false."
            )
        self._sweep_limits = EpisodeGuard.of(budget).sweep
        self._costs = {
            (store.folder.name, digest.episode): digest.spent
            for store in self._stores.values()
            for digest in store.digests().values()
        }
        self._wanted: dict[tuple[str, str], Job] = {}
        """What is to be played, by the cell's folder and the episode."""
        self._arrived: set[tuple[str, str]] = set()
        self._seen: set[tuple[str, str, float]] = set()
        self._tails: dict[str, Tail] = {}
        self._ended: list[Given] = []

    def _probe(self) -> None:
        """Each job asks its chat models by itself, on its node."""

    def _play(self) -> None:
        jobs = self._queue.drain()
        self._wanted = {(job.cell.folder_name, str(job.key)): job for job in jobs}
        if self._given:
            self._note(f"Waiting for {self._named()} of an earlier start.")
        taken = {(given.cell, episode) for given in self._given for episode in given.episodes}
        self._submit([job for key, job in self._wanted.items() if key not in taken])
        if self._plan.wait:
            self._follow()
        else:
            self._result.notes.append(f"{self._named()} will play it. {self._how_to_go_on()}")

    def _submit(self, jobs: Sequence[Job]) -> None:
        if not jobs:
            return
        folder = self._root / record.FOLDER
        size, workers = self._plan.shard, self._plan.workers
        shards = split(jobs, frozenset(self._one_by_one), size, workers, self._root, folder / "logs")
        for (
            shard
        ) in shards:  # on a network's disk, a file that is there is seen to grow sooner than a new one
            (self._root / shard.cell_folder / shard.part).touch()
        ids = self._scheduler.submit(shards, folder)
        self._given += [
            Given(job, shard.cell_folder, shard.part, shard.episodes)
            for job, shard in zip(ids, shards, strict=True)
        ]
        self._write_record()
        self._note(f"{len(shards)} jobs for {len(jobs)} episodes: {self._named()}")

    def _follow(self) -> None:
        """Until every episode has its row or no job is left."""
        asked = time.monotonic()
        while self._given:
            began = time.monotonic()
            alive: Collection[str] | None = None
            if began - asked >= self._scheduler.patience:
                alive, asked = self._scheduler.alive(), began
            self._look()  # after the question: what an ended job wrote is there
            if alive is not None:
                self._ended += [given for given in self._given if given.job not in alive]
                self._given = [given for given in self._given if given.job in alive]
            if len(self._arrived) == len(self._wanted):
                self._ended += self._given  # they have nothing left to write
                self._given = []
            if self._stop_requests and self._scheduler.lasting:
                return
            self._progress.refresh()
            if self._given:
                took = time.monotonic() - began
                time.sleep(max(LOOK, took / SHARE_OF_LOOKING))

    def _look(self) -> None:
        """Read what the jobs wrote."""
        before = len(self._seen)
        for given in self._given:
            tail = self._tails.setdefault(given.part, Tail(self._root / given.cell / given.part))
            for row in tail.rows():
                self._take(given.cell, row)
        if len(self._seen) == before:
            return
        self._tracker.listen()
        if self._limited:
            self._purse = Purse(self._sweep_limits, self._costs.values())
            if (reached := self._purse.empty) and len(self._arrived) < len(self._wanted):
                self._cancel(f"{reached}; run the same command with a larger budget to go on")

    def _take(self, folder: str, row: Row) -> None:
        key = (folder, str(row["episode"]))
        if (*key, row["started"]) in self._seen or key not in self._wanted:
            return
        self._seen.add((*key, row["started"]))
        job = self._wanted[key]
        digest = Digest.of(row)
        result = self._by_identity[job.cell.identity]
        result.rows[digest.episode] = digest
        self._costs[key] = digest.spent
        self._asked |= row["usage"].get("roles", {}).keys()
        if key in self._arrived:  # an error that its job, put back into the queue, has played again
            return
        self._arrived.add(key)
        self._result.played += 1
        self._progress.row(row)
        if digest.status == "error":
            self._note(f"{self._title(job)}: error {digest.error}: {digest.reason.partition(chr(10))[0]}")
            if self._settings.fail_fast or digest.error in STOPPING_ERRORS:
                self._cancel(f"the sweep stopped at error {digest.error} of {self._title(job)}")

    def _cancel(self, why: str) -> None:
        if self._over:
            return
        self._over = why
        self._note(f"Cancelling the jobs: {why}.")
        self._scheduler.cancel([given.job for given in self._given])

    def _on_stop(self) -> None:
        if self._scheduler.lasting:
            self._note(f"{self._named()} will go on. {self._how_to_go_on()}")
        else:
            self._cancel("interrupted")
            self._note("What is being played ends first; Ctrl-C again stops now.")

    def _finish(self) -> None:
        for store in self._stores.values():
            store.open([given.part for given in self._given])
        self._take_what_others_wrote()
        missing = self._wanted.keys() - self._arrived
        for given in self._ended if not self._over else ():
            if left := sum((given.cell, episode) in missing for episode in given.episodes):
                self._explain(given, left)
        super()._finish()
        self._write_record()
        if not self._given and self._result.complete:
            record.tidy(self._root)

    def _take_what_others_wrote(self) -> None:
        """Jobs leave out what they find played. A job of a sweep that was killed may have played it: it writes on for a
        while, into a file that is not followed here."""
        for key in self._wanted.keys() - self._arrived:
            identity = self._wanted[key].cell.identity
            digest = self._stores[identity].digests().get(key[1])
            if digest is not None and digest.status in VERDICTS:
                self._by_identity[identity].rows[digest.episode] = digest
                self._arrived.add(key)

    def _explain(self, given: Given, left: int) -> None:
        """Say of the first job of a cell that left episodes unplayed why it did."""
        (result,) = (found for found in self._result.cells if found.folder.name == given.cell)
        if result.stopped:
            return
        log = self._root / record.FOLDER / "logs" / given.part.replace(".jsonl", ".txt")
        why = log.read_text(encoding="utf-8").strip() if log.exists() else "without a word"
        place = self._root / record.FOLDER
        result.stopped = (
            f"job {given.job} ended, {left} of its episodes not played: {why} (its output: {place})"
        )

    def _write_record(self) -> None:
        if self._scheduler.lasting:
            record.write(self._root, self._scheduler.name, self._given)

    def _named(self) -> str:
        return record.Record(self._scheduler.name, tuple(self._given)).named

    def _how_to_go_on(self) -> str:
        return (
            "The same command waits for it and shows the table; `python -m harness status "
            f"{self._root}` says how far it is, `python -m harness cancel {self._root}` stops it."
        )


def _still_there(jobs: Sequence[Given], scheduler: Scheduler) -> list[Given]:
    if not jobs:
        return []
    alive = scheduler.alive()
    if alive is None:
        raise UsageError(
            f"Jobs of an earlier start may still run, and {scheduler.name} does not answer. Try later."
        )
    return [given for given in jobs if given.job in alive]
