"""Read a recipe card, put so many portions of each ingredient into a pot; later one more batch, to the taste of
somebody who likes another ingredient better.

The card stands with its face to the arm: the third-person camera sees its back, the wrist camera reads it from above.
What it says is drawn on it, a dot for each portion in the ingredient's colour. The preference is said at the
beginning only. A portion counts as long as nothing lies in the pot that does not belong there: what is too much or
of the wrong kind spoils the stage's batch, and nothing more of that stage can be done."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from envs.household import things
from envs.household.furniture import Box, Mat
from envs.household.task import LOOKING, Clue, Condition, Goal, HouseholdTask, Stage, pick, shift
from envs.mujoco import parts

if TYPE_CHECKING:
    import numpy as np

    from envs.household.sight import Moment
    from envs.mujoco.world import World

INGREDIENTS: Mapping[str, tuple[float, float, float]] = {
    "red beans": (0.75, 0.10, 0.10),
    "green peas": (0.25, 0.65, 0.15),
    "white rice": (0.97, 0.96, 0.92),
    "yellow corn": (0.96, 0.78, 0.10),
}
STOCK = 3
"""Portions on each plate."""
MOST = 2
"""Portions of an ingredient in a batch, at most."""
POT = Box("pot", half=(0.06, 0.06), height=0.085, colour="steel")
PLATES = tuple(
    Mat(f"{place} plate", half=(0.035, 0.055), colour="silver", rim=True)
    for place in ("first", "second", "third", "fourth")
)
CARD = "recipe card"
PEOPLE = ("Nora", "Emil", "Ruth", "Pavel")
_TILT = math.radians(40)
_SHEET = (0.062, 0.054)
_DOT = 0.014
_SPACING = 0.046
_LEAST_DOT = 4
"""Pixels of the wrist camera's 64 x 64 that show a dot when it can be read."""
_STEPS = 1200
"""The paper's Table 4, for seven subtasks."""
_BATCHES = {1: "one batch", 2: "two batches"}
_WORDS = (
    "{person} joins us. Please add one more batch, made to the taste of {person}.",
    "One more batch, please. It is for {person}, so take what {person} prefers.",
    "{person} will eat with us: put in another batch by the same recipe, but the way {person} wants it.",
)


def portions(ingredient: str) -> list[str]:
    """The names of its portions."""
    return [f"{ingredient} {number}" for number in range(1, STOCK + 1)]


def dots(ingredient: str) -> list[str]:
    """The names of its dots on the card."""
    return [f"picture of {ingredient} {number}" for number in range(1, MOST + 1)]


ALL = {portion: ingredient for ingredient in INGREDIENTS for portion in portions(ingredient)}


class Counting(HouseholdTask):
    name = "counting"
    step_limit = _STEPS
    instructions = (
        "{person} prefers {better} to {usual}. Read the recipe card and put the ingredients for {batches} into the "
        "pot.",
        "Cook by the recipe card: the pot needs what it says for {batches}. And keep in mind that {person} prefers "
        "{better} to {usual}.",
        "Look at the recipe card, then fill the pot for {batches}. You should know that {person} would rather have "
        "{better} than {usual}.",
    )
    objects: ClassVar = {
        POT.name: (POT.name,),
        CARD: ("card sheet",),
        **{plate.name: (plate.name,) for plate in PLATES},
        **{portion: (portion,) for portion in ALL},
        **{dot: (dot,) for ingredient in INGREDIENTS for dot in dots(ingredient)},
    }

    def build(self, spec: Any) -> None:
        POT.add_to(spec)
        for plate in PLATES:
            plate.add_to(spec)
        _add_card(spec)
        for portion, ingredient in ALL.items():
            things.add_portion(spec, portion, INGREDIENTS[ingredient])

    def tell(self, world: World, rng: np.random.Generator) -> tuple[Mapping[str, str], Sequence[Stage]]:
        world.put(POT.name, 0.19 + shift(rng, 0.01), 0.13 + shift(rng, 0.015), 0.0)
        world.put(CARD, 0.19 + shift(rng, 0.01), -0.15 + shift(rng, 0.015), 0.0)
        for plate, y in zip(PLATES, (-0.186, -0.062, 0.062, 0.186), strict=True):
            world.put(plate.name, 0.35 + shift(rng, 0.008), y + shift(rng, 0.003), 0.0)
        world.refresh()
        plates = dict(zip(rng.permutation(list(INGREDIENTS)).tolist(), PLATES, strict=True))
        for ingredient, plate in plates.items():
            for portion, y in zip(portions(ingredient), (-0.035, 0.0, 0.035), strict=True):
                plate.put(world, portion, shift(rng, 0.004), y, shift(rng, 0.12))
        base, usual, better, _ = rng.permutation(list(INGREDIENTS)).tolist()
        # Either way there are six portions to be put in.
        amount, batches = (1, 2) if rng.integers(2) else (2, 1)
        recipe = {base: 1, usual: amount}
        _write(world, recipe)
        person = pick(rng, PEOPLE)
        prefers = Clue(person, "prefers", f"{better} to {usual}")
        read = _reading(recipe)
        asks = {name: Clue(CARD, "asks for", f"{count} {name}", read) for name, count in recipe.items()}
        first, second = _Batch(recipe, batches), _Batch({base: 1, better: amount}, 1)
        goals = (
            Goal(f"inspect {CARD}", read, steps=LOOKING),
            *first.goals(plates, {base: (asks[base],), usual: (asks[usual],)}),
        )
        more = second.goals(plates, {base: (asks[base],), better: (asks[usual], prefers)})
        words = {"person": person, "better": better, "usual": usual, "batches": _BATCHES[batches]}
        return words, (
            Stage(goals, steps=_STEPS * len(goals) // (len(goals) + len(more))),
            Stage(more, steps=_STEPS, words=pick(rng, _WORDS).format(person=person), change=second.begin),
        )


class _Batch:
    """What has to get into the pot in one stage, beside what is there when it begins."""

    def __init__(self, recipe: Mapping[str, int], batches: int) -> None:
        self.wanted = Counter({name: count * batches for name, count in recipe.items()})
        self._batches, self._recipe = batches, recipe
        self._before: frozenset[str] = frozenset()

    def begin(self, world: World) -> None:
        """Nothing is moved: the pot keeps what it has."""
        self._before = frozenset(POT.contents(world, ALL))

    def goals(self, plates: Mapping[str, Mat], clues: Mapping[str, tuple[Clue, ...]]) -> tuple[Goal, ...]:
        """One for each portion, batch by batch."""
        found, counted = [], Counter[str]()
        for _ in range(self._batches):
            for name, count in self._recipe.items():
                for _ in range(count):
                    counted[name] += 1
                    text = f"pick up {name} from {plates[name].name} and place it to {POT.name}"
                    found.append(Goal(text, self._has(name, counted[name]), clues[name]))
        return tuple(found)

    def _has(self, ingredient: str, count: int) -> Condition:
        """Whether so many portions are in, and nothing that does not belong."""

        def holds(now: Moment) -> bool:
            added = [name for name in POT.contents(now.world, ALL) if name not in self._before]
            counted = Counter(ALL[name] for name in added)
            if counted[ingredient] < count or counted - self.wanted:
                return False
            return all(now.resting(name) for name in added if ALL[name] == ingredient)

        return holds


def _reading(recipe: Mapping[str, int]) -> Condition:
    """Whether the wrist camera sees every dot of the card."""
    drawn = [dot for name, count in recipe.items() for dot in dots(name)[:count]]

    def read(now: Moment) -> bool:
        return now.above(CARD, within=0.07) and all(now.pixels(dot) >= _LEAST_DOT for dot in drawn)

    return read


def _write(world: World, recipe: Mapping[str, int]) -> None:
    """Bring the dots of a recipe onto the card, a row for each ingredient; the others lie below the table."""
    rows = {name: row for row, name in enumerate(recipe)}
    for name in INGREDIENTS:
        for number, dot in enumerate(dots(name)):
            count = recipe.get(name, 0)
            x, y = (0.5 - rows.get(name, 0)) * _SPACING * 1.15, (number - (count - 1) / 2) * _SPACING
            world.model.body(dot).pos[:] = (x, y, 0.0025) if number < count else (0, 0, -0.2)


def _add_card(spec: Any) -> None:
    """A stand whose sheet leans towards the arm; on the sheet a body for each dot that there can be."""
    stand = parts.fixed_body(spec, CARD)
    long, wide = _SHEET
    lean = [math.cos(_TILT / 2), 0, -math.sin(_TILT / 2), 0]
    sheet = stand.add_body(name="card sheet", pos=[0, 0, long * math.sin(_TILT) + 0.003], quat=lean)
    parts.box(sheet, (0, 0, 0), (long, wide, 0.002), rgba=[0.58, 0.70, 0.82, 1])
    for side in (-1, 1):
        parts.box(stand, (0.03, side * 0.03, 0.022), (0.004, 0.004, 0.022), "dark wood")
    for name, colour in INGREDIENTS.items():
        for dot in dots(name):
            body = sheet.add_body(name=dot)
            drawn: dict[str, Any] = {"contype": 0, "conaffinity": 0, "mass": 0}
            parts.cylinder(body, (0, 0, 0), (0, 0, 0.0004), _DOT + 0.0018, "black", **drawn)
            parts.cylinder(body, (0, 0, 0.0004), (0, 0, 0.0008), _DOT, rgba=[*colour, 1], **drawn)


TASK = Counting()
