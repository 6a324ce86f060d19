"""What the scripted executor makes of one moment: the hand, the named things that are seen, where they lie and on what.

It measures point clouds, which are noisy and show only the sides that a camera sees. Metres, world frame."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from harness.protocols import Floats
    from methods.executors.senses import Senses

TABLE = ("table", "tabletop", "table top")
_THING = 0.055
"""What is wider than this is furniture, not a thing to be picked up."""
_WALL = 0.05
"""What is higher than this has walls."""
_OPEN, _SHUT = 0.85, 0.12
"""Fingers are open beyond the first, shut below the second; between them they hold something."""
_IN_HAND = 0.045
"""How far the middle of what is held is from the tool, at most."""
_SLACK = 0.012
"""By which a footprint is wider than it looks."""
FINGER_ROOM = 0.04
"""From the middle of what is held to the outside of a finger, and a little more."""


@dataclass(frozen=True)
class Item:
    """Something seen."""

    name: str
    lower: Floats
    """(3,) of the box around what is seen of it."""
    upper: Floats
    points: Floats

    @property
    def middle(self) -> Floats:
        """(2,)."""
        return (self.lower[:2] + self.upper[:2]) / 2

    @property
    def half(self) -> Floats:
        """(2,)."""
        return (self.upper[:2] - self.lower[:2]) / 2

    @property
    def is_thing(self) -> bool:
        return bool(2 * self.half.max() < _THING)

    @property
    def has_walls(self) -> bool:
        return bool(self.upper[2] > _WALL)

    def covers(self, position: Floats, slack: float = _SLACK) -> bool:
        """Whether a place is within its outline."""
        return bool((np.abs(position[:2] - self.middle) < self.half + slack).all())


class Scene:
    """One moment; looks at an object when it is asked for it, once."""

    def __init__(self, senses: Senses) -> None:
        seen = senses.observation()
        self.tool: Floats = seen["tool"][:3]
        self.facing: Floats = seen["tool"][3:]
        opening = float(seen["gripper"][0])
        self.is_open, self.is_shut = opening > _OPEN, opening < _SHUT
        self._senses = senses
        self._items: dict[str, Item | None] = {}

    @property
    def holds_something(self) -> bool:
        return not (self.is_open or self.is_shut)

    @cached_property
    def names(self) -> list[str]:
        return self._senses.names()

    def item(self, name: str) -> Item | None:
        """None when it is not seen."""
        if name not in self._items:
            points = self._senses.points(name)
            self._items[name] = None if points is None else _measured(name, points)
        return self._items[name]

    @cached_property
    def items(self) -> list[Item]:
        return [item for item in map(self.item, self.names) if item is not None]

    def in_hand(self, item: Item) -> bool:
        return self.holds_something and self._from_tool(item) < _IN_HAND

    def _from_tool(self, item: Item) -> float:
        centre = (item.lower + item.upper) / 2
        return float(np.linalg.norm(centre - self.tool))

    @cached_property
    def held(self) -> Item | None:
        """The thing in the hand, if it is seen."""
        near = [item for item in self.items if item.is_thing and self.in_hand(item)]
        return min(near, key=self._from_tool, default=None)

    def lies_on(self, item: Item, place: Item) -> bool:
        return not self.in_hand(item) and place.covers(item.middle)

    def lies_on_table(self, item: Item) -> bool:
        others = [other for other in self.items if not other.is_thing]
        return not self.in_hand(item) and not any(other.covers(item.middle, 0.0) for other in others)

    def free_spot(self, place: Item, held: str) -> Floats:
        """(2,), where in a place there is most room for what is held, as far as is seen; of several such spots the one
        nearest to the tool."""
        margin = np.array([FINGER_ROOM + 0.006, 0.031]) if place.has_walls else np.array([0.027, 0.025])
        x, y = (
            _spread(middle, half - edge)
            for middle, half, edge in zip(place.middle, place.half, margin, strict=True)
        )
        spots = np.array([(a, b) for a in x for b in y])
        taken = [
            item.middle
            for item in self.items
            if item.is_thing and item.name != held and self.lies_on(item, place)
        ]
        room = np.full(len(spots), 0.04)
        for other in taken:
            room = np.minimum(room, np.linalg.norm(spots - other, axis=1))
        distance = np.linalg.norm(spots - self.tool[:2], axis=1)
        off = np.linalg.norm(spots - place.middle, axis=1)
        spot: Floats = spots[np.argmax(room - 0.05 * distance - 0.05 * off)]
        return spot


def _measured(name: str, points: Floats) -> Item:
    lower, upper = np.percentile(points, (3, 97), axis=0)
    return Item(name, lower, upper, points)


def _spread(middle: float, usable: float) -> Floats:
    """Places along one axis, a thing's width apart."""
    usable = max(usable, 0.0)
    return (
        middle + np.linspace(-usable, usable, 1 + int(2 * usable / 0.034))
        if usable > 0.01
        else np.array([middle])
    )
