"""What the processes of this machine share about one model: a folder, and small JSON files in it that any of them may
read and change. It knows nothing of what they hold. Nothing here is needed again after a restart."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

State = dict[str, Any]


def folder_of(base_url: str, model: str) -> Path:
    """The model's folder, below the temporary directory; it is made here."""
    digest = hashlib.sha256(f"{base_url.rstrip('/')}\n{model}".encode()).hexdigest()[:12]
    readable = re.sub(r"[^A-Za-z0-9_.]+", "-", model)[:40]
    folder = Path(tempfile.gettempdir()) / f"engram-{os.getuid()}" / f"{readable}-{digest}"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


class SharedState:
    """A JSON object in a file, under a lock that the kernel gives back when its holder dies. A file that a dying
    process left torn is an empty one."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> State:
        return self.change(lambda state: None)

    def change(self, edit: Callable[[State], None]) -> State:
        """Let `edit` change the object in place; returns it as it is afterwards."""
        with open(self._path, "a+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            text = file.read()
            state = _parsed(text)
            edit(state)
            changed = json.dumps(state)
            if changed != text:
                file.truncate(0)
                file.write(changed)
            return state


def _parsed(text: str) -> State:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
