"""What a sweep asks of a scheduler."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Protocol

from harness.cluster.shards import Shard


class Scheduler(Protocol):
    """What it says of jobs is used for whether they are still there, and for nothing else: what was played, rows
    say."""

    @property
    def name(self) -> str:
        """As in `hydra/launcher=NAME`."""
        ...

    @property
    def lasting(self) -> bool:
        """Whether jobs go on when the sweep that submitted them ends."""
        ...

    @property
    def patience(self) -> float:
        """Seconds between two questions for `alive`."""
        ...

    def submit(self, shards: Sequence[Shard], folder: Path) -> list[str]:
        """One job for each shard; returns their ids. What the scheduler writes goes below `folder`.

        Raises `UsageError` with the scheduler's own words when it refuses them.
        """
        ...

    def alive(self) -> frozenset[str] | None:
        """Ids of the jobs that wait or run, of this user; None when that cannot be asked now."""
        ...

    def cancel(self, jobs: Collection[str]) -> None:
        """Stop jobs, those that wait and those that run. Raises `UsageError` when that cannot be asked."""
        ...

    def close(self) -> None:
        """Let go of the scheduler."""
        ...
