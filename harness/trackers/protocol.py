"""What a tracker is to the harness, and what it is handed. To add one: a dataclass with `problems` and `open`, and
`conf/tracker/NAME.yaml` with its `_target_`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from harness.protocols import Problem

State = Literal["finished", "stopped", "failed"]
"""How a cell ended: every episode has a verdict; somebody (Ctrl-C) or a budget stopped it before; anything else."""


@dataclass(frozen=True)
class TrackedCell:
    """A cell as its folder describes it."""

    folder: Path
    identity: str
    run: str
    """Of the cell's run: stable from start to start, and no other folder's."""
    experiment: str
    method: str
    env: str
    seed: int
    choices: Mapping[str, str] = field(repr=False)
    """Config group to the name of the chosen option."""
    config: Mapping[str, Any] = field(repr=False)
    """Resolved, without the tracker's own node, which may name a server with its password."""

    @property
    def name(self) -> str:
        return f"{self.method} {self.env} s{self.seed}"

    @property
    def tags(self) -> dict[str, str]:
        llm = self.choices.get("llm", "")
        return {
            "method": self.method,
            "env": self.env,
            "seed": str(self.seed),
            **({"llm": llm} if llm else {}),
        }


@dataclass(frozen=True, slots=True)
class Point:
    """What a tracker is told of a row."""

    number: int
    """Of the row in its run, from 0 on, in the order in which they came; the step of its metrics."""
    episode: str
    status: str
    code: str
    ended: float
    """Seconds since 1970."""
    metrics: Mapping[str, float]
    line: tuple[Any, ...]
    """The row of the table of episodes; `harness.trackers.figures.COLUMNS` names its fields."""
    videos: tuple[Path, ...] = ()
    images: tuple[Path, ...] = ()


class OpenTracker(Protocol):
    """A live connection. Anything that it raises ends the tracking with one warning."""

    address: str
    """Where the runs can be seen, for people."""

    def begin(self, cell: TrackedCell, code: str) -> int | None:
        """Create the cell's run or continue it. `code` is the version of the code that played. Returns how many rows
        the run holds, None when its service cannot tell."""
        ...

    def add(self, cell: TrackedCell, points: Sequence[Point]) -> None:
        """Rows that the run lacks, in order."""
        ...

    def end(
        self, cell: TrackedCell, newest: Sequence[Point], summary: Mapping[str, Any], state: State
    ) -> None:
        """`newest` is the newest row of each episode, for the table; `summary` numbers and words."""
        ...

    def close(self) -> None: ...


class Tracker(Protocol):
    """The dataclass behind `conf/tracker/*.yaml`. Light: the client's package is imported in `open`."""

    patience: float
    """Seconds that a sweep waits for it at its end."""
    media: str
    """Of which episodes the recorded videos and images are sent: none, failures or all."""

    def problems(self) -> list[Problem]:
        """What keeps it from being used here, for `python -m harness doctor` and the warning."""
        ...

    def destination(self) -> str:
        """Where the runs go, without secrets: what went to one place has not gone to another. Empty: nowhere."""
        ...

    def open(self, root: Path) -> OpenTracker:
        """`root` is the experiment's folder."""
        ...
