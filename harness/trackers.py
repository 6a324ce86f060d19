"""Mirrors of the results in an outside tool. The rows on disk are the record; a tracker that fails costs
one warning and never a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from harness.cells import Cell
    from harness.protocols import Problem


class Tracker(Protocol):
    """The dataclass behind `conf/tracker/*.yaml`. Called in the parent process only."""

    def problems(self) -> list[Problem]: ...

    def start(self, cells: Sequence[Cell]) -> None: ...

    def row(self, cell: Cell, row: Mapping[str, Any]) -> None: ...

    def end(self) -> None: ...


@dataclass(frozen=True)
class NoTracker:
    """Tracks nothing."""

    def problems(self) -> list[Problem]:
        return []

    def start(self, cells: Sequence[Cell]) -> None:
        """Nothing to open."""

    def row(self, cell: Cell, row: Mapping[str, Any]) -> None:
        """Nothing to mirror."""

    def end(self) -> None:
        """Nothing to close."""


class GuardedTracker:
    """Passes calls on until one raises; then warns once and stays quiet."""

    def __init__(self, tracker: Tracker, warn: Any) -> None:
        self._tracker: Tracker | None = tracker
        self._warn = warn

    def call(self, name: str, *arguments: Any) -> None:
        if self._tracker is None:
            return
        try:
            getattr(self._tracker, name)(*arguments)
        except Exception as error:
            self._tracker = None
            self._warn(f"The tracker failed in {name}() and is off for the rest of this sweep: {error!r}")
