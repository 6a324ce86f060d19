"""The official evaluation sequences: 1000 initial conditions with a chain of five tasks each, drawn by the checkout's
own code and kept in the user's cache, since drawing them takes minutes."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from envs.calvin.checkout import Checkout
from envs.calvin.shims import sampling
from envs.calvin.shims.sampling import SEQUENCES, Condition
from harness.failures import UsageError

COUNT = 1000
_FORMAT = 1
"""Of the cached file."""


@dataclass(frozen=True)
class Chain:
    """`condition` is where everything starts, `tasks` are done one after the other."""

    condition: Condition
    tasks: tuple[str, ...]


@lru_cache(maxsize=4)
def official_chains(checkout: Checkout) -> Sequence[Chain]:
    """All of them, in the official order. Raises `UsageError` when they cannot be kept."""
    path = cache_file(checkout)
    if path.is_file():
        try:
            return _read(path)
        except (ValueError, KeyError, TypeError):
            print(f"{path} is damaged and is made anew.", file=sys.stderr)
    print(
        f"Drawing CALVIN's {COUNT} official chains with the checkout's code: a few minutes of CPU, once. They are kept "
        f"in {path}.",
        file=sys.stderr,
        flush=True,
    )
    drawn = sampling.draw_sequences(checkout.benchmark, COUNT)
    chains = tuple(Chain(condition, tasks) for condition, tasks in drawn)
    _write(path, chains)
    return chains


def cache_file(checkout: Checkout) -> Path:
    """Where the chains of this version of the sampling code are kept."""
    source = (checkout.benchmark / SEQUENCES).read_bytes()
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home, "engram", "calvin", f"chains-{hashlib.sha256(source).hexdigest()[:12]}.json")


def _read(path: Path) -> tuple[Chain, ...]:
    content = json.loads(path.read_text(encoding="utf-8"))
    if content["format"] != _FORMAT or len(content["chains"]) != COUNT:
        raise ValueError("another format")
    return tuple(Chain(dict(condition), tuple(tasks)) for condition, tasks in content["chains"])


def _write(path: Path, chains: Sequence[Chain]) -> None:
    content = {"format": _FORMAT, "chains": [[dict(chain.condition), chain.tasks] for chain in chains]}
    temporary = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(json.dumps(content), encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise UsageError(
            f"CALVIN's chains cannot be kept in {path.parent}: {error}. Set XDG_CACHE_HOME to a folder that can be "
            "written."
        ) from error
