"""What frames show, from the lines below them: what is in the hand, what is where, what was looked into, what is drawn
on a sheet. It compares frames' boxes in the picture; nothing in it knows a name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

HAND = "gripper"
TABLE = "table"
"""Where a thing is that stands on nothing with a name."""
_FURNITURE = 0.1
"""Of the picture's width: what the camera across the table sees wider than this is no thing to be picked up."""
_TALL = 0.15
"""Of the picture's height: what it sees higher than this has walls."""
_HELD = (0.12, 0.13)
"""Of the wrist's picture: how far to the side of the fingers' middle a held thing may be, and how wide it is at least."""
_HELD_LOW = 0.60
"""How far down in the wrist's picture its middle is at least."""
_WHOLE = (0.25, 0.17)
"""Of the wrist's picture: the least width and height of a place that one looks at from near."""
_CENTRED = 0.22
"""How far its middle is from the picture's, at most."""
_DRAWN = re.compile(r"(?:picture|drawing|image|photo) of (?P<kind>.+?)(?: \d+)?")
_COUNTED = re.compile(r"(?P<kind>.+?) \d+")


def kind_of(name: str) -> str:
    """Of "nut 2", which is one of several nuts; other names are their own kind."""
    found = _COUNTED.fullmatch(name)
    return found["kind"] if found else name


@dataclass(frozen=True)
class Mark:
    """A named thing in a camera's picture, pixels."""

    name: str
    left: int
    top: int
    right: int
    bottom: int

    @property
    def middle(self) -> tuple[float, float]:
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    @property
    def width(self) -> int:
        return self.right - self.left

    @property
    def height(self) -> int:
        return self.bottom - self.top

    def covers(self, x: float, y: float, margin: float = 0.0) -> bool:
        """Whether a point is in it; `margin` of its size is cut off on each side."""
        across, down = margin * self.width, margin * self.height
        return self.left + across <= x <= self.right - across and self.top + down <= y <= self.bottom - down


@dataclass(frozen=True)
class Shot:
    """The marks of one moment. The wrist's camera is the first one, the one across the table the second."""

    step: int
    wrist: tuple[Mark, ...]
    scene: tuple[Mark, ...]

    @property
    def hand(self) -> Mark | None:
        """The gripper, as the camera across the table sees it."""
        return next((mark for mark in self.scene if mark.name == HAND), None)


@dataclass(frozen=True)
class Seen:
    """What a moment shows."""

    step: int
    held: str
    """What the fingers hold, or are about to; empty for nothing."""
    at: Mapping[str, str]
    """Thing to the place that it is seen at; nothing of what is held."""
    looked: frozenset[str]
    """Places that the wrist's camera sees whole and from near."""
    drawn: Mapping[str, Mapping[str, int]]
    """What is drawn on a place that is looked at: kind to number."""

    def inside(self, place: str) -> tuple[str, ...]:
        return tuple(thing for thing, where in self.at.items() if where == place)


class Sights:
    """Frames of one request, which have their measures in common."""

    def __init__(self, shots: Iterable[Shot]) -> None:
        self.shots = tuple(shots)

    @cached_property
    def places(self) -> tuple[str, ...]:
        """What stands there and is not picked up, from left to right."""
        widest: dict[str, Mark] = {}
        for shot in self.shots:
            for mark in shot.scene:
                known = widest.get(mark.name)
                if mark.name != HAND and (known is None or mark.width > known.width):
                    widest[mark.name] = mark
        wide = [mark for mark in widest.values() if mark.width >= _FURNITURE * self._scene]
        return tuple(mark.name for mark in sorted(wide, key=lambda mark: (mark.middle[0], mark.name)))

    @cached_property
    def walled(self) -> tuple[str, ...]:
        """Places that can hide what is in them."""
        tall = {
            mark.name
            for shot in self.shots
            for mark in shot.scene
            if mark.height >= _TALL * self._scene and mark.name in self.places
        }
        return tuple(place for place in self.places if place in tall)

    @cached_property
    def things(self) -> tuple[str, ...]:
        """Everything else that has a name, in the order in which it is seen."""
        names = (mark.name for shot in self.shots for mark in (*shot.scene, *shot.wrist))
        known = {*self.places, HAND}
        return tuple(
            dict.fromkeys(name for name in names if name not in known and not _DRAWN.fullmatch(name))
        )

    @cached_property
    def seen(self) -> tuple[Seen, ...]:
        """In the order of the frames."""
        return tuple(self._see(shot) for shot in self.shots)

    @cached_property
    def _wrist(self) -> int:
        return _size(mark for shot in self.shots for mark in shot.wrist)

    @cached_property
    def _scene(self) -> int:
        return _size(mark for shot in self.shots for mark in shot.scene)

    def _see(self, shot: Shot) -> Seen:
        looked = frozenset(mark.name for mark in shot.wrist if self._is_looked_at(mark))
        held = self._held(shot)
        at: dict[str, str] = {}
        drawn: dict[str, Counter[str]] = {}
        for mark in shot.wrist:
            sheet = self._smallest(shot.wrist, mark.middle)
            found = _DRAWN.fullmatch(mark.name)
            if found and sheet in looked:
                drawn.setdefault(sheet, Counter())[found["kind"]] += 1
            elif sheet and mark.name in self.things and mark.name != held:
                at[mark.name] = sheet
        for mark in shot.scene:
            # The camera across the table sees no bottom of a box: what it sees goes before what the wrist's sees.
            if mark.name in self.things and mark.name != held:
                at[mark.name] = self._smallest(shot.scene, (mark.middle[0], mark.bottom - 1)) or TABLE
        return Seen(shot.step, held, at, looked, drawn)

    def _is_looked_at(self, mark: Mark) -> bool:
        if mark.name not in self.places:
            return False
        size = self._wrist
        whole = mark.left > 0 and mark.top > 0 and mark.right < size and mark.bottom < size
        near = mark.width >= _WHOLE[0] * size and mark.height >= _WHOLE[1] * size
        off = max(abs(middle - size / 2) for middle in mark.middle)
        return whole and near and off <= _CENTRED * size

    def _held(self, shot: Shot) -> str:
        size = self._wrist
        between = [
            mark
            for mark in shot.wrist
            if mark.name in self.things
            and abs(mark.middle[0] - size / 2) <= _HELD[0] * size
            and mark.middle[1] >= _HELD_LOW * size
            and mark.width >= _HELD[1] * size
        ]
        return max(between, key=lambda mark: (mark.width, mark.name)).name if between else ""

    def _smallest(self, marks: Sequence[Mark], point: tuple[float, float]) -> str:
        """The place whose mark holds a point, the smallest of several; empty for none."""
        around = [mark for mark in marks if mark.name in self.places and mark.covers(*point)]
        return min(around, key=lambda mark: mark.width * mark.height).name if around else ""


def _size(marks: Iterable[Mark]) -> int:
    """Width and height of a camera's picture, as far as its marks reach; they reach its edges."""
    return max((max(mark.right, mark.bottom) for mark in marks), default=1)
