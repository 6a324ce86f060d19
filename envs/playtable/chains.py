"""Chains of five of the playtable's tasks, drawn so that each can be done in the state that those before it leave: what
CALVIN's sequences are to its single tasks, by rules of our own.

Here are the rules and the drawing; `envs.playtable.environment` gives the sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from envs.chain import INSTRUCTION, LENGTH, Progress, words
from envs.mujoco.task import EmbeddedTask
from envs.playtable import desk
from envs.playtable.task import PlaytableTask, body

if TYPE_CHECKING:
    import numpy as np

    from envs.mujoco.world import World

NAME = "chain"
_HAND, _TOWER, _ANYWHERE = "hand", "tower", "anywhere"
_PUSHED = 0.15
"""How far a pushed block may go, metres."""
_EDGES = (-0.30, 0.28)
"""Where a pushed block has to stay along x."""
_LANE = 0.065
"""A pushed block meets what lies nearer to its line than this, metres."""


@dataclass
class State:
    """What the rules know of the desk."""

    drawer_open: bool
    door: str
    """The half of the shelf that the door leaves open: left or right."""
    bulb: bool
    led: bool
    places: dict[str, str]
    """Of each block: desk, drawer, left or right (half of the shelf), hand, tower for the blocks that may be in one,
    or anywhere."""
    spots: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Where blocks lie on the desk, as far as that is known: x, y in metres."""

    def possible(self) -> Iterator[str]:
        """Names of the tasks that can be done."""
        held = [colour for colour, place in self.places.items() if place == _HAND]
        if held:
            yield "place_in_slider"
            yield from ["place_in_drawer"] * self.drawer_open
            yield from ["stack_block"] * ("desk" in self.places.values() and not self._tower())
            return
        yield "close_drawer" if self.drawer_open else "open_drawer"
        yield f"move_slider_{self.door}"  # onto the half that is open
        yield f"turn_{'off' if self.bulb else 'on'}_lightbulb"
        yield f"turn_{'off' if self.led else 'on'}_led"
        yield from ["unstack_block"] * self._tower()
        for colour, place in self.places.items():
            if place == "desk":
                yield f"lift_{colour}_block_table"
                yield f"rotate_{colour}_block_left"
                yield f"rotate_{colour}_block_right"
                yield from (
                    f"push_{colour}_block_{side}" for side in ("left", "right") if self._room(colour, side)
                )
            elif place == self.door:
                yield f"lift_{colour}_block_slider"
            elif place == "drawer" and self.drawer_open:
                yield f"lift_{colour}_block_drawer"

    def do(self, task: str) -> None:
        """What is so when a task of `possible` has been done."""
        verb, what, *rest = task.split("_")
        if what == "drawer":
            self.drawer_open = verb == "open"
        elif what == "slider":
            self.door = "left" if rest == ["right"] else "right"
        elif rest == ["lightbulb"]:
            self.bulb = what == "on"
        elif rest == ["led"]:
            self.led = what == "on"
        elif verb == "lift":
            self._put(what, _HAND)
        elif verb == "push":
            self.spots.pop(what, None)
        elif verb == "place":
            self._put(self._held(), "drawer" if rest == ["drawer"] else self.door)
        elif verb == "stack":
            # Which one it is put on is the robot's to choose.
            for colour in self.places:
                if self.places[colour] in (_HAND, "desk"):
                    self._put(colour, _TOWER)
        elif verb == "unstack":
            # One of the two may be in the gripper still.
            for colour in self.places:
                if self.places[colour] == _TOWER:
                    self._put(colour, _ANYWHERE)

    def _put(self, colour: str, place: str) -> None:
        self.places[colour] = place
        self.spots.pop(colour, None)

    def _held(self) -> str:
        return next(colour for colour, place in self.places.items() if place == _HAND)

    def _tower(self) -> bool:
        return _TOWER in self.places.values()

    def _room(self, colour: str, side: str) -> bool:
        """Whether the way of a push is free, as far as is known."""
        lying = {other for other, place in self.places.items() if place in ("desk", _TOWER, _ANYWHERE)}
        if not lying <= set(self.spots):
            return False
        x, y = self.spots[colour]
        end = x + (_PUSHED if side == "right" else -_PUSHED)
        obstacles = [desk.BUTTON, *(self.spots[other] for other in lying - {colour})]
        met = any(
            min(x, end) - _LANE < across < max(x, end) + _LANE and abs(along - y) < _LANE
            for across, along in obstacles
        )
        return _EDGES[0] < end < _EDGES[1] and not met


def draw(state: State, rng: np.random.Generator) -> tuple[str, ...]:
    """A chain from a state on, no task twice; the family of each is drawn first, so that there are not more rotations
    than drawers because there are more blocks."""
    chain: list[str] = []
    while len(chain) < LENGTH:
        families: dict[str, list[str]] = {}
        for task in state.possible():
            if task not in chain:
                families.setdefault(_family(task), []).append(task)
        names = list(families)
        options = families[names[int(rng.integers(len(names)))]]
        chain.append(options[int(rng.integers(len(options)))])
        state.do(chain[-1])
    return tuple(chain)


def _family(task: str) -> str:
    verb, what, *rest = task.split("_")
    if what in ("drawer", "slider"):
        return what
    return rest[0] if verb == "turn" else verb


class Chain(PlaytableTask):
    """All chains: a scene draws the desk and what is to be done on it."""

    def __init__(self, singles: Mapping[str, EmbeddedTask], sentences: Mapping[str, str]) -> None:
        """`singles` are the tasks that a chain is made of, `sentences` how each is asked for."""
        super().__init__(NAME, (INSTRUCTION,))
        self._singles, self.sentences = singles, sentences

    def place(self, world: World, rng: np.random.Generator) -> Mapping[str, str]:
        state = self._lay_out(world, rng)
        world.memo["progress"] = progress = Progress(draw(state, rng))
        return words(self.sentences[task] for task in progress.tasks)

    def begin(self, world: World) -> None:
        progress: Progress = world.memo["progress"]
        progress.asked = 0
        self._start(world, progress)

    def next_task(self, world: World) -> tuple[str | None, bool]:
        """As `Progress.next_task`; a task that is asked for now is judged from here on."""
        progress: Progress = world.memo["progress"]
        task, new = progress.next_task()
        if new:
            self._start(world, progress)
        return task, new

    def after_step(self, world: World) -> None:
        super().after_step(world)
        progress: Progress = world.memo["progress"]
        if not progress.waiting:
            progress.notice(self._singles[progress.tasks[progress.asked]].success(world))

    def success(self, world: World) -> bool:
        progress: Progress = world.memo["progress"]
        return progress.complete

    def _start(self, world: World, progress: Progress) -> None:
        before = progress.tasks[progress.asked - 1] if progress.asked else ""
        if before.startswith("lift"):
            world.memo["held"] = before.split("_")[1]
        task = self._singles[progress.tasks[progress.asked]]
        task.begin(world)
        progress.fresh = not task.success(world)

    def _lay_out(self, world: World, rng: np.random.Generator) -> State:
        """The usual scene, perhaps with a block on the shelf and one in the drawer."""
        desk.lay_out(world, rng)
        places = dict.fromkeys(desk.BLOCKS, "desk")
        order = rng.permutation(list(desk.BLOCKS)).tolist()
        if rng.integers(2):
            desk.put_on_shelf(world, rng, order[0])
            places[order[0]] = desk.open_half(world)
        if rng.integers(2):
            desk.put_in_drawer(world, rng, order[1])
            places[order[1]] = "drawer"
        world.refresh()
        lying = {colour: world.position(body(colour)) for colour, place in places.items() if place == "desk"}
        return State(
            drawer_open=world.joint("drawer") > desk.DRAWER_TRAVEL / 2,
            door=desk.open_half(world),
            bulb=desk.bulb(world),
            led=world.memo["led"],
            places=places,
            spots={colour: (float(at[0]), float(at[1])) for colour, at in lying.items()},
        )
