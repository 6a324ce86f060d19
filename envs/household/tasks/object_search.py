"""Look into three boxes, find out what each is for, put things where they belong; later fetch what somebody likes,
after the user has exchanged things between two of the boxes.

Nothing but the wrist camera, from above, shows what is in a box. A box holds one thing of one sort. The instruction
says what somebody likes, and not again; at the end it lies in a box that may be another one than it was seen in.

In rounds (the paper's Table 10) it is looking and placing only, with all boxes filled anew before each round."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from envs.household import things
from envs.household.furniture import Box, Mat, hand, put_away
from envs.household.task import LOOKING, Clue, Condition, Goal, HouseholdTask, Stage, pick, shift

if TYPE_CHECKING:
    import numpy as np

    from envs.household.sight import Moment
    from envs.mujoco.world import World

SORTS: Mapping[str, str] = {"plush": "plush toys", "snack": "snacks", "wooden": "wooden toys"}
"""The first word of a thing's name, and how one speaks of its sort."""
THINGS = tuple(name for name in things.SHAPES if name.split()[0] in SORTS)
BOXES = tuple(
    Box(f"{side} box", half=(0.06, 0.06), height=0.09, colour=colour)
    for side, colour in (("left", "teal"), ("middle", "maroon"), ("right", "navy"))
)
TRAY = Mat("tray", half=(0.05, 0.05), colour="white", rim=True)
PEOPLE = ("Mira", "Jonas", "Alma", "Teo")
SLOT = 0.035
"""What the user lays into a box lies this far from its middle along y."""
_STEPS = 1450
"""The paper's Table 4, for six subtasks."""
_ROUND = 970
"""The same for the four of a round."""
_WORDS = (
    "I have exchanged what was in the {x} and in the {y}. {person} comes by soon: fetch something that {person} likes "
    "and put it on the tray.",
    "{person} will visit us. Please put something on the tray that {person} likes. By the way, the {x} and the {y} "
    "do not hold the same things any more.",
    "Put something on the tray for {person}, of the sort that {person} likes. Note that I have swapped things between "
    "the {x} and the {y}.",
)
_AGAIN = (
    "I have put other things into all the boxes. Look into each of them again and put the {thing} where it belongs.",
    "Now everything in the boxes is different. Inspect all three once more, then put the {thing} into the right one.",
    "The boxes have been filled anew. Find out again what belongs where, and put the {thing} away.",
)


class ObjectSearch(HouseholdTask):
    name = "object_search"
    objects: ClassVar = {
        **{box.name: (box.name,) for box in BOXES},
        TRAY.name: (TRAY.name,),
        **{thing: (thing,) for thing in THINGS},
    }

    def __init__(self, rounds: int = 0) -> None:
        """`rounds` of looking and placing; with 0 the task that ends with a preference."""
        self.rounds = rounds
        self.step_limit = rounds * _ROUND or _STEPS
        self.instructions = _ROUND_INSTRUCTIONS if rounds else _INSTRUCTIONS

    def in_rounds(self, rounds: int) -> ObjectSearch:
        return ObjectSearch(rounds)

    def build(self, spec: Any) -> None:
        for box in BOXES:
            box.add_to(spec)
        TRAY.add_to(spec)
        for thing in THINGS:
            things.add_thing(spec, thing)

    def tell(self, world: World, rng: np.random.Generator) -> tuple[Mapping[str, str], Sequence[Stage]]:
        for box, y in zip(BOXES, (-0.17, 0.0, 0.17), strict=True):
            world.put(box.name, 0.19 + shift(rng, 0.01), y + shift(rng, 0.01), 0.0)
        world.put(TRAY.name, 0.35 + shift(rng, 0.01), shift(rng, 0.02), 0.0)
        world.refresh()
        if self.rounds:
            return self._rounds(world, rng)
        layout = _Layout(rng)
        liked, *others = layout.sorts
        first, second = (layout.spare(sort) for sort in others)
        layout.lay_out(world, [first, second])
        person = pick(rng, PEOPLE)
        x, y = rng.permutation(len(BOXES))[:2].tolist()
        words = {"person": person, "liked": SORTS[liked], "first": first, "second": second}
        looking = (*_inspections(), *(_placing(layout, thing) for thing in (first, second)))
        fetching = _fetching(layout, liked, person, swapped=(x, y))
        said = pick(rng, _WORDS).format(x=BOXES[min(x, y)].name, y=BOXES[max(x, y)].name, person=person)
        return words, (
            Stage(looking, steps=_STEPS - _STEPS // 6),
            Stage((fetching,), steps=_STEPS, words=said, change=lambda world: layout.swap(world, x, y)),
        )

    def _rounds(self, world: World, rng: np.random.Generator) -> tuple[Mapping[str, str], Sequence[Stage]]:
        layouts = [_Layout(rng) for _ in range(self.rounds)]
        placed = [layout.spare(layout.sorts[0]) for layout in layouts]
        stages = []
        for number, (layout, thing) in enumerate(zip(layouts, placed, strict=True)):
            goals = (
                *_inspections(),
                _placing(layout, thing, number, layouts[number - 1] if number else None),
            )
            if number == 0:
                layout.lay_out(world, [thing])
                stages.append(Stage(goals, steps=_ROUND))
            else:
                said = pick(rng, _AGAIN).format(thing=thing)
                stages.append(Stage(goals, steps=_ROUND, words=said, change=_refill(layout, thing)))
        return {"first": placed[0]}, stages


class _Layout:
    """Which sort is in which box, and which thing of the sort."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.sorts: list[str] = rng.permutation(list(SORTS)).tolist()
        """In a random order."""
        self.boxes = dict(
            zip(self.sorts, (BOXES[i] for i in rng.permutation(len(BOXES)).tolist()), strict=True)
        )
        self._of_sort = {sort: rng.permutation(_things_of(sort)).tolist() for sort in self.sorts}
        self._sides = [int(side) for side in rng.choice((-1, 1), len(BOXES))]
        self._turns = rng.uniform(-0.3, 0.3, len(THINGS)).tolist()
        self._spots = [(0.35 + shift(rng, 0.015), side * 0.13 + shift(rng, 0.02)) for side in (-1, 1)]

    def inside(self, sort: str) -> str:
        """The thing that the sort's box holds."""
        return str(self._of_sort[sort][0])

    def spare(self, sort: str) -> str:
        """Another thing of the sort."""
        return str(self._of_sort[sort][1])

    def lay_out(self, world: World, on_table: Sequence[str]) -> None:
        put_away(world, THINGS)
        for sort, box in self.boxes.items():
            self._lay_into(world, box, self.inside(sort))
        for thing, (x, y) in zip(on_table, self._spots, strict=False):
            hand(world, thing, x, y, 0.0, self._turn(thing))

    def swap(self, world: World, x: int, y: int) -> None:
        """Exchange what two boxes held at first."""
        first, second = (self._first_in(BOXES[index]) for index in (x, y))
        put_away(world, (first, second))
        self._lay_into(world, BOXES[x], second)
        self._lay_into(world, BOXES[y], first)

    def _first_in(self, box: Box) -> str:
        return next(self.inside(sort) for sort, place in self.boxes.items() if place is box)

    def _lay_into(self, world: World, box: Box, thing: str) -> None:
        """At the side, or where there is room."""
        taken = [
            float(world.position(other)[1] - world.position(box.name)[1])
            for other in box.contents(world, THINGS)
        ]
        side = self._sides[BOXES.index(box)]
        slots = (side * SLOT, -side * SLOT)
        free = next((y for y in slots if all(abs(y - other) > 0.031 for other in taken)), 0.0)
        box.put(world, thing, 0.0, free, self._turn(thing) / 2)

    def _turn(self, thing: str) -> float:
        return float(self._turns[THINGS.index(thing)])


def _inspections() -> tuple[Goal, ...]:
    return tuple(Goal(f"inspect {box.name}", _inspected(box), steps=LOOKING) for box in BOXES)


def _inspected(box: Box) -> Condition:
    return lambda now: box.inspected(now, THINGS)


def _shows(box: Box, thing: str) -> Condition:
    return lambda now: box.shows(now, thing)


def _placing(layout: _Layout, thing: str, stage: int = 0, before: _Layout | None = None) -> Goal:
    """Put a thing where others of its sort are; it has to be known which box that is."""
    sort = thing.split()[0]
    box = layout.boxes[sort]
    outdated: tuple[Clue, ...] = ()
    if before is not None and before.boxes[sort] is not box:
        outdated = (_holds(before.boxes[sort], before.inside(sort), stage - 1),)
    return Goal(
        f"pick up {thing} from table and place it to {box.name}",
        lambda now: box.got(now, thing),
        clues=(_holds(box, layout.inside(sort), stage),),
        outdated=outdated,
    )


def _fetching(layout: _Layout, liked: str, person: str, swapped: tuple[int, int]) -> Goal:
    """Bring what somebody likes; it has to be known what that is and where it is now."""
    thing, before = layout.inside(liked), layout.boxes[liked]
    x, y = (BOXES[index] for index in swapped)
    box = y if before is x else x if before is y else before
    moved = box is not before
    return Goal(
        f"pick up {thing} from {box.name} and place it to {TRAY.name}",
        lambda now: _served(now, liked),
        clues=(Clue(person, "likes", SORTS[liked]), _holds(box, thing, int(moved))),
        outdated=(_holds(before, thing),) if moved else (),
    )


def _served(now: Moment, sort: str) -> bool:
    return any(TRAY.got(now, thing) for thing in _things_of(sort))


def _holds(box: Box, thing: str, stage: int = 0) -> Clue:
    return Clue(box.name, "holds", thing, _shows(box, thing), stage)


def _refill(layout: _Layout, thing: str) -> Callable[[World], None]:
    return lambda world: layout.lay_out(world, [thing])


def _things_of(sort: str) -> list[str]:
    return [thing for thing in THINGS if thing.split()[0] == sort]


_INSTRUCTIONS = (
    "{person} likes {liked}. Look into the left, the middle and the right box to find out what belongs into each, then "
    "put the {first} and the {second} into the boxes where they belong.",
    "Inspect all three boxes and see how they are sorted. Then put the {first} and the {second} away in the same "
    "manner. For later: {person} likes {liked}.",
    "Tidy up the {first} and the {second}: each goes into the box that has things of its sort, so look into the boxes "
    "first. Keep in mind that {person} likes {liked}.",
)
_ROUND_INSTRUCTIONS = (
    "Look into the left, the middle and the right box to find out what belongs into each, then put the {first} into "
    "the box where it belongs.",
    "Inspect all three boxes and see how they are sorted. Then put the {first} away in the same manner.",
    "Tidy up the {first}: it goes into the box that has things of its sort, so look into all the boxes first.",
)

TASK = ObjectSearch()
