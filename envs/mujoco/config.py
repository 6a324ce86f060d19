"""The config that the embedded worlds share. It describes a world without importing the simulator."""

from __future__ import annotations

import importlib.util
from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from envs.mujoco import gl
from envs.mujoco.task import EmbeddedTask, as_suite
from harness.components import suggest
from harness.failures import UsageError
from harness.protocols import Actuation, Manipulation, Problem, Task

if TYPE_CHECKING:
    from envs.mujoco.environment import EmbeddedEnvironment, ManipulationEnvironment
    from envs.mujoco.setting import Setting


@dataclass
class EmbeddedWorld:
    """Subclasses name their tasks and their setting."""

    tasks: list[str] | None = None
    scenes: int = 5
    instructions: str = "single"
    noise: float = 1.0
    """Factor on the sensors' noise; 0 makes runs repeatable to the bit."""
    renderer: str = "auto"
    """"egl", "osmesa", "rays" (needs no OpenGL), or "auto" for the first of these that works."""
    rename: dict[str, str] = field(default_factory=dict)
    """Other names for exposed objects: the task's own name to the one that the scene shows."""
    reword: dict[str, list[str]] = field(default_factory=dict)
    """Other instructions for a task, the single one first."""

    def __post_init__(self) -> None:
        if not 0 <= self.noise < float("inf"):
            raise ValueError(f"noise is {self.noise}; it is a factor of 0 (off) or more, 1 by default")
        if self.renderer not in gl.RENDERERS:
            raise ValueError(f"renderer is `{self.renderer}`; it can be {', '.join(gl.RENDERERS)}")

    @abstractmethod
    def definitions(self) -> Mapping[str, EmbeddedTask]:
        """The tasks, by name."""

    @abstractmethod
    def setting(self) -> Setting:
        """The world around them."""

    def suite(self) -> Sequence[Task]:
        """See `harness.protocols.EnvironmentConfig`. Raises `UsageError` for a `reword` of what there is not, or by nothing."""
        _refuse("env.reword", self.reword, self.rewordable())
        if empty := [name for name, instructions in self.reword.items() if not instructions]:
            raise UsageError(f"env.reword.{empty[0]} is empty; it lists instructions, the single one first.")
        return as_suite(self.definitions(), self.reword)

    def rewordable(self) -> Collection[str]:
        """Names of the tasks whose instructions `reword` may replace."""
        return self.definitions()

    def interfaces(self) -> tuple[type, ...]:
        return (Actuation,)

    def cameras(self) -> Sequence[str]:
        return self.setting().camera_names

    def problems(self) -> list[Problem]:
        missing = [name for name in ("mujoco", "numpy") if importlib.util.find_spec(name) is None]
        found = [Problem(f"the package {name} is not installed", f"pip install {name}") for name in missing]
        if not missing and self.renderer in gl.BACKENDS and not gl.works(self.renderer):
            what = f"renderer={self.renderer} cannot draw on this machine"
            found.append(Problem(what, f"{gl.FIXES[self.renderer]}, or set env.renderer=auto"))
        return found

    def parts(self) -> Mapping[str, list[Problem]]:
        """Who can draw images here."""
        if self.problems():
            return {}
        drawers: dict[str, list[Problem]] = {"renderer rays": []}
        for backend in gl.BACKENDS:
            problem = Problem(f"OpenGL by {backend} does not draw here", gl.FIXES[backend])
            drawers[f"renderer {backend}"] = [] if gl.works(backend) else [problem]
        return drawers

    @abstractmethod
    def open(self) -> EmbeddedEnvironment:
        """The live world."""


def _refuse(key: str, named: Iterable[str], known: Collection[str]) -> None:
    for name in named:
        if name not in known:
            raise UsageError(f"{key} names `{name}`, which is not here. {suggest(name, known)}")


@dataclass
class ManipulationWorld(EmbeddedWorld):
    """A world that code-writing methods can use, whatever its arm."""

    def suite(self) -> Sequence[Task]:
        """As `EmbeddedWorld.suite`; a `rename` of what no task has is refused, too."""
        objects = {name for task in self.definitions().values() for name in task.objects}
        _refuse("env.rename", self.rename, objects)
        return super().suite()

    def interfaces(self) -> tuple[type, ...]:
        return (Manipulation, Actuation)

    def kind(self) -> type[ManipulationEnvironment]:
        """What `open` gives; imports the simulator."""
        from envs.mujoco.environment import ManipulationEnvironment

        return ManipulationEnvironment

    def open(self) -> ManipulationEnvironment:
        return self.kind()(
            self.setting(),
            self.definitions(),
            self.suite(),
            noise=self.noise,
            renderer=self.renderer,
            rename=self.rename,
        )
