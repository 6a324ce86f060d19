"""What a household task is: stages that the user opens with words, and in each stage subtasks that physics decides.

A stage is over when all of its subtasks are done or its share of the steps is spent; what is left of it then cannot
be made up for. The user then waits until the hand is up and out of the way, changes the world (puts things into
boxes, takes things away; nothing else ever moves but by contact) and says the next stage's words.

A task is one Python file in `tasks/` that ends with `TASK = SomeTask()`; see `envs.mujoco.task` for how it is built
and laid out. `place` leaves the scene's stages in `world.memo` by `tell`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from envs.mujoco.task import EmbeddedTask

if TYPE_CHECKING:
    import numpy as np

    from envs.household.sight import Moment
    from envs.mujoco.world import World

_STAGES = "stages"
LOOKING = 5
"""Control steps for which one has to look at something to have inspected it."""


class Condition(Protocol):
    """A question about the world at one control step."""

    def __call__(self, now: Moment) -> bool: ...


def told(now: Moment) -> bool:
    """Of what the user has said, or what both cameras show from the start."""
    return True


@dataclass(frozen=True, eq=False)
class Clue:
    """A fact as a triple, and when it shows. It counts as known from the first control step of its stage at which
    `shown` holds."""

    subject: str
    relation: str
    value: str
    shown: Condition = told
    stage: int = 0
    """The stage from which on it can show."""


@dataclass(frozen=True, eq=False)
class Goal:
    """A subtask: its words, its predicate, what has to be remembered for it, and what was so once and leads astray."""

    text: str
    done: Condition
    clues: tuple[Clue, ...] = ()
    outdated: tuple[Clue, ...] = ()
    steps: int = 1
    """Control steps in a row for which `done` has to hold."""


def nothing(world: World) -> None:
    """A stage for which the user changes nothing."""


@dataclass(frozen=True, eq=False)
class Stage:
    goals: tuple[Goal, ...]
    steps: int
    """Control steps after which it ends undone."""
    words: str = ""
    """What the user says when it begins; nothing for the first, whose words are the instruction."""
    change: Callable[[World], None] = nothing
    """What the user does before that."""


class HouseholdTask(EmbeddedTask):
    """One task. Subclasses set the class attributes and write `build` and `tell`."""

    @abstractmethod
    def tell(self, world: World, rng: np.random.Generator) -> tuple[Mapping[str, str], Sequence[Stage]]:
        """Lay out one scene, as `place` does; returns the instruction's words and the stages."""

    def in_rounds(self, rounds: int) -> HouseholdTask:
        """The task in so many rounds, where it can be had in several."""
        return self

    def place(self, world: World, rng: np.random.Generator) -> Mapping[str, str]:
        words, stages = self.tell(world, rng)
        world.memo[_STAGES] = tuple(stages)
        return words

    def success(self, world: World) -> bool:
        """Whether all subtasks are done is for `progress` to say, which asks once a control step."""
        return False


def pick(rng: np.random.Generator, options: Sequence[str]) -> str:
    """One of them."""
    return options[int(rng.integers(len(options)))]


def shift(rng: np.random.Generator, most: float) -> float:
    """Up to so many metres or radians to either side."""
    return float(rng.uniform(-most, most))


def stages_of(world: World) -> tuple[Stage, ...]:
    """The stages of the scene that is up."""
    stages: tuple[Stage, ...] = world.memo[_STAGES]
    return stages
