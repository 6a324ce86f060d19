"""What a running sweep shows on the terminal: a bar on a tty, a line now and then elsewhere. Notes are
printed above it. Everything goes to stderr; the table is stdout's."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from harness.store import Row

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

LINE_EVERY = 15.0
"""Seconds between lines where there is no terminal."""


class Progress:
    """Counts rows as they come."""

    def __init__(self, done: int, missing: int, cells: int) -> None:
        self._done, self._total, self._cells = done, done + missing, cells
        self._missing = missing
        self._counts = {"success": 0, "failure": 0, "error": 0}
        self._bar: RichProgress | None = None
        self._task: Any = None
        self._last = 0.0
        self._started = 0.0

    def start(self) -> None:
        kept = f", {self._done} of {self._total} episodes are there already" if self._done else ""
        episodes = f"{self._missing} episodes" if not self._done else f"{self._missing} to play"
        self._print(f"{self._cells} cells, {episodes}{kept}")
        self._started = self._last = time.monotonic()
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                auto_refresh=False,
            )
            self._task = self._bar.add_task("episodes", total=self._total, completed=self._done)
            self._bar.start()

    def row(self, row: Row) -> None:
        self._counts[row["status"]] += 1
        if self._bar is not None:
            self._bar.update(self._task, advance=1, description=self._describe())

    def dropped(self, episodes: int) -> None:
        """Episodes that will not be played in this sweep."""
        self._total -= episodes
        if self._bar is not None:
            self._bar.update(self._task, total=self._total)

    def note(self, text: str) -> None:
        self._print(text)

    def refresh(self) -> None:
        now = time.monotonic()
        if self._bar is not None:
            if now - self._last > 0.2:
                self._bar.refresh()
                self._last = now
        elif now - self._last > LINE_EVERY:
            played = sum(self._counts.values())
            rate = played / (now - self._started)
            left = f", about {(self._total - self._done - played) / rate:.0f} s left" if rate else ""
            self._print(f"{self._done + played}/{self._total} episodes: {self._describe()}{left}")
            self._last = now

    def close(self) -> None:
        if self._bar is not None:
            self._bar.refresh()
            self._bar.stop()
            self._bar = None

    def _describe(self) -> str:
        counts = self._counts
        text = f"{counts['success']} succeeded, {counts['failure']} failed"
        return text + (f", {counts['error']} errors" if counts["error"] else "")

    def _print(self, text: str) -> None:
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False, soft_wrap=True)
        else:
            print(text, file=sys.stderr, flush=True)
