"""Worker processes and their watchdog: start, feed, time out, replace. It knows no cells' order and
stores nothing; `harness.sweep` decides what is played."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path

from harness.cells import Cell
from harness.children import import_path
from harness.records import EpisodeKey
from harness.store import Row


@dataclass(frozen=True)
class Job:
    """One episode to play."""

    cell: Cell
    key: EpisodeKey
    attempt: int = 1


@dataclass(frozen=True)
class Finished:
    """A worker returned a row."""

    job: Job
    row: Row


@dataclass(frozen=True)
class Died:
    """A worker ended while it played: how, and the end of what it printed. `hung_in_code` is set when a
    generated program did not return and the sandbox's last resort ended the process."""

    job: Job
    how: str
    output: str
    hung_in_code: bool = False
    timed_out: bool = False


@dataclass
class Worker:
    """One process. Its prints go to a log file, so that a simulator's chatter never meets the display."""

    folder: Path
    job: Job | None = None
    deadline: float = 0.0
    env_identity: str = ""
    known: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        ours, theirs = socket.socketpair()
        self.log = self.folder / f"{os.getpid()}-{id(self)}.log"
        environment = {**os.environ, "PYTHONPATH": import_path()}
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            environment.setdefault(name, "1")  # one worker per core; inner threads would only fight
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "harness.worker", str(theirs.fileno()), str(self.folder)],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,  # a Ctrl-C on the terminal is the parent's to handle
            )
        theirs.close()
        self.connection = Connection(ours.detach())

    def give(self, job: Job, folder: Path, code: str, timeout: float) -> None:
        with suppress(OSError):  # it has just died; the next wait reports it with its job
            if job.cell.identity not in self.known:
                self.connection.send(("cell", job.cell, folder, code))
                self.known.add(job.cell.identity)
            self.connection.send(("play", job.cell.identity, job.key, job.attempt))
        self.job, self.env_identity = job, job.cell.env_identity
        self.deadline = time.monotonic() + timeout

    def ask_to_stop(self) -> None:
        with suppress(OSError):  # it may have ended already
            self.connection.send(("stop",))
        self.connection.close()

    def end(self, grace: float = 5.0) -> None:
        """Wait for the process to stop, or kill it and everything that it started."""
        try:
            self.process.wait(grace if self.job is None else 0.0)
        except subprocess.TimeoutExpired:
            self.kill()
        for leftover in (self.log, self._hang_file):
            leftover.unlink(missing_ok=True)

    def kill(self) -> None:
        with suppress(ProcessLookupError):  # it has ended by itself
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    @property
    def _hang_file(self) -> Path:
        return self.folder / f"{self.process.pid}.hang"

    def post_mortem(self, timed_out: bool) -> Died:
        """How the process ended; it has ended already or is killed here."""
        assert self.job is not None
        if timed_out:
            self.kill()
        try:
            code = self.process.wait(5.0)
        except subprocess.TimeoutExpired:  # it closed its socket and stays
            self.kill()
            code = self.process.wait()
        hang = self._hang_file
        hung = hang.exists() and hang.stat().st_size > 0
        how = f"exit status {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
        output = self.log.read_text(errors="replace")[-2000:].strip()
        return Died(self.job, "timeout" if timed_out else how, output, hung, timed_out)


class Pool:
    """A fixed number of workers. `events()` yields what happened to the jobs given."""

    def __init__(self, size: int, folder: Path, timeout: float) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._timeout, self._size = folder, timeout, size
        self._workers: list[Worker] = []

    def free(self) -> Worker | None:
        """A worker that waits for a job; starts one when there are fewer than the pool's size."""
        for worker in self._workers:
            if worker.job is None:
                return worker
        if len(self._workers) < self._size:
            self._workers.append(Worker(self._folder))
            return self._workers[-1]
        return None

    @property
    def busy(self) -> int:
        return sum(worker.job is not None for worker in self._workers)

    def give(self, worker: Worker, job: Job, folder: Path, code: str) -> None:
        worker.give(job, folder, code, self._timeout)

    def events(self, patience: float) -> Iterator[Finished | Died]:
        """Wait at most `patience` seconds, then yield what came."""
        playing = {worker.connection: worker for worker in self._workers if worker.job is not None}
        now = time.monotonic()
        until_deadline = min((w.deadline - now for w in playing.values()), default=patience)
        for ready in wait(list(playing), timeout=max(0.0, min(patience, until_deadline))):
            worker = playing.pop(ready)  # type: ignore[call-overload]
            try:
                row = worker.connection.recv()
            except (EOFError, OSError):
                yield self._bury(worker, timed_out=False)
                continue
            job, worker.job = worker.job, None
            yield Finished(job, row)
        now = time.monotonic()
        for worker in playing.values():
            if now >= worker.deadline:
                yield self._bury(worker, timed_out=True)

    def close(self) -> None:
        for worker in self._workers:
            worker.ask_to_stop()
        for worker in self._workers:
            worker.end()
        self._workers.clear()

    def _bury(self, worker: Worker, timed_out: bool) -> Died:
        died = worker.post_mortem(timed_out)
        self._workers.remove(worker)
        worker.ask_to_stop()
        worker.end()
        return died
