"""What a task of an embedded world is, and how the ones in a world's `tasks/` are found.

A task is one Python file in `tasks/` that ends with `TASK = SomeTask()`, or a family of tasks one that ends with
`TASKS = (...)`; nothing else has to be edited. Modules are imported by the parent process to list tasks, so they import neither mujoco nor numpy at the top: import them
inside the functions that need them, or under `TYPE_CHECKING`.

A worker builds each task's model once (`build`), then for every episode resets it and calls `place` with the
scene's generator, lets the scene settle, has the arm `prepare`d, calls `begin`, and from then on calls `after_step`, `success` and `failed` after every
physics step (4 ms); verdicts latch. A task object is shared by all episodes and keeps no state: what an episode
drew is in `world.variation` (words) and `world.memo` (anything else).

Geometry: metres, radians, world frame, z up; the world's `setting` says where the arm stands and what it reaches.
The Panda's gripper opens 8 cm, so what it is to grasp is at most 6 cm wide, light (up to 0.2 kg) and has friction of
0.5 or more. Contacts are the only forces: nothing is welded or attached to the gripper.

Geom groups: 0 to 2 are visible; sensors are geoms in `SENSOR_GROUP` with `contype=0, conaffinity=0, mass=0`
(`parts.sensor` makes one), invisible to cameras. Colours are plain `rgba`, which every renderer shows; no
textures. `parts` has short-hands for materials, free bodies, boxes and so on. Names of bodies and geoms of the
task must be unique and different from the robot's (`link0`.., `hand`, `left_finger`, `right_finger`, `pad_*`,
`tip_*`, `finger*`, `joint*`) and the scenery's.
"""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from harness.protocols import Task

if TYPE_CHECKING:
    import numpy as np

    from envs.mujoco.control import Controller
    from envs.mujoco.world import World

SENSOR_GROUP = 4


class EmbeddedTask(ABC):
    """One task. Subclasses set the class attributes and write `build`, `place` and `success`."""

    name: str
    """In snake case; also the module's name."""
    instructions: tuple[str, ...]
    """At least three wordings; the first is the single instruction. May hold fields in braces, for example
    `{colour}`, which the episode fills with what `place` returned."""
    step_limit: int
    """Control steps that a trial may take."""
    objects: ClassVar[Mapping[str, tuple[str, ...]]]
    """Exposed name, in ordinary words, to the bodies or geoms that it covers, in the order in which the scene
    lists them. A body stands for its geoms and those of the bodies below it; several names may share parts. An
    entry that names no body names a geom."""

    @abstractmethod
    def build(self, spec: Any) -> None:
        """Add the task's bodies to the `mujoco.MjSpec`, which holds robot and table already. Bodies that `place`
        moves are children of `spec.worldbody`, static or with a free joint. Angles in radians."""

    @abstractmethod
    def place(self, world: World, rng: np.random.Generator) -> Mapping[str, str]:
        """Lay out one scene with `world.put`, `world.spot`, `world.paint`; everything random comes from `rng`. Returns the
        words that fill the instruction's braces, often none.

        Raise `world.Crowded` (`world.spot` does) when a draw cannot work; the environment draws again, up to
        `world.PLACEMENT_ATTEMPTS` times, and then reports a `ResetError`. A layout in which `success` or `failed` holds
        after settling, or in which a free body has left the table, is drawn again as well."""

    def prepare(self, arm: Controller) -> None:
        """Bring the arm to where the scene starts, by its own motions; most scenes start with the arm at home. Raise
        `world.Crowded` when that did not work; the scene is drawn again."""
        return None

    def begin(self, world: World) -> None:
        """Note in `world.memo` what `success` compares with. Called when the scene has come to rest, and again
        after `prepare`."""
        return None

    @abstractmethod
    def success(self, world: World) -> bool:
        """Whether the goal holds now. Called after every physics step, so keep it cheap."""

    def failed(self, world: World) -> bool:
        """Whether a fail condition holds now."""
        return False

    def after_step(self, world: World) -> None:
        """The task's own mechanism, after every physics step: a lamp that goes dark, a cap that comes free. It
        must not touch the robot, and moves objects by physics only."""
        return None


class PandaTask(EmbeddedTask):
    """A task of a Panda, which takes 25 control steps a second."""

    step_limit = 2500


@cache
def discover(package_name: str) -> Mapping[str, EmbeddedTask]:
    """All tasks of a package by name, in the order of their file names.

    Raises `ImportError` when a module of it has no `TASK` or is named differently from its task."""
    package = importlib.import_module(package_name)
    found: dict[str, EmbeddedTask] = {}
    for module in sorted(pkgutil.iter_modules(package.__path__), key=lambda entry: entry.name):
        content = importlib.import_module(f"{package.__name__}.{module.name}")
        tasks = getattr(content, "TASKS", None) or (getattr(content, "TASK", None),)
        for task in tasks:
            if not isinstance(task, EmbeddedTask) or (len(tasks) == 1 and task.name != module.name):
                raise ImportError(
                    f"{package_name}.{module.name} must end with TASK, a task named {module.name!r}, or with TASKS"
                )
            found[task.name] = task
    return found


def as_suite(tasks: Mapping[str, EmbeddedTask], reword: Mapping[str, list[str]]) -> tuple[Task, ...]:
    """The tasks as the harness lists them. `reword` replaces a task's instructions by others."""
    return tuple(
        Task(task.name, tuple(reword.get(task.name, task.instructions)), task.step_limit)
        for task in tasks.values()
    )
