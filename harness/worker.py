"""A worker process: owns one simulator at a time and plays the episodes it is sent. Started by
`harness.pool` as `python -m harness.worker FD FOLDER`; speaks pickled tuples over the inherited socket."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from multiprocessing.connection import Connection
from pathlib import Path

from harness.cells import Cell
from harness.chat.models import OpenModels
from harness.failures import HarnessError
from harness.play import CellRuntime, blank_row, play
from harness.protocols import Environment
from harness.records import EpisodeKey
from harness.store import Row


class Player:
    """Plays episodes of many cells, keeping the simulator of the last environment config open."""

    def __init__(self, hang_file: Path | None = None) -> None:
        self._hang_file = hang_file
        self._runtimes: dict[str, CellRuntime] = {}
        self._models = OpenModels()
        self._env: Environment | None = None
        self._env_identity = ""

    def add(self, cell: Cell, folder: Path, code: str) -> None:
        self._runtimes[cell.identity] = CellRuntime(cell, folder, code, self._hang_file, self._models)

    def play(self, cell_identity: str, key: EpisodeKey, attempt: int) -> Row:
        runtime = self._runtimes[cell_identity]
        try:
            env = self._environment(runtime)
            return play(runtime, env, key, attempt)
        except Exception as error:
            kind = error.kind if isinstance(error, HarnessError) else "simulator"
            return error_row(runtime, key, attempt, kind, f"{type(error).__name__}: {error}")

    def close(self) -> None:
        self._models.close()
        self._close_env()

    def _environment(self, runtime: CellRuntime) -> Environment:
        if self._env is None or self._env_identity != runtime.cell.env_identity:
            self._close_env()
            self._env = runtime.environment.open()
            self._env_identity = runtime.cell.env_identity
        return self._env

    def _close_env(self) -> None:
        if self._env is not None:
            env, self._env = self._env, None
            env.close()


def error_row(runtime: CellRuntime, key: EpisodeKey, attempt: int, kind: str, reason: str) -> Row:
    """The row of an episode that could not be played to an end."""
    template = runtime.tasks[key.task].instructions[key.instruction]
    return {**blank_row(runtime.cell, key, template, runtime.code, attempt), "error": kind, "reason": reason}


def main() -> None:
    descriptor, folder = int(sys.argv[1]), Path(sys.argv[2])
    _die_with_parent()
    connection = Connection(descriptor)
    player = Player(hang_file=folder / f"{os.getpid()}.hang")
    try:
        while True:
            try:
                message = connection.recv()
            except EOFError:
                return
            if message[0] == "cell":
                player.add(*message[1:])
            elif message[0] == "play":
                connection.send(player.play(*message[1:]))
            else:
                return
    finally:
        player.close()


def _die_with_parent() -> None:
    """No worker outlives its sweep, even when that is killed: Linux tells; elsewhere the closed socket does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(
        signal.SIGUSR2, signal.SIG_IGN
    )  # Slurm's word to a job near its end: the parent's to handle
    if sys.platform == "linux":
        parent = os.getppid()
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:
            os._exit(1)


if __name__ == "__main__":
    main()
