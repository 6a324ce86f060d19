"""What the operator needs of a scene: what to lay where, the subtasks, what the user says and changes on the way. Drawn up
by the household's own tasks, so that a scene of the robot's is laid out, worded and counted as one of its twin's.

It is read off a scene in MuJoCo that nobody sees and nothing moves in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from envs.household.setting import SETTING
from envs.household.task import Clue, stages_of, told
from envs.household.words import Wording
from envs.mujoco.world import World

if TYPE_CHECKING:
    from envs.household import Household
    from harness.protocols import Floats
    from harness.seeding import Seeds

_HIDDEN = -0.05
"""What is below this height lies where no camera sees it."""


@dataclass(frozen=True)
class Known:
    """A fact that a subtask takes."""

    subject: str
    relation: str
    value: str
    stage: int
    """The stage from which on it is so."""
    told: bool
    """Whether the user says it, or both cameras show it from the stage's start; else it shows when `subject` is
    inspected."""


@dataclass(frozen=True)
class Part:
    """A subtask."""

    text: str
    facts: tuple[Known, ...]
    outdated: tuple[Known, ...]


@dataclass(frozen=True)
class Stage:
    parts: tuple[Part, ...]
    steps: int
    """Control steps after which it ends undone."""
    words: str
    """What the user says when it begins; nothing for the first."""
    changes: tuple[str, ...]
    """What the user does before that."""


@dataclass(frozen=True)
class Sheet:
    variation: Mapping[str, str]
    """Words that fill the braces of the task's instructions."""
    layout: tuple[str, ...]
    """What stands and lies where, a line each."""
    stages: tuple[Stage, ...]


class Sheets:
    """Of one household."""

    def __init__(self, household: Household) -> None:
        self._definitions = household.definitions()
        self._put = Wording(household.rename).put
        self._worlds: dict[str, World] = {}

    def sheet(self, task: str, seeds: Seeds) -> Sheet:
        """Raises `ResetError`."""
        if task not in self._worlds:
            self._worlds[task] = World(self._definitions[task], SETTING)
        world, put = self._worlds[task], self._put
        world.reset(seeds.scene())
        variation = {key: put(word) for key, word in world.variation.items()}
        places = _places(world)
        layout = tuple(put(f"{name} {place}") for name, place in places.items())
        stages = []
        for stage in stages_of(world):
            stage.change(world)
            world.refresh()
            before, places = places, _places(world)
            moved = [f"{name} {place}" for name, place in places.items() if before.get(name) != place]
            gone = [f"{name} off the table" for name in before if name not in places]
            parts = tuple(
                Part(put(goal.text), self._known(goal.clues), self._known(goal.outdated))
                for goal in stage.goals
            )
            changes = tuple(map(put, (*gone, *moved)))
            stages.append(Stage(parts, stage.steps, put(stage.words), changes))
        return Sheet(variation, layout, tuple(stages))

    def _known(self, clues: tuple[Clue, ...]) -> tuple[Known, ...]:
        put = self._put
        return tuple(
            Known(put(clue.subject), clue.relation, put(clue.value), clue.stage, clue.shown is told)
            for clue in clues
        )


def _places(world: World) -> dict[str, str]:
    """Where each thing that can be seen is; x is ahead of the arm and y to its left."""
    model, data = world.model, world.data
    bodies = {name: int(model.geom_bodyid[geoms[0]]) for name, geoms in world.parts.items()}
    shown = {name: body for name, body in bodies.items() if data.xpos[body, 2] > _HIDDEN}
    owner = {body: name for name, body in shown.items()}
    places, standing = {}, []
    for name, body in shown.items():
        if model.body_jntnum[body]:
            continue  # it is carried about, and lies on what stands
        beneath = next((owner[other] for other in _ancestors(world, body) if other in owner), None)
        places[name] = f"on the {beneath}" if beneath else f"at {_spot(data.xpos[body])}"
        if not beneath:
            standing.append(name)
    for name, body in shown.items():
        if name not in places:
            around = next((other for other in standing if _covers(world, other, data.xpos[body])), None)
            places[name] = f"in or on the {around}" if around else f"on the table at {_spot(data.xpos[body])}"
    return places


def _ancestors(world: World, body: int) -> Iterator[int]:
    while body := int(world.model.body_parentid[body]):
        yield body


def _covers(world: World, name: str, position: Floats) -> bool:
    """Whether a place is within the outline of what stands; it stands straight."""
    geoms = list(world.parts[name])
    middles, halves = world.data.geom_xpos[geoms, :2], world.model.geom_size[geoms, :2]
    lower, upper = (middles - halves).min(axis=0), (middles + halves).max(axis=0)
    return bool(((position[:2] > lower) & (position[:2] < upper)).all())


def _spot(position: Floats) -> str:
    x, y = (round(100 * float(value)) for value in position[:2])
    return f"x {x}, y {y} cm"
