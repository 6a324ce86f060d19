"""Memory Transfer Planning whose memory grows with each success of the run: what the paper leaves to future work
(its memory is fixed). Episodes are played one after the other; what is kept follows from the rows before."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from methods.code_memory import Record
from methods.code_memory.build import successes
from methods.code_memory.records import program_id
from methods.replan.transfer import Transfer

if TYPE_CHECKING:
    from harness.episode import Episode
    from harness.records import EpisodeKey


@dataclass(frozen=True)
class OnlineTransfer(Transfer):
    """The given memory, and up to `capacity` programs that succeeded earlier in the run. A program that is there
    already is not added; beyond the capacity the least used goes, the oldest of those. What is added has no picture:
    it is ranked by its instruction."""

    capacity: int = 50
    arrange: Literal["suite", "permuted"] = "suite"
    """The order of episodes: the environment's, or one drawn from the cell's seed, as a control for what the order
    does."""

    def __post_init__(self) -> None:
        if self.capacity < 1:
            raise ValueError(
                f"capacity is {self.capacity}; a memory that grows has room for one program at least"
            )

    def order(self, keys: Sequence[EpisodeKey], seed: int) -> Sequence[EpisodeKey]:
        ordered = list(keys)
        if self.arrange == "permuted":
            random.Random(seed).shuffle(ordered)
        return ordered

    def recall(self, episode: Episode) -> tuple[Sequence[Record], Mapping[str, Any]]:
        given = self.memory.records()
        grown = Grown(self.capacity, {program_id(record.code) for record in given})
        rows = episode.history()
        for row in rows:
            grown.learn(row)
        told = {
            "after": len(rows),
            "grown": len(grown.records),
            "redundant": grown.redundant,
            "pruned": grown.pruned,
        }
        return (*given, *grown.records), {"memory": {**told, "order": self.arrange}}


class Grown:
    """What a run has added to its memory, learned row by row."""

    def __init__(self, capacity: int, known: Iterable[str]) -> None:
        """`known` are programs that the memory was given with."""
        self._capacity, self._known = capacity, set(known)
        self._records: dict[str, Record] = {}
        self._uses: Counter[str] = Counter()
        self.redundant = self.pruned = 0

    @property
    def records(self) -> list[Record]:
        """Oldest first."""
        return list(self._records.values())

    def learn(self, row: Mapping[str, Any]) -> None:
        """Count which program helped in an episode, and keep the ones that it brought."""
        for trial in row["trials"]:
            shown = trial["facts"].get("retrieved")
            if trial["success"] and shown:
                self._uses[shown["program"]] += 1
        for record in successes(row, "this run"):
            name = program_id(record.code)
            if name in self._known or name in self._records:
                self.redundant += 1
                continue
            self._records[name] = record
            if len(self._records) > self._capacity:
                # The newest has had no chance to be used yet.
                old = list(self._records)[:-1] or [name]
                del self._records[min(old, key=lambda program: self._uses[program])]
                self.pruned += 1
