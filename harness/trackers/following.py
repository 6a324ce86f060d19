"""The tracker's process: mirrors a sweep's files until it is told how the sweep ended. Started by `guarded` as
`python -m harness.trackers.following`; takes lines of JSON on stdin, gives lines of JSON on stdout."""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from harness.components import build
from harness.failures import UsageError
from harness.trackers.mirror import Ending, Mirror, mirroring

EVERY = 1.0
"""Seconds between two looks at the files."""


class Told:
    """How the sweep ended, once it has: its last line, or the end of its pipe when it was killed. This process then
    has `patience` seconds left, whatever a client's library is waiting for."""

    def __init__(self, lines: TextIO, patience: float) -> None:
        self._lines, self._patience = lines, patience
        self._ending: queue.SimpleQueue[Ending] = queue.SimpleQueue()
        threading.Thread(target=self._wait, daemon=True).start()

    def within(self, seconds: float) -> Ending | None:
        try:
            return self._ending.get(timeout=seconds)
        except queue.Empty:
            return None

    def _wait(self) -> None:
        line = self._lines.readline()
        self._ending.put(json.loads(line)["how"] if line.endswith("\n") else "broken")
        threading.Event().wait(self._patience + 5)
        os.killpg(os.getpgrp(), signal.SIGKILL)


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print goes to the log

    def answer(kind: str, text: str) -> None:
        with suppress(BrokenPipeError):  # the sweep is gone
            print(json.dumps({kind: text}), file=answers, flush=True)

    order = json.loads(sys.stdin.readline())
    told = Told(sys.stdin, float(order["patience"]))
    try:
        follow(order, told, answer)
    except Exception as error:
        traceback.print_exc()
        answer("warning", reason(error))
        sys.exit(1)


def follow(order: Mapping[str, Any], told: Told, answer: Any) -> None:
    tracker = build(order["node"], "tracker")
    if problems := tracker.problems():
        raise UsageError(f"is off: {problems[0].what}. {problems[0].fix}")
    root = Path(order["root"])
    with mirroring(root, tracker, order["folders"]) as mirror:
        ending = None
        while ending is None:
            mirror.catch_up()
            ending = told.within(EVERY)
        mirror.finish(ending)
        say_where(mirror, answer)


def say_where(mirror: Mirror, answer: Any) -> None:
    if mirror.sent:
        answer("note", f"Tracked: {mirror.sent} rows to {mirror.address}")


def reason(error: Exception) -> str:
    if isinstance(error, UsageError):
        return str(error)
    return f"failed and is off for the rest of this sweep: {type(error).__name__}: {str(error)[:500]}"


if __name__ == "__main__":
    main()
