"""The trace of one episode: JSON lines in `traces/`, written as things happen, so that it is there even
when the process dies. A chat message that was traced before is written as a reference."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any


class Trace:
    """Writes events. The file is created with the first one."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._file: IO[str] | None = None
        self._seen: set[str] = set()
        self._started = time.monotonic()

    def __call__(self, event: str, **data: Any) -> None:
        if self.path is None:
            return
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = open(self.path, "w", encoding="utf-8")  # noqa: SIM115 - closed by close()
        if "messages" in data:
            data["messages"] = [self._shortened(message) for message in data["messages"]]
        record = {"event": event, "t": round(time.monotonic() - self._started, 4), **data}
        self._file.write(json.dumps(record, ensure_ascii=False, default=_plain) + "\n")
        self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _shortened(self, message: dict[str, Any]) -> dict[str, Any]:
        digest = hashlib.sha256(message["text"].encode()).hexdigest()[:16]
        if digest in self._seen:
            return {"role": message["role"], "ref": digest}
        self._seen.add(digest)
        return {**message, "id": digest}


def read(path: Path) -> Iterator[dict[str, Any]]:
    """Events of a trace with the references of chat messages resolved. A torn last line is left out."""
    texts: dict[str, str] = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if not line.endswith("\n"):
                return
            event = json.loads(line)
            for message in event.get("messages", ()):
                if "ref" in message:
                    message["text"] = texts[message.pop("ref")]
                else:
                    texts[message.pop("id")] = message["text"]
            yield event


def _plain(value: Any) -> Any:
    """NumPy scalars and arrays as numbers and lists, anything else by its text."""
    return value.tolist() if hasattr(value, "tolist") else str(value)
