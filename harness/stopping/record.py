"""How sequential comparisons stand, in `sequential.json` of an experiment's folder, for whoever reads the experiment. It
follows from the rows and the command alone: a sweep that starts works it out again."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from harness.failures import UsageError
from harness.stopping.plan import Comparison
from harness.store import damaged, write_whole

FILE = "sequential.json"

Decision = Literal["first", "second", "alike"]


@dataclass(frozen=True)
class Standing:
    """One comparison. Counts are of pairs of episodes, of those that the test has taken."""

    first: str
    second: str
    where: str
    folders: tuple[tuple[str, str], ...]
    """The cells that were paired, by the names of their folders."""
    level: float
    """The comparison's part of alpha."""
    margin: float
    asked: int
    """Pairs of the command."""
    mark: str
    """Hash of these pairs and the test."""
    first_only: int
    second_only: int
    concordant: int
    decided: Decision | None
    p_value: float
    interval: tuple[float, float]
    """For the first rate minus the second, at a level of 1 - `level`, whenever one looks."""
    waits_for: str = ""
    """What keeps the test from its next pair, beside that it has not been played yet."""

    @property
    def pairs(self) -> int:
        return self.first_only + self.second_only + self.concordant

    @property
    def name(self) -> str:
        return f"{self.first} against {self.second} ({self.where})"

    def is_of(self, folders: Collection[str]) -> bool:
        """Whether a cell in one of these folders is compared."""
        return any(folder in folders for pair in self.folders for folder in pair)

    @property
    def verdict(self) -> str:
        if self.decided is None:
            return f"{self.first} and {self.second} are not told apart"
        if self.decided == "alike":
            return f"{self.first} and {self.second} differ by less than {100 * self.margin:g} points"
        return f"{self.first} solves {'more' if self.decided == 'first' else 'less'} than {self.second}"

    def words(self) -> str:
        """One sentence or two."""
        said = f"{self.verdict} ({self.where}) after {self.pairs} of {self.asked} pairs"
        if self.pairs:
            low, high = (100 * bound for bound in self.interval)
            seen = 100 * (self.first_only - self.second_only) / self.pairs
            said += (
                f": {self.first_only} solved by {self.first} alone, {self.second_only} by {self.second} alone, "
                f"{seen:+.1f} points, {100 * (1 - self.level):.4g} % confidence sequence {low:+.1f} to {high:+.1f}, "
                f"anytime-valid p = {self.p_value:.2g} at a level of {self.level:.3g}"
            )
        return f"{said}. {self.waits_for}".strip() if self.waits_for else f"{said}."


@dataclass(frozen=True)
class Record:
    """`counted` names, for each cell's folder of which episodes were left out, those that count. Rows of others are of
    episodes that were being played when their comparison had decided, or of an earlier command."""

    comparisons: tuple[Standing, ...] = ()
    counted: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def counts(self, folder: str, episode: str) -> bool:
        return folder not in self.counted or episode in self.counted[folder]


def read(root: Path) -> Record:
    """Empty where no sweep of the folder was sequential. Raises `UsageError` for a record that is damaged."""
    try:
        found = json.loads((root / FILE).read_bytes())
        return Record(
            tuple(_standing(one) for one in found["comparisons"]),
            {folder: frozenset(episodes) for folder, episodes in found["counted"].items()},
        )
    except FileNotFoundError:
        return Record()
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise damaged(
            root / FILE,
            error,
            "Delete that file and run the experiment's command again, which comes to the same decisions from the rows; "
            "until then all rows count.",
        ) from error


def write(root: Path, record: Record) -> None:
    """Replace the record."""
    counted = {folder: sorted(episodes) for folder, episodes in record.counted.items()}
    content = {"comparisons": [asdict(one) for one in record.comparisons], "counted": counted}
    write_whole(root / FILE, json.dumps(content, indent=1) + "\n")


def release(root: Path, folders: Collection[str]) -> None:
    """All rows of these cells count again: a command asks for all of their episodes. What was decided stays on record."""
    record = read(root)
    if not record.counted.keys().isdisjoint(folders):
        write(root, Record(record.comparisons, _without(record.counted, folders)))


def of_others(root: Path, folders: Collection[str]) -> Record:
    """What is on record of other cells than these: tests of other commands in the same folder."""
    record = read(root)
    return Record(
        tuple(one for one in record.comparisons if not one.is_of(folders)), _without(record.counted, folders)
    )


def check(root: Path, planned: Sequence[Comparison], folders: Collection[str]) -> None:
    """Raise `UsageError` where the cells in these folders were in a test of another plan: one that is changed after a
    look at its rows promises nothing. More scenes may be added, as they come after all others."""
    before = {one.name: one for one in read(root).comparisons if one.is_of(folders)}
    now = {one.name: one for one in planned}
    changed = [
        name
        for name, one in before.items()
        if name not in now or len(now[name].pairs) < one.asked or now[name].mark(one.asked) != one.mark
    ]
    if changed:
        raise UsageError(
            f"{root} holds a sequential test whose plan was another: {'; '.join(sorted(changed))}. It was fixed when the "
            "test began (methods, tasks, wordings, seeds, run.alpha, run.margin, run.test), and only env.scenes can "
            "grow. Give that command again, name=... for another test, or run.stop=all to play all episodes."
        )


def _without(counted: Mapping[str, frozenset[str]], folders: Collection[str]) -> dict[str, frozenset[str]]:
    return {folder: episodes for folder, episodes in counted.items() if folder not in folders}


def _standing(found: Mapping[str, Any]) -> Standing:
    folders = tuple((first, second) for first, second in found["folders"])
    low, high = found["interval"]
    return Standing(**{**found, "folders": folders, "interval": (low, high)})
