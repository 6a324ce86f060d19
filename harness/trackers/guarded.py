"""A sweep's side of its tracker: a process of its own that follows the files. Whatever happens to it costs the sweep
one warning, and at the end a wait of `tracker.patience` seconds at most."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from harness.children import import_path
from harness.trackers.mirror import Ending
from harness.trackers.protocol import Tracker

LOG = "tracker.log"
UNTOLD = 2.0
"""Seconds of waiting that need no word."""
HURRY = 5.0
"""Seconds of patience when the sweep has to stop now."""


class GuardedTracker:
    """`node` is the tracker's config, `note` prints a line above the progress display."""

    def __init__(self, tracker: Tracker, node: Mapping[str, Any], note: Callable[[str], None]) -> None:
        self._tracker, self._node, self._note = tracker, node, note
        self._process: subprocess.Popen[bytes] | None = None
        self._heard = b""
        self._warned = False

    @contextmanager
    def following(
        self, root: Path, folders: Sequence[str], interrupted: Callable[[], bool]
    ) -> Iterator[None]:
        """Mirror what comes into the cells' folders while the block runs. `interrupted` says at its end whether the
        user stopped it."""
        if not self._tracker.destination():
            yield
            return
        self._root = root
        self._start(folders)
        how: Ending = "broken"
        patience = HURRY
        try:
            yield
            how, patience = "interrupted" if interrupted() else "ended", self._tracker.patience
        except KeyboardInterrupt:
            how = "interrupted"
            raise
        finally:
            self._finish(how, min(patience, self._tracker.patience))

    def listen(self) -> None:
        """Pass on what the process has to say; costs next to nothing, and never waits."""
        if self._process is None:
            return
        assert self._process.stdout is not None
        while heard := self._process.stdout.read(4096):
            self._heard += heard
        *lines, self._heard = self._heard.split(b"\n")
        for line in lines:
            self._tell(json.loads(line))
        if self._process.poll() is not None:
            self._bury()

    def _start(self, folders: Sequence[str]) -> None:
        order = {
            "root": str(self._root),
            "node": dict(self._node),
            "folders": list(folders),
            "patience": self._tracker.patience,
        }
        try:
            self._log.parent.mkdir(parents=True, exist_ok=True)
            with open(self._log, "wb") as log:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "harness.trackers.following"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    env={**os.environ, "PYTHONPATH": import_path()},
                    bufsize=0,
                    start_new_session=True,  # Ctrl-C is the sweep's to handle
                )
            assert self._process.stdin is not None and self._process.stdout is not None
            os.set_blocking(self._process.stdout.fileno(), False)
            self._say(order)
        except OSError as error:
            self._warn(f"could not be started: {error}")

    def _finish(self, how: Ending, patience: float) -> None:
        process = self._process
        if process is None:
            return
        try:
            self._say({"how": how})
            with suppress(subprocess.TimeoutExpired):
                process.wait(min(patience, UNTOLD))
            if process.poll() is None:
                self._note(f"Waiting for the tracker, {patience:g} s at most; Ctrl-C does not wait.")
                process.wait(max(0.0, patience - UNTOLD))
            self.listen()
        except subprocess.TimeoutExpired:
            self._warn(f"had not sent everything after {patience:g} s (tracker.patience)")
        finally:
            self._kill()

    def _say(self, message: Mapping[str, Any]) -> None:
        assert self._process is not None and self._process.stdin is not None
        with suppress(BrokenPipeError):  # it has ended; `listen` finds out why
            self._process.stdin.write(json.dumps(message).encode() + b"\n")

    def _tell(self, message: Mapping[str, str]) -> None:
        if "warning" in message:
            self._warn(message["warning"])
        else:
            self._note(message["note"])

    def _bury(self) -> None:
        """It has ended: by itself as it should, with a warning, or without a word."""
        assert self._process is not None
        if self._process.returncode == 0:
            with suppress(OSError):
                self._log.unlink()
        else:
            self._warn(f"ended with status {self._process.returncode}")
        self._kill()

    def _kill(self) -> None:
        if self._process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        self._process.wait()
        self._process = None

    def _warn(self, what: str) -> None:
        """Once, whatever follows."""
        if not self._warned:
            self._warned = True
            self._note(
                f"The tracker {what}. Nothing of the results is lost; rerun the command, or use `python -m harness "
                f"track {self._root} --to ...`, to bring them there. More: {self._log}"
            )

    @property
    def _log(self) -> Path:
        return self._root / ".workers" / LOG
