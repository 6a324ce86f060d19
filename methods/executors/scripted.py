"""`executor=scripted`: a hand-written executor for a gripper that comes from above.

From the words and what is sensed now it tells which phase the subtask is in (lift, approach, descend, close, carry,
release) and gives the next actions of that phase. It is told nothing that cameras, joints and fingers do not show, so it
misses, drops and knocks over as a robot does. It never says that it is done: where the subtask is, it stays above the
place, so that the wrist camera shows it.

All that it keeps from call to call is one bit, cleared by `reset`: whether the hand has let go above the target. Without
it a portion put into a pot of portions would be followed by another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.protocols import Problem
from methods.executors import Refusal, check_executed
from methods.executors.words import Command, matches, parse, plain

if TYPE_CHECKING:
    from harness.protocols import Floats
    from methods.executors.motion import Planner
    from methods.executors.scene import Item, Scene
    from methods.executors.senses import Senses

CARRY = 0.19
"""Height of the tool above the table while it travels: what it holds clears the boxes' walls."""
LOOK = 0.17
"""The same for looking into a place."""
_LOW = CARRY - 0.035
"""Below it the tool does not travel."""
_ACROSS = np.pi / 2
"""Yaw at which the fingers open along x: things in boxes and on plates stand beside each other along y."""
_DEPTH = 0.005
"""How far the tool stops above a thing's middle."""
_HALF_THING = 0.014
_OVER_WALL = 0.025
"""How far below the top of its wall a thing is let go, the tool's height; nothing but the fingers is inside."""
_OVER_FLAT = 0.024
"""The same above the table for what has no walls."""
_NEAR = 0.006
"""Metres within which the tool is above a place."""
_AIMED = 0.10
"""Radians within which the wrist has turned."""
_ALIGNED = 0.004
"""The same before the fingers go down beside a thing."""
_ALIGNING = 0.035
"""How far above the height of the grasp the tool is set straight: the fingertips are clear of the thing."""
_STUCK = 0.027
"""Nearer than this, but not there: a chunk goes all the way down from where the tool is set straight, so a finger stands on
the thing."""
_SIDESTEP = 0.008
_CLOSING = 0.016
"""How far from where the thing is seen the fingers may close."""
_DEEP = 0.075
"""Below it the hand is between walls to grasp."""
_WALL_ROOM = (0.045, 0.030)
"""From the outside of a wall to where the tool goes down beside it, along x and y."""
_IN_THE_MIDDLE = 0.02
"""Nearer to the middle between walls either side is an inner one."""
_GRASP_TIME, _RELEASE_TIME = 4, 4
"""Control steps that the fingers take."""


@dataclass(frozen=True)
class Scripted:
    """The config behind `conf/executor/scripted.yaml`."""

    horizon: int = 10
    """Actions of a chunk."""
    executed: int = 5
    """See `methods.executors.ExecutorConfig`."""

    def __post_init__(self) -> None:
        check_executed(self.executed)
        if self.horizon < max(self.executed, _RELEASE_TIME + 1):
            raise ValueError(
                f"horizon is {self.horizon}; it is at least `executed` ({self.executed}) and {_RELEASE_TIME + 1}, the "
                "time in which the fingers close"
            )

    def problems(self) -> list[Problem]:
        return []

    def open(self) -> ScriptedExecutor:
        return ScriptedExecutor(self.horizon)


class ScriptedExecutor:
    """See `methods.executors.Executor`."""

    name = "scripted"

    def __init__(self, horizon: int) -> None:
        self._horizon = horizon
        self.reset("")

    def reset(self, subtask: str) -> None:
        self._text = subtask
        self._command = parse(subtask)
        self._released = False

    def act(self, senses: Senses) -> Floats | Refusal:
        from methods.executors.motion import Planner
        from methods.executors.scene import Scene

        if self._command is None:
            return Refusal(
                "words",
                f"{self._text!r} is not understood; say `inspect X`, `pick up X from Y and place it to Z` or `go to rest`",
            )
        scene = Scene(senses)
        planner = Planner(scene.tool, scene.facing, senses.action_limits, self._horizon)
        if self._command.verb == "rest":
            return _rest(scene, planner, senses)
        if self._command.verb == "look":
            return _look(scene, planner, self._command.thing)
        return self._move(scene, planner, self._command)

    def close(self) -> None:
        """Nothing is open."""

    def _move(self, scene: Scene, planner: Planner, command: Command) -> Floats | Refusal:
        target = _place(scene, command.target) if command.target else None
        if isinstance(target, Refusal):
            return target
        if scene.holds_something:
            return self._carry(scene, planner, command, target)
        if scene.is_shut:
            return _missed(scene, planner)
        if self._released and target is not None:
            return _hover(scene, planner, target, LOOK)
        return _fetch(scene, planner, command, target)

    def _carry(
        self, scene: Scene, planner: Planner, command: Command, target: Item | None
    ) -> Floats | Refusal:
        from methods.executors.motion import CLOSED, nearest_yaw, yaw_of

        held = scene.held
        if held is not None and held.name not in matches(command.thing, scene.names):
            return Refusal("hand", f"the hand holds {held.name!r}, not {command.thing!r}; place that first")
        x, y, height = scene.tool
        yaw = nearest_yaw(_ACROSS, yaw_of(scene.facing), scene.tool)
        if target is None or (height < _LOW and not target.covers(scene.tool)):
            return planner.towards(np.array([x, y, CARRY]), yaw, CLOSED)
        let_go = max(target.upper[2] - _OVER_WALL, _OVER_FLAT) if target.has_walls else _OVER_FLAT
        if height < _LOW:
            # On its way down: where is settled, as the hand now hides what it is above.
            if height < let_go + 0.012:
                self._released = True
                return _opened(planner)
            return planner.towards(np.array([x, y, let_go]), yaw_of(scene.facing), CLOSED)
        spot = scene.free_spot(target, held.name if held else "")
        yaw = nearest_yaw(_ACROSS, yaw_of(scene.facing), np.append(spot, CARRY))
        above = np.append(spot, CARRY)
        if _is_above(scene, spot) and _aims(scene, yaw):
            return planner.towards(np.append(spot, let_go), yaw, CLOSED)
        return planner.towards(above, yaw, CLOSED)


def _fetch(scene: Scene, planner: Planner, command: Command, target: Item | None) -> Floats | Refusal:
    """With an empty hand: towards the thing, or to where it can be seen."""
    source = _place(scene, command.source) if command.source and not _is_table(command.source) else None
    if isinstance(source, Refusal):
        return source
    seen = [item for name in matches(command.thing, scene.names) if (item := scene.item(name)) is not None]
    there = [item for item in seen if target is not None and scene.lies_on(item, target)]
    left = [item for item in seen if item not in there]
    if source is not None:
        left = [item for item in left if scene.lies_on(item, source)]
    elif command.source:
        left = [item for item in left if scene.lies_on_table(item)]
    if len(left) > 1 and not all(_counted(item, command) for item in left):
        return Refusal(
            "ambiguous", f"{command.thing!r} can be {' or '.join(repr(item.name) for item in left)}"
        )
    if left:
        return _grasp(scene, planner, min(left, key=lambda item: _distance(scene, item)), source)
    if there and target is not None and not any(_counted(item, command) for item in there):
        return _hover(scene, planner, target, LOOK)
    if source is not None and source.has_walls and scene.tool[2] < _DEEP and source.covers(scene.tool):
        return _reach_on(scene, planner, source)
    if source is not None and source.has_walls and not _hovers(scene, source):
        return _hover(scene, planner, source, LOOK)
    if seen:
        where = f"not at {command.source!r}" if command.source else f"nowhere but at {command.target!r}"
        return Refusal("elsewhere", f"{command.thing!r} is seen, but {where}")
    place = f" in {command.source!r}" if source is not None else ""
    return Refusal("unseen", f"no camera sees {command.thing!r}{place}; they see {_listed(scene)}")


def _grasp(scene: Scene, planner: Planner, thing: Item, source: Item | None) -> Floats:
    from methods.executors.motion import OPEN, yaw_of

    x, y = thing.middle
    if source is not None and source.has_walls:
        # Fingers and palm have to fit between the thing and the walls.
        room = np.maximum(source.half - _WALL_ROOM, 0.0)
        x, y = np.clip(thing.middle, source.middle - room, source.middle + room)
    grasp = np.array([x, y, max(thing.upper[2] - _HALF_THING, 0.01) + _DEPTH])
    yaw = _grasping_yaw(scene, grasp, source)
    above, aside = scene.tool[2] - grasp[2], float(np.linalg.norm(scene.tool[:2] - grasp[:2]))
    if above < 0.008 and aside < _CLOSING:
        return _closed(planner)
    if scene.tool[2] < _LOW and aside > 0.02:
        return planner.towards(np.array([*scene.tool[:2], CARRY]), yaw_of(scene.facing), OPEN)
    if above < _STUCK and aside < _CLOSING:
        return _sidestep(scene, planner, thing)
    aligned = aside < _ALIGNED and _aims(scene, yaw)
    if scene.tool[2] < _LOW and aligned:
        return planner.towards(grasp, yaw, OPEN)
    if scene.tool[2] < _LOW or (aside < _NEAR and _aims(scene, yaw)):
        return planner.towards(np.array([x, y, grasp[2] + _ALIGNING]), yaw, OPEN)
    return planner.towards(np.array([x, y, CARRY]), yaw, OPEN)


def _sidestep(scene: Scene, planner: Planner, thing: Item) -> Floats:
    """The thing is not quite where it is seen: up, a little to either side along which the fingers open, and down again.
    The noise of the look decides on the side, so that the next attempt may take the other."""
    from methods.executors.motion import OPEN

    actions = planner.still(OPEN)
    aim = np.clip(thing.middle - scene.tool[:2], -_SIDESTEP, _SIDESTEP)
    actions[0, :3] = [*(aim / 2), 0.02]
    actions[1, :3] = [*(aim / 2), 0.0]
    actions[1, 0] += _SIDESTEP if len(thing.points) % 2 else -_SIDESTEP
    actions[2:5, 2] = -0.014
    return actions


def _grasping_yaw(scene: Scene, grasp: Floats, source: Item | None) -> float:
    """Between walls the camera has to be on the inner side, where no wall hides what is between the fingers."""
    from methods.executors.motion import nearest_yaw, possible, yaw_of

    if source is not None and source.has_walls:
        inwards = float(source.middle[1] - grasp[1])
        inner = float(np.copysign(_ACROSS, inwards))
        if abs(inwards) > _IN_THE_MIDDLE and possible(inner, grasp):
            return inner
    return nearest_yaw(_ACROSS, yaw_of(scene.facing), grasp)


def _closed(planner: Planner) -> Floats:
    """Close the fingers, then straight up."""
    from methods.executors.motion import CLOSED

    actions = planner.still(CLOSED)
    actions[_GRASP_TIME:, 2] = 0.02
    return actions


def _reach_on(scene: Scene, planner: Planner, source: Item) -> Floats:
    """Low between walls the hand hides what it reaches for: straight down, and close."""
    from methods.executors.motion import OPEN, yaw_of

    bottom = max(float(source.lower[2]), 0.0) + 0.006 + _HALF_THING + _DEPTH
    if scene.tool[2] < bottom + 0.008:
        return _closed(planner)
    return planner.towards(np.array([*scene.tool[:2], bottom]), yaw_of(scene.facing), OPEN)


def _look(scene: Scene, planner: Planner, name: str) -> Floats | Refusal:
    place = _place(scene, name)
    if isinstance(place, Refusal):
        return place
    return _hover(scene, planner, place, LOOK, yaw=0.0)


def _hover(scene: Scene, planner: Planner, place: Item, height: float, yaw: float | None = None) -> Floats:
    """Above the middle of a place; without a yaw the hand keeps its own."""
    from methods.executors.motion import CLOSED, OPEN, nearest_yaw, yaw_of

    fingers = CLOSED if scene.holds_something else OPEN
    turn = nearest_yaw(_ACROSS, yaw_of(scene.facing), scene.tool) if yaw is None else yaw
    if scene.tool[2] < LOOK - 0.035:
        return planner.towards(np.array([*scene.tool[:2], CARRY]), turn, fingers)
    return planner.towards(np.append(place.middle, height), turn, fingers)


def _rest(scene: Scene, planner: Planner, senses: Senses) -> Floats:
    from methods.executors.motion import CLOSED, OPEN, yaw_of

    fingers = CLOSED if scene.holds_something else OPEN
    if scene.tool[2] < LOOK - 0.035:
        return planner.towards(np.array([*scene.tool[:2], CARRY]), yaw_of(scene.facing), fingers)
    return planner.reach(senses.rest.position, senses.rest.quaternion, fingers)


def _opened(planner: Planner) -> Floats:
    """Let go, then straight up."""
    from methods.executors.motion import OPEN

    actions = planner.still(OPEN)
    actions[_RELEASE_TIME:, 2] = 0.02
    return actions


def _missed(scene: Scene, planner: Planner) -> Floats:
    """The fingers have met each other: up, and open where the thing can be seen again."""
    from methods.executors.motion import CLOSED, OPEN, yaw_of

    if scene.tool[2] < _LOW:
        return planner.towards(np.array([*scene.tool[:2], CARRY]), yaw_of(scene.facing), CLOSED)
    return planner.still(OPEN)


def _place(scene: Scene, name: str) -> Item | Refusal:
    """The one object that is meant."""
    if _is_table(name):
        return Refusal("words", f"where on the {name} is not clear; name something that stands on it")
    found = matches(name, scene.names)
    items = [item for each in found if (item := scene.item(each)) is not None]
    if len(items) == 1:
        return items[0]
    if items:
        return Refusal("ambiguous", f"{name!r} can be {' or '.join(repr(item.name) for item in items)}")
    return Refusal("unseen", f"no camera sees {name!r}; they see {_listed(scene)}")


def _listed(scene: Scene) -> str:
    return ", ".join(map(repr, scene.names)) or "nothing with a name"


def _is_table(name: str) -> bool:
    from methods.executors.scene import TABLE

    return name in TABLE


def _counted(item: Item, command: Command) -> bool:
    """Whether it is one of several of a kind, any of which will do."""
    name, _, number = plain(item.name).rpartition(" ")
    return name == command.thing and number.isdigit()


def _distance(scene: Scene, item: Item) -> float:
    return float(np.linalg.norm(item.middle - scene.tool[:2]))


def _is_above(scene: Scene, spot: Floats) -> bool:
    return bool(np.linalg.norm(scene.tool[:2] - spot) < 1.5 * _NEAR)


def _hovers(scene: Scene, place: Item) -> bool:
    """Whether the tool is where one looks into a place."""
    return bool(np.linalg.norm(scene.tool[:2] - place.middle) < 0.015 and abs(scene.tool[2] - LOOK) < 0.02)


def _aims(scene: Scene, yaw: float) -> bool:
    from methods.executors.motion import angle_off, down

    return angle_off(scene.facing, down(yaw)) < _AIMED
