"""Several comparisons at once: Holm's (1979) correction, which needs nothing of how they depend on each other."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


def holm(p_values: Mapping[Key, float | None]) -> dict[Key, float | None]:
    """Adjusted p-values: rejecting those at or below the level keeps the chance of any false rejection below it.

    None is a comparison that could not be made: it stays None and is not part of the family.
    """
    known = sorted((p, i) for i, p in enumerate(p_values.values()) if p is not None)
    adjusted: dict[int, float] = {}
    largest = 0.0
    for rank, (p, index) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - rank) * p))
        adjusted[index] = largest
    return {key: adjusted.get(index) for index, key in enumerate(p_values)}
