"""Replies of chat models that are kept, so that one request is paid for once. One sqlite file in WAL mode for all
processes of a machine; a process that is killed leaves it whole. The file has to lie on a disk of that machine.

Only replies that ended by themselves are kept: an error, an empty reply, one that was refused or cut off is asked for
again. An entry that was damaged counts as missing.
"""

from __future__ import annotations

import fcntl
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from harness.chat.keys import digest, reply_key
from harness.failures import UsageError
from harness.protocols import ChatModel, Message, Problem, Reply, Sampling

WAIT = 60.0
"""Seconds that a writer waits for others."""
_TABLE = """
CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY, model TEXT NOT NULL, tokens INTEGER NOT NULL, cost_usd REAL, created REAL NOT NULL,
    reply TEXT NOT NULL, checksum TEXT NOT NULL
)
"""


@dataclass(frozen=True)
class Holding:
    """What a cache has of one model."""

    model: str
    replies: int
    tokens: int
    cost_usd: float | None
    """What its replies cost when they were made; None where a price was not known."""
    characters: int
    oldest: float
    newest: float
    """Seconds since the epoch."""


class ReplyCache:
    """The file. One object a process: its locks belong to the process."""

    def __init__(self, path: Path) -> None:
        """Raises `sqlite3.Error` or `OSError` for a file that cannot be one."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._guard = threading.Lock()
        self._connection = sqlite3.connect(path, timeout=WAIT, isolation_level=None, check_same_thread=False)
        self._connection.text_factory = partial(
            str, encoding="utf-8", errors="replace"
        )  # damage is found below
        self._claims = open(f"{path}.claims", "a+b")  # noqa: SIM115  it is held until close()
        try:
            with self._claimed(0):  # sqlite lets one process change the mode, and others do not wait for it
                for statement in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=NORMAL", _TABLE):
                    self._rows(statement)
        except sqlite3.Error:
            self.close()
            raise

    def get(self, key: str) -> Reply | None:
        found = self._rows("SELECT reply, checksum FROM replies WHERE key = ?", key)
        return _reply(*found[0]) if found else None

    def put(self, key: str, reply: Reply) -> None:
        kept = {name: value for name, value in vars(reply).items() if name != "cached"}
        text = json.dumps({**kept, "details": dict(reply.details)}, default=str)
        self._rows(
            "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?)",
            *(key, reply.model, reply.prompt_tokens + reply.completion_tokens, reply.cost_usd, time.time()),
            *(text, digest(text)),
        )

    def claimed(self, key: str) -> Any:
        """A block in which no other process asks for this key: it waits, and then finds the reply."""
        return self._claimed(int(key[:15], 16))

    def holdings(self) -> list[Holding]:
        rows = self._rows(
            "SELECT model, COUNT(*), SUM(tokens), CASE WHEN COUNT(cost_usd) = COUNT(*) THEN SUM(cost_usd) END,"
            " SUM(LENGTH(reply)), MIN(created), MAX(created) FROM replies GROUP BY model ORDER BY model"
        )
        return [Holding(*row) for row in rows]

    def prune(self, model: str | None, before: float | None) -> int:
        """Drop the replies of a model (None: of all) that were made before a moment (None: at any); returns how many
        there were, and gives their space back to the disk."""
        dropped = self._rows(
            "DELETE FROM replies WHERE (?1 IS NULL OR model = ?1) AND (?2 IS NULL OR created < ?2) RETURNING 1",
            *(model, before),
        )
        self._rows("VACUUM")
        return len(dropped)

    def close(self) -> None:
        self._connection.close()
        self._claims.close()

    def _rows(self, statement: str, *values: Any) -> list[Any]:
        with self._guard:
            return self._connection.execute(statement, values).fetchall()

    @contextmanager
    def _claimed(self, number: int) -> Iterator[None]:
        """Hold one byte of the file of claims; the lock goes with the process, however it ends. Without locks, as on
        some network disks, a request may be sent twice, which costs money and nothing else."""
        with suppress(OSError):
            fcntl.lockf(self._claims, fcntl.LOCK_EX, 1, number)
        try:
            yield
        finally:
            with suppress(OSError):
                fcntl.lockf(self._claims, fcntl.LOCK_UN, 1, number)


class CachedModel:
    """A chat model behind the cache; it is opened with the first request that the cache cannot answer. A cache that
    fails costs the replies it would have saved: the reply's details say so, and it is served."""

    def __init__(
        self, name: str, settings: Mapping[str, Any], cache: ReplyCache, open_: Callable[[], ChatModel]
    ) -> None:
        """`settings` is everything of the model's config that can change an answer."""
        self.name = name
        self._settings, self._cache, self._open = settings, cache, open_
        self._model: ChatModel | None = None

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        key = reply_key(self._settings, messages, sampling)
        try:
            if (kept := self._cache.get(key)) is not None:
                return kept
            with self._cache.claimed(key):
                return self._cache.get(key) or self._ask(key, messages, sampling)
        except sqlite3.Error as error:
            return _with_trouble(self._asked(messages, sampling), error)

    def close(self) -> None:
        if self._model is not None:
            self._model.close()
            self._model = None

    def _ask(self, key: str, messages: Sequence[Message], sampling: Sampling) -> Reply:
        reply = self._asked(messages, sampling)
        if is_whole(reply):
            try:
                self._cache.put(key, reply)
            except sqlite3.Error as error:
                return _with_trouble(reply, error)
        return reply

    def _asked(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        if self._model is None:
            self._model = self._open()
        return self._model.complete(messages, sampling)


def is_whole(reply: Reply) -> bool:
    """Whether a reply ended by itself and says something."""
    return reply.finish_reason == "stop" and bool(reply.text.strip())


def problems(path: str | None) -> list[Problem]:
    """What keeps a cache from being used."""
    if path is None:
        return []
    try:
        ReplyCache(Path(path)).close()
    except (sqlite3.Error, OSError) as error:
        return [
            Problem(
                f"cache.path={path} cannot be used: {error}",
                "Move that file away, name another with cache.path=..., or switch the cache off with cache=none",
            )
        ]
    return []


def opened(path: str) -> ReplyCache:
    """An existing cache. Raises `UsageError` when there is none or when it cannot be read."""
    if not Path(path).is_file():
        raise UsageError(f"There is no cache at {path}; name its file with --path.")
    if found := problems(path):
        raise UsageError(found[0].what)
    return ReplyCache(Path(path))


def _with_trouble(reply: Reply, error: sqlite3.Error) -> Reply:
    return replace(reply, details={**reply.details, "cache": f"{type(error).__name__}: {error}"})


def _reply(text: str, checksum: str) -> Reply | None:
    """None for an entry that is not as it was written."""
    if digest(text) != checksum:
        return None
    try:
        return Reply(**json.loads(text), cached=True)
    except (TypeError, ValueError):
        return None
