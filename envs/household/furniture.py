"""What stands on the table: open boxes with opaque walls, flat mats and plates. Where things are, from physics; what
the user's hands do.

World frame, metres; furniture is placed without turning it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from envs.household import things
from envs.household.setting import CUPBOARD
from envs.mujoco import parts

if TYPE_CHECKING:
    from envs.household.sight import Moment
    from envs.mujoco.world import World

_WALL = 0.003
"""Half the thickness of walls and floors."""
_BOTTOM = 2 * _WALL
_LEAST_FLOOR = 160
"""Pixels of the wrist camera's 64 x 64 that show a box's inside when one has looked into it."""
_LEAST_THING = 6
"""The same for a thing that was seen."""
_LIFT = 0.002


@dataclass(frozen=True)
class Box:
    """An open box with a black bottom. Its body and its exposed name are `name`."""

    name: str
    half: tuple[float, float]
    """Half of the inside along x and y."""
    height: float
    colour: str

    @property
    def bottom(self) -> str:
        """The body of its inside's floor, which is exposed as a part of the box."""
        return f"{self.name} bottom"

    def add_to(self, spec: Any) -> None:
        body = parts.fixed_body(spec, self.name)
        x, y = self.half
        parts.box(body.add_body(name=self.bottom), (0, 0, _WALL), (x, y, _WALL), "black")
        middle = self.height / 2
        for side in (-1, 1):
            parts.box(body, (side * (x + _WALL), 0, middle), (_WALL, y + 2 * _WALL, middle), self.colour)
            parts.box(body, (0, side * (y + _WALL), middle), (x, _WALL, middle), self.colour)

    def holds(self, world: World, thing: str) -> bool:
        """Whether a thing's middle is inside."""
        offset = world.position(thing) - world.position(self.name)
        return bool(
            abs(offset[0]) < self.half[0] and abs(offset[1]) < self.half[1] and 0 < offset[2] < self.height
        )

    def got(self, now: Moment, thing: str) -> bool:
        """Whether a thing was put inside and let go."""
        return self.holds(now.world, thing) and now.resting(thing)

    def contents(self, world: World, names: Iterable[str]) -> list[str]:
        return [name for name in names if self.holds(world, name)]

    def inspected(self, now: Moment, names: Iterable[str]) -> bool:
        """Whether the wrist camera looks into it from above now, and sees all that is inside."""
        if not now.above(self.name, within=max(self.half)):
            return False
        inside = self.contents(now.world, names)
        seen = [now.pixels(name) for name in inside]
        return now.pixels(self.bottom) + sum(seen) >= _LEAST_FLOOR and all(
            count >= _LEAST_THING for count in seen
        )

    def shows(self, now: Moment, thing: str) -> bool:
        """Whether the wrist camera sees that a thing is inside."""
        return (
            now.above(self.name, within=max(self.half))
            and self.holds(now.world, thing)
            and now.pixels(thing) >= _LEAST_THING
        )

    def put(self, world: World, thing: str, x: float, y: float, yaw: float = 0.0) -> None:
        """The user lays a thing inside, at an offset from the middle."""
        middle = world.position(self.name)
        hand(world, thing, middle[0] + x, middle[1] + y, middle[2] + _BOTTOM, yaw)


@dataclass(frozen=True)
class Mat:
    """A thin rectangle on the table, or with `rim` a plate. Its body and its exposed name are `name`."""

    name: str
    half: tuple[float, float]
    colour: str
    rim: bool = False

    def add_to(self, spec: Any) -> None:
        body = parts.fixed_body(spec, self.name)
        x, y = self.half
        parts.box(body, (0, 0, 0.0015), (x, y, 0.0015), self.colour)
        if self.rim:
            for side in (-1, 1):
                parts.box(body, (side * x, 0, 0.003), (0.002, y + 0.002, 0.003), self.colour)
                parts.box(body, (0, side * y, 0.003), (x, 0.002, 0.003), self.colour)

    def got(self, now: Moment, thing: str) -> bool:
        """Whether a thing stands on it and was let go."""
        offset = now.world.position(thing) - now.world.position(self.name)
        on = abs(offset[0]) < self.half[0] and abs(offset[1]) < self.half[1] and 0 < offset[2] < 0.05
        return bool(on) and now.resting(thing)

    def put(self, world: World, thing: str, x: float, y: float, yaw: float = 0.0) -> None:
        """The user lays a thing on it, at an offset from the middle."""
        middle = world.position(self.name)
        hand(world, thing, middle[0] + x, middle[1] + y, middle[2] + 0.003, yaw)


def hand(world: World, thing: str, x: float, y: float, surface: float, yaw: float = 0.0) -> None:
    """The user takes a thing, from wherever it is, and lays it on a surface."""
    world.put(thing, x, y, surface + things.half_height(world, thing) + _LIFT, yaw)
    first = world.model.jnt_dofadr[world.model.body(thing).jntadr[0]]
    world.data.qvel[first : first + 6] = 0.0
    world.refresh()


def put_away(world: World, names: Iterable[str]) -> None:
    """Lay things under the table, where no camera sees them, each at a place of its own."""
    for name in names:
        across, along = divmod(int(world.model.body(name).id), 9)
        hand(world, name, -0.05 + 0.06 * along, -0.40 + 0.07 * across, CUPBOARD)
