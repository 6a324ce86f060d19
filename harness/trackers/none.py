"""`tracker=none`: nothing is mirrored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from harness.trackers.protocol import Point, State, TrackedCell

if TYPE_CHECKING:
    from harness.protocols import Problem


@dataclass(frozen=True)
class NoTracker:
    """It has no destination, so no process is started for it."""

    patience: ClassVar[float] = 0.0
    media: ClassVar[str] = "none"

    def problems(self) -> list[Problem]:
        return []

    def destination(self) -> str:
        return ""

    def open(self, root: Path) -> Nowhere:
        return Nowhere()


class Nowhere:
    """Takes everything and keeps nothing."""

    address = "nowhere"

    def begin(self, cell: TrackedCell, code: str) -> int | None:
        return None

    def add(self, cell: TrackedCell, points: Sequence[Point]) -> None:
        """Nothing to send."""

    def end(
        self, cell: TrackedCell, newest: Sequence[Point], summary: Mapping[str, Any], state: State
    ) -> None:
        """Nothing to end."""

    def close(self) -> None:
        """Nothing to close."""
