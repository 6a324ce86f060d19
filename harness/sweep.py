"""Plays a set of cells: which episodes are missing, who plays them, what becomes of errors. The one
writer of rows."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path
from types import FrameType

from harness import __version__, preflight
from harness.cells import Cell, unique
from harness.chat import roles
from harness.chat.budget import EpisodeGuard, Purse
from harness.children import PROJECT
from harness.cluster import record
from harness.failures import UsageError
from harness.play import blank_row
from harness.pool import Died, Finished, Job, Pool, Worker
from harness.progress import Progress
from harness.records import VERDICTS, Spent
from harness.schema import RunConfig
from harness.stopping import plan as stopping
from harness.stopping import record as standings
from harness.stopping.running import Stopping
from harness.store import CellStore, Digest, Row, claimed
from harness.trackers import GuardedTracker
from harness.worker import Player

RETRIED_ERRORS = ("simulator", "crash", "timeout")
"""Errors after which the same sweep plays the episode again, on a fresh simulator."""
RECORD_EVERY = 2.0
"""Seconds between two records of how undecided comparisons stand."""
STOPPING_ERRORS = ("quota", "price", "replay")
"""Errors that every other episode would meet as well: the sweep ends with the first."""


@dataclass
class CellResult:
    """What a command asked of a cell and what there is of it."""

    cell: Cell
    folder: Path
    wanted: list[str]
    rows: dict[str, Digest] = field(default_factory=dict)
    stopped: str = ""
    """Why the cell was given up, if it was."""

    @property
    def complete(self) -> bool:
        return all(key in self.rows and self.rows[key].status in VERDICTS for key in self.wanted)

    @property
    def errors(self) -> list[Digest]:
        return [row for row in self.rows.values() if row.status == "error"]

    @property
    def unplayed(self) -> int:
        return sum(key not in self.rows for key in self.wanted)


@dataclass
class SweepResult:
    root: Path
    cells: list[CellResult]
    notes: list[str] = field(default_factory=list)
    comparisons: list[standings.Standing] = field(default_factory=list)
    """Of a sequential sweep."""
    saved: int = 0
    """Episodes that no comparison needed any more and that were not played."""
    unneeded: int = 0
    """Those that were played: they are no part of `cells`."""
    played: int = 0
    interrupted: bool = False

    @property
    def complete(self) -> bool:
        return all(cell.complete for cell in self.cells)


def run_cells(cells: Sequence[Cell], root: Path) -> SweepResult:
    """Play what is missing of `cells` under `root` and return everything there is.

    Raises `UsageError` when something cannot be run or the folder is in use, `StorageError` when the disk
    refuses a row; rows written before stay.
    """
    cells = unique(cells)
    if not cells:
        raise UsageError("There is no cell to run.")
    preflight.check(cells)
    planned = stopping.comparisons(cells)
    with claimed(root):
        record.refuse_others(root)
        return Sweep(cells, root, comparisons=planned).run()


@dataclass(frozen=True)
class Share:
    """What one job of a cluster plays of a cell, and the name of the file of rows that it alone writes."""

    part: str
    episodes: frozenset[str]


def run_share(cell: Cell, root: Path, share: Share) -> SweepResult:
    """Play what is missing of a share of a cell, in a job of a sweep that holds the folder. Raises as `run_cells`."""
    preflight.check([cell])
    return Sweep([cell], root, share).run()


class Queue:
    """Jobs by environment config, so that a worker keeps its simulator while there is work for it. Of a cell whose
    episodes are played one after the other, a job is ready when the one before is done."""

    def __init__(self, jobs: Sequence[Job], one_by_one: Collection[str] = ()) -> None:
        """`one_by_one` are the identities of such cells."""
        self._jobs: dict[str, deque[Job]] = {}
        self._held: dict[str, deque[Job]] = {identity: deque() for identity in one_by_one}
        begun: set[str] = set()
        for job in jobs:
            if job.cell.identity in begun:
                self._held[job.cell.identity].append(job)
                continue
            if job.cell.identity in self._held:
                begun.add(job.cell.identity)
            self._jobs.setdefault(job.cell.env_identity, deque()).append(job)

    def __len__(self) -> int:
        """All jobs, ready or held."""
        return sum(map(len, self._jobs.values())) + sum(map(len, self._held.values()))

    @property
    def ready(self) -> bool:
        return any(self._jobs.values())

    def take(self, env_identity: str) -> Job | None:
        jobs = self._jobs.get(env_identity) or max(self._jobs.values(), key=len, default=None)
        return jobs.popleft() if jobs else None

    def put_first(self, job: Job) -> None:
        self._jobs.setdefault(job.cell.env_identity, deque()).appendleft(job)

    def done(self, job: Job) -> None:
        """A job has its row: the next of its cell is ready, if it was held."""
        held = self._held.get(job.cell.identity)
        if held:
            self.put_first(held.popleft())

    def drop(self, unwanted: Callable[[Job], bool]) -> int:
        """Take jobs out, ready or held; returns how many there were."""
        before = len(self)
        for queues in (self._jobs, self._held):
            for identity, jobs in queues.items():
                queues[identity] = deque(job for job in jobs if not unwanted(job))
        return before - len(self)

    def drain(self) -> list[Job]:
        """Take all out, each cell's in its order."""
        jobs = list(chain(*self._jobs.values(), *self._held.values()))
        self._jobs.clear()
        self._held.clear()
        return jobs


class Sweep:
    """`harness.cluster` has others play: it replaces `_probe`, `_play` and `_on_stop`."""

    def __init__(
        self,
        cells: Sequence[Cell],
        root: Path,
        share: Share | None = None,
        being_written: Collection[str] = (),
        comparisons: Sequence[stopping.Comparison] = (),
    ) -> None:
        """`being_written` are files of rows that jobs of an earlier start still write. Each of the `comparisons` stops
        its cells once it has decided."""
        folders = {cell.folder_name for cell in cells}
        if comparisons:
            standings.check(root, comparisons, folders)
            self._of_others = standings.of_others(root, folders)
        elif share is None:
            standings.release(root, folders)
        self._settings = RunConfig(**cells[0].config["run"])
        self._root, self._share, self._being_written = root, share, being_written
        self._code = code_version()
        self._started = time.time()
        self._stores = {cell.identity: CellStore(root, cell, share.part if share else "") for cell in cells}
        self._result = SweepResult(root, [])
        self._by_identity: dict[str, CellResult] = {}
        self._errors_in_a_row: Counter[str] = Counter()
        self._left: Counter[str] = Counter()
        self._one_by_one: set[str] = set()
        jobs = [job for cell in cells for job in self._missing(cell)]
        self._stopping = Stopping(comparisons)
        for identity, result in self._by_identity.items():
            for digest in result.rows.values():
                self._stopping.take(identity, digest)
        self._left_out: dict[str, set[str]] = {}
        """Episodes that no comparison wants any more, by the cell's identity."""
        self._leave_out()
        jobs = self._stopping.arranged(jobs)
        self._queue = Queue(jobs, self._one_by_one)
        self._left.update(job.cell.identity for job in jobs)
        self._stop_requests = 0
        self._to_play = list({job.cell.identity: job.cell for job in jobs}.values())
        digests = [digest for store in self._stores.values() for digest in store.digests().values()]
        self._purse = Purse(EpisodeGuard.of(cells[0].config["budget"]).sweep, (d.spent for d in digests))
        self._over = ""
        """Why no more episodes are handed out, although some are left."""
        self._earlier = {
            (identity, digest.episode): digest.spent
            for identity, store in self._stores.items()
            for digest in store.digests().values()
            if digest.status not in VERDICTS
        }
        """What attempts that ended in an error cost; the row that replaces them says so."""
        self._asked: set[str] = set()
        """Roles that were asked."""
        self._progress = Progress(
            done=sum(len(cell.wanted) for cell in self._result.cells) - len(jobs),
            missing=len(jobs),
            cells=len(cells),
        )
        self._tracker = GuardedTracker(cells[0].component("tracker"), cells[0].config["tracker"], self._note)

    def _missing(self, cell: Cell) -> Iterator[Job]:
        store = self._stores[cell.identity]
        store.open(self._being_written)
        if store.torn:
            self._result.notes.append(
                f"{store.folder}: a torn last row was put aside; that episode runs again."
            )
        keys = cell.episodes()
        order = getattr(cell.component("method"), "order", None)
        if order is not None and (in_order := order(keys, cell.seed)) is not None:
            keys = list(in_order)
            self._one_by_one.add(cell.identity)
        if self._share is not None:
            keys = [key for key in keys if str(key) in self._share.episodes]
        result = CellResult(cell, store.folder, [str(key) for key in keys])
        if cell.identity in self._by_identity:  # the same cell with another choice of episodes
            result = self._by_identity[cell.identity]
            keys = [key for key in keys if str(key) not in result.wanted]
            result.wanted += [str(key) for key in keys]
        else:
            self._by_identity[cell.identity] = result
            self._result.cells.append(result)
        if self._share is None:
            store.expect(result.wanted, self._started)
        kept = store.digests()
        for key in keys:
            row = kept.get(str(key))
            if row is not None and row.status in VERDICTS:
                result.rows[str(key)] = row
            else:
                yield Job(cell, key)
        others = Counter(row.code for row in result.rows.values() if row.code != self._code)
        for code, rows in others.items():
            self._result.notes.append(
                f"{store.folder.name}: {rows} rows were made by code {code}, not by {self._code}, and are kept."
            )

    def _leave_out(self) -> None:
        """Take what no comparison wants any more out of what the command asks for, and put on record how the comparisons
        stand."""
        if not self._stopping.running:
            return
        for identity, result in self._by_identity.items():
            left = {episode for episode in result.wanted if not self._stopping.wants(identity, episode)}
            if left:
                self._left_out[identity] = self._left_out.get(identity, set()) | left
                result.wanted = [episode for episode in result.wanted if episode not in left]
                result.rows = {episode: row for episode, row in result.rows.items() if episode not in left}
                self._stores[identity].expect(result.wanted, self._started)
        self._put_on_record()

    def _put_on_record(self) -> None:
        cut = [self._by_identity[identity] for identity in self._left_out]
        counted = {result.folder.name: frozenset(result.wanted) for result in cut}
        others = self._of_others
        found = standings.Record(
            others.comparisons + self._stopping.standings(), {**others.counted, **counted}
        )
        standings.write(self._root, found)
        self._recorded = time.monotonic()

    def run(self) -> SweepResult:
        with ExitStack() as stack:
            folders = [cell.folder.name for cell in self._result.cells]
            stack.enter_context(
                self._tracker.following(self._root, folders, interrupted=lambda: self._stop_requests > 0)
            )
            stack.callback(self._finish)
            self._stop_when_spent()
            if self._queue:
                self._probe()
                stack.enter_context(self._signals())
                self._progress.start()
                stack.callback(self._progress.close)
                self._play()
        return self._result

    def _probe(self) -> None:
        preflight.probe(self._to_play)

    def _play(self) -> None:
        if self._settings.workers == 0:
            self._play_here()
        else:
            self._play_in_pool()

    def _play_here(self) -> None:
        player = Player()
        known: set[str] = set()
        try:
            while self._stop_requests == 0 and (job := self._queue.take("")) is not None:
                if job.cell.identity not in known:
                    player.add(job.cell, self._stores[job.cell.identity].folder, self._code)
                    known.add(job.cell.identity)
                self._handle(Finished(job, player.play(job.cell.identity, job.key, job.attempt)))
        finally:
            player.close()

    def _play_in_pool(self) -> None:
        size = min(self._settings.workers or cores(), len(self._queue))
        folder = self._root / ".workers" / (Path(self._share.part).stem if self._share else "")
        pool = Pool(size, folder, self._settings.episode_timeout)
        try:
            while True:
                while self._stop_requests == 0 and self._queue.ready and (worker := pool.free()) is not None:
                    self._give(pool, worker)
                if not pool.busy:
                    return
                for event in pool.events(patience=0.5):
                    self._handle(event)
                self._progress.refresh()
        finally:
            pool.close()

    def _give(self, pool: Pool, worker: Worker) -> None:
        job = self._queue.take(worker.env_identity)
        assert job is not None
        pool.give(worker, job, self._stores[job.cell.identity].folder, self._code)

    def _handle(self, event: Finished | Died) -> None:
        job = event.job
        row = event.row if isinstance(event, Finished) else self._row_of_dead(event)
        self._pay(job, row)
        if (
            row["status"] == "error"
            and row["error"] in RETRIED_ERRORS
            and job.attempt <= self._settings.retries
            and self._goes_on(job.cell.identity, row["episode"])
        ):
            self._earlier[job.cell.identity, row["episode"]] = Spent(**row["spent"])
            self._queue.put_first(Job(job.cell, job.key, job.attempt + 1))
            self._note(f"{self._title(job)}: {row['error']} ({row['reason'].splitlines()[0]}); played again")
            return
        self._write(job, row)

    def _goes_on(self, identity: str, episode: str) -> bool:
        """Whether another attempt at an episode may be handed out."""
        if self._stop_requests or self._over or self._by_identity[identity].stopped or self._purse.empty:
            return False
        return self._stopping.wants(identity, episode)

    def _pay(self, job: Job, row: Row) -> None:
        """Count what an attempt cost, and add what earlier ones did to its row. What a worker had spent when it died
        is not known."""
        spent = Spent(**row["spent"])
        self._purse.pay(spent)
        row["spent"] = dict(vars(self._earlier.pop((job.cell.identity, row["episode"]), Spent()) + spent))
        self._asked |= row["usage"].get("roles", {}).keys()

    def _write(self, job: Job, row: Row) -> None:
        identity = job.cell.identity
        store = self._stores[identity]
        digest = store.append(row)
        if self._stopping.wants(identity, digest.episode):
            self._by_identity[identity].rows[digest.episode] = digest
        self._result.played += 1
        self._left[identity] -= 1
        if self._left[identity] == 0:
            store.sync()
        self._tracker.listen()
        self._progress.row(row)
        self._queue.done(job)
        self._compare(identity, digest)
        self._stop_when_spent()
        if row["status"] == "error":
            self._after_error(job, row)
        else:
            self._errors_in_a_row[identity] = 0

    def _compare(self, identity: str, digest: Digest) -> None:
        """Give a row to the comparisons, and hand out no more episodes of those that have decided with it; those in
        flight end."""
        decided = self._stopping.take(identity, digest)
        if decided:
            wants = self._stopping.wants
            dropped = self._queue.drop(lambda job: not wants(job.cell.identity, str(job.key)))
            self._progress.dropped(dropped)
            self._leave_out()
            for one in decided:
                self._note(f"{one.standing().words()} {dropped} episodes are not played.")
        elif self._stopping.running and time.monotonic() - self._recorded > RECORD_EVERY:
            self._put_on_record()

    def _after_error(self, job: Job, row: Row) -> None:
        result = self._by_identity[job.cell.identity]
        self._errors_in_a_row[job.cell.identity] += 1
        self._note(f"{self._title(job)}: error {row['error']}: {row['reason'].splitlines()[0]}")
        if self._settings.fail_fast or row["error"] in STOPPING_ERRORS:
            self._end(f"the sweep stopped at error {row['error']} of {self._title(job)}")
            return
        one_by_one = job.cell.identity in self._one_by_one
        if one_by_one or self._errors_in_a_row[job.cell.identity] >= self._settings.max_errors:
            why = (
                "an error, on which the next would hang"
                if one_by_one
                else _in_a_row(self._settings.max_errors)
            )
            if dropped := self._queue.drop(lambda other: other.cell.identity == job.cell.identity):
                result.stopped = f"{why}; {dropped} episodes were not played"
                self._progress.dropped(dropped)

    def _stop_when_spent(self) -> None:
        """Hand out no more episodes once the sweep's budget is reached; those in flight end."""
        if self._queue and (reached := self._purse.empty):
            self._end(f"{reached}; run the same command with a larger budget to go on")
            self._note(f"Stopping: {self._over}.")

    def _end(self, why: str) -> None:
        """Hand out no more episodes; those in flight end."""
        self._over = self._over or why
        self._progress.dropped(len(self._queue.drain()))

    def _row_of_dead(self, died: Died) -> Row:
        job = died.job
        tasks = {task.name: task for task in job.cell.component("env").suite()}
        row = blank_row(
            job.cell, job.key, tasks[job.key.task].instructions[job.key.instruction], self._code, job.attempt
        )
        if died.hung_in_code:
            reason = "a generated program did not return and could not be interrupted; its worker was ended"
            return {**row, "status": "failure", "failure": "code", "reason": reason}
        if died.timed_out:
            seconds = self._settings.episode_timeout
            return {**row, "error": "timeout", "reason": f"no end after {seconds:g} s (run.episode_timeout)"}
        printed = f"; it printed: {died.output}" if died.output else ""
        return {**row, "error": "crash", "reason": f"the worker ended with {died.how}{printed}"}

    def _title(self, job: Job) -> str:
        return f"{job.cell.method} {job.cell.env} seed {job.cell.seed} {job.key}"

    def _note(self, text: str) -> None:
        self._progress.note(text)

    def _finish(self) -> None:
        for store in self._stores.values():
            store.sync()
        for result in self._result.cells:
            if result.unplayed:
                result.stopped = result.stopped or self._over
        named = {role for cell in self._to_play for role in roles.entries(cell.config["llm"])}
        if self._result.played and (unused := named - self._asked):
            self._result.notes.append(
                f"llm.roles: nothing of what was played now asked for {', '.join(sorted(unused))}."
            )
        self._result.interrupted = self._stop_requests > 0
        if self._stopping.running:
            self._put_on_record()
            self._result.comparisons = list(self._stopping.standings())
            for identity, left in self._left_out.items():
                played = len(left & self._stores[identity].digests().keys())
                self._result.saved += len(left) - played
                self._result.unneeded += played

    def _on_stop(self) -> None:
        self._note("Stopping once the episodes in flight are done; Ctrl-C again stops now.")

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Ctrl-C once: finish what is being played. Twice, or SIGTERM: stop now."""

        def on_interrupt(number: int, frame: FrameType | None) -> None:
            self._stop_requests += 1
            if self._stop_requests > 1 or number == signal.SIGTERM:
                raise KeyboardInterrupt
            self._on_stop()

        previous: Mapping[signal.Signals, object] = {
            number: signal.signal(number, on_interrupt) for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)  # type: ignore[arg-type]


def _in_a_row(errors: int) -> str:
    return "1 error" if errors == 1 else f"{errors} errors in a row"


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def code_version() -> str:
    """Commit of the code that plays, with `+` when the tree is changed; the version outside a checkout."""
    try:
        described = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--abbrev=10", "--match", ""],
            cwd=PROJECT,
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
        return described.stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return f"v{__version__}"
