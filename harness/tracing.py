"""The trace of one episode: JSON lines in `traces/`, written as things happen, so that it is there even
when the process dies. A chat message that was traced before is written as a reference."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

FLUSHED = frozenset({"chat", "code", "error"})
"""Events that are worth having when the process dies right after them."""


IN_THE_ROW = frozenset({"episode", "trial", "trial_end", "episode_end"})
"""Events that the row tells as well; alone they are not worth a file."""


class Trace:
    """Writes events. The file is created with the first one that the row does not tell."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.written: Path | None = None
        """The file, once there is one."""
        self._file: IO[str] | None = None
        self._frame: list[dict[str, Any]] = []
        self._seen: set[str] = set()
        self._started = time.monotonic()

    def __call__(self, event: str, **data: Any) -> None:
        if self.path is None:
            return
        if "messages" in data:
            data["messages"] = [shortened(message, self._seen) for message in data["messages"]]
        record = {"event": event, "t": round(time.monotonic() - self._started, 4), **data}
        if self._file is None:
            self._frame.append(record)
            if event in IN_THE_ROW:
                return
            self._file = _open(self.path)
            self.written = self.path
            self._file.writelines(_encode(waiting) + "\n" for waiting in self._frame)
        else:
            self._file.write(_encode(record) + "\n")
        if event in FLUSHED:
            self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def read(path: Path) -> Iterator[dict[str, Any]]:
    """Events of a trace with the references of chat messages resolved. A torn last line is left out."""
    texts: dict[str, str] = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if not line.endswith("\n"):
                return
            event = json.loads(line)
            for message in event.get("messages", ()):
                restore(message, texts)
            yield event


def shortened(message: Mapping[str, Any], seen: set[str]) -> dict[str, Any]:
    """A chat message whose text, if it is among `seen`, is a reference; else its text joins them."""
    digest = hashlib.sha256(message["text"].encode(errors="backslashreplace")).hexdigest()[:16]
    if digest in seen:
        return {**{key: value for key, value in message.items() if key != "text"}, "ref": digest}
    seen.add(digest)
    return {**message, "id": digest}


def restore(message: dict[str, Any], texts: dict[str, str]) -> None:
    """Undo `shortened`: a message gets its text back, or its text joins `texts`."""
    if "ref" in message:
        message["text"] = texts[message.pop("ref")]
    else:
        texts[message.pop("id")] = message["text"]


def _open(path: Path) -> IO[str]:
    # Half of a surrogate pair, which a model's text can hold, is no UTF-8; its escape is JSON and reads back.
    try:
        return open(path, "w", encoding="utf-8", errors="backslashreplace")
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return open(path, "w", encoding="utf-8", errors="backslashreplace")


def _plain(value: Any) -> Any:
    """NumPy scalars and arrays as numbers and lists, anything else by its text."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


_encode = json.JSONEncoder(ensure_ascii=False, default=_plain).encode  # `dumps` builds an encoder a call
