"""How many requests may be in flight to a model, over all processes of this machine. A place is a locked file, which
the kernel frees when its holder dies; how many there are grows by one a round of answers and halves when the provider
limits the rate (additive increase, multiplicative decrease). It sends nothing and retries nothing."""

from __future__ import annotations

import asyncio
import fcntl
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO

from harness.chat.openai.shared import SharedState, State

FORGOTTEN = 600.0
"""Seconds after which what was learnt of a rate limit no longer holds."""
_SHORTEST, _LONGEST = 0.01, 0.25
"""Seconds between two looks for a free place."""


class Places:
    """The places of one model. Times are the clock's, in seconds, so that processes can compare them."""

    def __init__(self, folder: Path, most: int) -> None:
        self._folder, self._most = folder, most
        self._state = SharedState(folder / "limit.json")

    def allowed(self) -> int:
        """How many requests may be in flight now."""
        return int(self._limit(self._state.read()))

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Wait for a place and hold it."""
        pause = _SHORTEST
        while (held := self._take()) is None:
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(pause * 1.5, _LONGEST)
        try:
            yield
        finally:
            held.close()

    def answered(self) -> None:
        """A request was served: after as many as may be in flight, one more may."""

        def edit(state: State) -> None:
            limit = self._limit(state)
            if limit < self._most:
                state.update(limit=min(self._most, limit + 1.0 / limit), at=time.time())

        self._state.change(edit)

    def limited(self, sent: float, pause: float) -> None:
        """A request that was sent at `sent` met a rate limit; nobody sends anything for `pause` seconds. Those that
        were in flight at a cut are of its round and cut no further."""

        def edit(state: State) -> None:
            now = time.time()
            if sent >= state.get("cut", 0.0):
                state.update(limit=max(1.0, self._limit(state) / 2), cut=now)
            state.update(at=now, resume=max(state.get("resume", 0.0), now + pause))

        self._state.change(edit)

    def _limit(self, state: State) -> float:
        fresh = 0.0 <= time.time() - state.get("at", 0.0) < FORGOTTEN
        return min(float(state["limit"]), self._most) if fresh else float(self._most)

    def _take(self) -> IO[str] | None:
        state = self._state.read()
        if 0.0 < state.get("resume", 0.0) - time.time() < FORGOTTEN:
            return None
        for number in random.sample(range(limit := int(self._limit(state))), limit):
            file = open(self._folder / f"place-{number}", "a")  # noqa: SIM115
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.close()
            else:
                return file
        return None
