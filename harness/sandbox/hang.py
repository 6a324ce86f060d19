"""The last resort against a native call that never returns, such as comparing two lists that are nested a
hundred levels deep: nothing in the process can interrupt it, so the process ends. A CPU timer sends
SIGPROF; the C handler writes where the program hung into a file and the process dies of the signal. The
pool finds the file and records a code failure. It works while the interpreter is stuck, and arming costs
one system call (`faulthandler.dump_traceback_later` starts a thread, which costs sixty times as much)."""

from __future__ import annotations

import faulthandler
import signal
from functools import cache
from pathlib import Path

GRACE = 5.0
"""CPU seconds beyond a program's limit before the process ends."""


class LastResort:
    """One per process and file. Only one thread of a process can use it at a time."""

    def __init__(self, path: Path, grace: float) -> None:
        self._grace = grace
        # faulthandler needs the file for as long as the process lives.
        self._file = open(path, "w", encoding="utf-8")  # noqa: SIM115
        faulthandler.register(signal.SIGPROF, file=self._file, all_threads=False, chain=True)

    def arm(self, seconds: float) -> None:
        """End the process after `seconds` and the grace of CPU time."""
        signal.setitimer(signal.ITIMER_PROF, max(seconds, 0.0) + self._grace)

    def disarm(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)


@cache
def last_resort(path: Path, grace: float) -> LastResort:
    return LastResort(path, grace)
