"""What a record memory allows and how it is asked: the part that differs between HiMe's variants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class MemoryRules:
    """The paper's HiMe by default. Its ablations: no management is `manage=append`; FIFO `manage=append
    cap=8`; limited active management `cap=8 when_full=refuse`; text only and image only are `modality`."""

    manage: Literal["crud", "append"] = "crud"
    """`append`: no Update and no Delete."""
    cap: int | None = None
    """The most records there can be; null: any number."""
    when_full: Literal["evict", "refuse"] = "evict"
    """What a Create beyond the cap does: push out the records with the smallest ids (the paper's FIFO, and
    what the public code does under any cap), or fail until the planner has deleted something. The paper sets
    its limited active management apart from FIFO eviction, and does not say what happens when it is full:
    here, `refuse`."""
    modality: Literal["text", "image", "both"] = "both"
    """`text`: pictures are left out. `image`: a record needs a picture, and its tags and text are there to
    find it by but are not shown."""
    tags: Literal["exact", "fuzzy"] = "exact"
    """Whether a query has to be a tag, letter by letter, to be answered by tag (what the public code does in
    effect), or may be like one (what it means to do)."""
    top: int = 5
    """The most records that a search by text gives; by tag, all that carry it are given."""
    threshold: float = 0.3
    """Cosine from which on a query is like a tag."""

    def __post_init__(self) -> None:
        if self.cap is not None and self.cap < 1:
            raise ValueError(f"cap is {self.cap}; a memory holds at least 1 record, and null is no limit")
        if self.top < 0:
            raise ValueError(f"top is {self.top}; it is a number of records, 0 or more")
        if not -1 <= self.threshold <= 1:
            raise ValueError(f"threshold is {self.threshold}; it is a cosine, from -1 to 1")
