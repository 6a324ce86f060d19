"""The process that has a model in memory and answers for all processes of this machine that use it: llama.cpp's own
server, on a port of loopback that the system chooses. Whoever needs one uses the one that runs or starts it; it ends by
itself when nobody uses it. A user is a lock on a file, which the kernel frees when its holder dies, however it dies.

    python -m harness.chat.local.server FOLDER SETTINGS       the process itself; not for people
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from harness.chat.openai.shared import folder_of
from harness.children import import_path
from harness.failures import ProviderError

LINGER = 10.0
"""Seconds without a user after which it ends: long enough for the workers that follow a check."""
_USERS, _ADDRESS, _START, _LOG = "users", "address.json", "start", "log"


@dataclass(frozen=True)
class Settings:
    """What it loads and how; requests of equal settings go to one process."""

    file: str
    threads: int
    context: int
    """Tokens of one slot."""
    slots: int
    runtime: str
    """Name and version."""


@dataclass(frozen=True)
class Address:
    port: int
    key: str
    """Other users of the machine do not have it."""


class Use:
    """The use of a server by this process, until `close`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._folder = folder_of(json.dumps(asdict(settings), sort_keys=True), Path(settings.file).stem)
        self._lock: IO[str] = open(self._folder / _USERS, "a")  # noqa: SIM115  it is held until close()
        fcntl.flock(self._lock, fcntl.LOCK_SH)  # waits for one that is just ending

    def address(self) -> Address:
        """Where it listens; it is started where none does. Raises `ProviderError`."""
        with open(self._folder / _START, "a") as starting:
            fcntl.flock(starting, fcntl.LOCK_EX)
            return _running(self._folder) or self._started()

    def log(self) -> str:
        """The end of what it printed."""
        with suppress(OSError):
            return (self._folder / _LOG).read_text(errors="replace")[-1000:].strip()
        return ""

    def close(self) -> None:
        self._lock.close()

    def _started(self) -> Address:
        environment = {**os.environ, "PYTHONPATH": import_path()}
        environment["OMP_WAIT_POLICY"] = "PASSIVE"  # spinning threads collapse on a busy machine
        environment.pop("OMP_NUM_THREADS", None)
        with open(self._folder / _LOG, "wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(self._folder), json.dumps(asdict(self._settings))],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,  # it outlives the worker that started it
            )
        while process.poll() is None:
            if (address := _running(self._folder)) is not None:
                return address
            time.sleep(0.05)
        raise ProviderError(
            f"{self._settings.file} could not be loaded; {self._settings.runtime} said: {self.log()}"
        )


def _running(folder: Path) -> Address | None:
    """The address that a running one left. One that was killed left an address at which nobody listens."""
    try:
        address = Address(**json.loads((folder / _ADDRESS).read_text()))
        socket.create_connection(("127.0.0.1", address.port), timeout=5.0).close()
    except (OSError, ValueError, TypeError):
        return None
    return address


def main() -> None:
    folder, settings = Path(sys.argv[1]), Settings(**json.loads(sys.argv[2]))
    key = secrets.token_hex(16)
    serving = _serving(settings, key)
    address = Address(int(serving.listening_address.rsplit(":", 1)[1]), key)
    fresh = folder / f"{_ADDRESS}.{os.getpid()}"
    fresh.touch(mode=0o600)
    fresh.write_text(json.dumps(asdict(address)))
    fresh.rename(folder / _ADDRESS)
    with open(folder / _USERS, "a") as users:
        _wait_until_unused(users)
        (folder / _ADDRESS).unlink(missing_ok=True)
        os._exit(0)  # with the lock held to the last: who comes now waits, and starts another


def _serving(settings: Settings, key: str) -> Any:
    import xllamacpp

    wanted = xllamacpp.CommonParams()
    wanted.model.path = settings.file
    wanted.hostnames, wanted.port, wanted.api_keys = ["127.0.0.1"], 0, [key]
    wanted.n_parallel, wanted.n_ctx = settings.slots, settings.slots * settings.context
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = settings.threads
    wanted.n_gpu_layers = 0
    wanted.fit_params = wanted.ui = wanted.endpoint_slots = False
    return xllamacpp.Server(wanted)


def _wait_until_unused(users: IO[str]) -> None:
    """Returns with the lock held that users share."""
    used = time.monotonic()
    while True:
        time.sleep(0.25)
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            used = time.monotonic()
            continue
        if time.monotonic() - used > LINGER:
            return
        fcntl.flock(users, fcntl.LOCK_UN)


if __name__ == "__main__":
    main()
