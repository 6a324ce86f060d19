"""The flat baseline's memory (after MemER): frames that its planner nominates, again and again, grouped where
they lie close together in time; each group is remembered by one frame.

What its rule costs is part of the baseline: a long chain of nominations, each close to the last, is one group
and so one keyframe, and of many groups the earliest are forgotten."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Keyframes:
    nominations: tuple[int, ...] = ()
    """Indices of frames in the episode, ascending; one for each time that it was nominated."""
    gap: int = 5
    """Frames up to which two neighbours belong together (single linkage in one dimension)."""
    most: int = 8
    """Groups that are kept, the latest ones."""

    def __post_init__(self) -> None:
        if self.gap < 0 or self.most < 1:
            raise ValueError(f"gap is {self.gap} and most {self.most}; they are at least 0 and 1")

    def nominated(self, frames: Iterable[int]) -> Keyframes:
        """After these frames were nominated, too."""
        return replace(self, nominations=tuple(sorted((*self.nominations, *frames))))

    def chosen(self) -> tuple[int, ...]:
        """The frames that are remembered, ascending: of each group the upper median of its nominations."""
        groups: list[list[int]] = []
        for frame in self.nominations:
            if groups and frame - groups[-1][-1] <= self.gap:
                groups[-1].append(frame)
            else:
                groups.append([frame])
        return tuple(group[len(group) // 2] for group in groups[-self.most :])
