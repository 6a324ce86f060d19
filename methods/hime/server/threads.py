"""Work that waits for models, in threads that a stopped server does not wait for: what they had not written down has not
happened."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

_Result = TypeVar("_Result")


def begun(work: Callable[[], _Result], name: str) -> Future[_Result]:
    """The work in a thread of its own."""
    future: Future[_Result] = Future()
    future.set_running_or_notify_cancel()

    def carry_out() -> None:
        try:
            future.set_result(work())
        except Exception as error:
            future.set_exception(error)

    threading.Thread(target=carry_out, name=name, daemon=True).start()
    return future
