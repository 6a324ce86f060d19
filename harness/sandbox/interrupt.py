"""Interrupts Python code that runs over its time: on the main thread with a timer signal, on others with an
exception that a watching thread sets. Neither gets into a native call; `harness.sandbox.hang` ends those."""

from __future__ import annotations

import contextlib
import ctypes
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Protocol

from harness.sandbox.limits import LimitReached


class Ticker(Protocol):
    def settle(self) -> None:
        """Take back an interrupt that was sent and has not arrived. Call it after pausing."""
        ...


@contextlib.contextmanager
def ticking(overdue: Callable[[], bool], seconds: float) -> Iterator[Ticker]:
    """Ask `overdue()` about twenty times per limit of `seconds`; raise `LimitReached` in the thread that
    entered when it says yes. It has to say no while the thread is not in a program."""
    period = min(0.25, max(0.01, seconds / 20))
    if threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer"):
        ticker: SignalTicker | ThreadTicker = SignalTicker(overdue, period)
    else:
        ticker = ThreadTicker(overdue, period)
    try:
        ticker.start()
        yield ticker
    finally:
        ticker.stop()


class SignalTicker:
    """SIGALRM, repeated: a handler that was swallowed or came in an API call gets another chance."""

    def __init__(self, overdue: Callable[[], bool], period: float) -> None:
        self._overdue = overdue
        self._period = period

    def start(self) -> None:
        self._previous = signal.signal(signal.SIGALRM, self._beat)
        signal.setitimer(signal.ITIMER_REAL, self._period, self._period)

    def stop(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._previous)

    def settle(self) -> None:
        """The handler runs in this thread and asks `overdue` itself, so nothing can be under way."""

    def _beat(self, number: int, frame: FrameType | None) -> None:
        if self._overdue():
            raise LimitReached


class ThreadTicker:
    """A thread that sets an exception in another one, which gets it at its next step of Python code."""

    def __init__(self, overdue: Callable[[], bool], period: float) -> None:
        self._overdue = overdue
        self._period = period
        self._target = ctypes.c_ulong(threading.get_ident())
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="sandbox-ticker", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def settle(self) -> None:
        with self._lock:
            self._set(None)

    def _watch(self) -> None:
        while not self._stop.wait(self._period):
            with self._lock:
                if self._overdue():
                    self._set(LimitReached)

    def _set(self, exception: type[BaseException] | None) -> None:
        value = ctypes.py_object(exception) if exception else None
        ctypes.pythonapi.PyThreadState_SetAsyncExc(self._target, value)
