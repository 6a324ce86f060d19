"""A method and an environment that cost nothing, with faults on request: what is measured or broken is
the engine alone."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.episode import Episode
from harness.failures import GenerationFailure, ProviderError
from harness.protocols import Problem, Reset, Task, Verdict
from harness.records import EpisodeKey
from harness.seeding import Seeds, derive

if TYPE_CHECKING:
    from harness.protocols import Image
    from harness.trackers import Point, State, TrackedCell


@dataclass(frozen=True)
class NoopEnv:
    """`rate` of the scenes succeed, chosen by the seed tree."""

    tasks: list[str] | None = None
    scenes: int = 5
    instructions: str = "single"
    rate: float = 0.5
    size: int = 3
    """Number of tasks."""
    broken: str = ""
    """Task at which `open`, `hash` or a `problem` goes wrong."""

    def suite(self) -> Sequence[Task]:
        return [Task(f"task{i}", ("do nothing", "do not do anything"), 10) for i in range(self.size)]

    def interfaces(self) -> tuple[type, ...]:
        return (NoopSimulator,)

    def problems(self) -> list[Problem]:
        return [Problem("The simulator is missing", "Install it.")] if self.broken == "problem" else []

    def open(self) -> NoopSimulator:
        if self.broken == "open":
            raise RuntimeError("no simulator here")
        return NoopSimulator(self)


class NoopSimulator:
    """The open environment. `step` is all that can be done to it."""

    control_hz = 10.0
    on_control_step: Callable[[], None] | None = None

    def __init__(self, config: NoopEnv) -> None:
        self._config = config
        self._success = False
        self._resets = 0
        self._steps = 0

    def reset(self, task: str, scene: int, seeds: Seeds) -> Reset:
        self._resets += 1
        self._steps = 0
        draw = derive("noop", task, scene, seeds.cell_seed, seeds.trial) % 1000
        self._success = draw < 1000 * self._config.rate
        salt = self._resets if self._config.broken == "hash" else 0
        return Reset(f"{derive('state', seeds.env, task, scene, salt):016x}")

    def verdict(self) -> Verdict:
        return Verdict(self._success, holds=self._success, subtasks_done=int(self._success))

    def step(self) -> None:
        """One control step, in which nothing happens."""
        self._steps += 1
        if self.on_control_step is not None:
            self.on_control_step()

    def decide(self, success: bool) -> None:
        """Whether the trial succeeds, whatever the scene drew."""
        self._success = success

    def steps(self) -> int:
        return self._steps

    def cameras(self) -> Sequence[str]:
        return ("front",)

    def render(self, camera: str) -> Image:
        import numpy as np

        return np.zeros((64, 64, 3), dtype=np.uint8)

    def info(self) -> Mapping[str, str]:
        return {"simulator": "none"}

    def close(self) -> None:
        """Nothing to close."""


@dataclass(frozen=True)
class NoopMethod:
    """Plays trials without doing anything. `fault` names what goes wrong at `fault_task`."""

    trials: int = 1
    fault: str = ""
    fault_task: str = "task1"
    fault_once: str = ""
    """A file that makes the fault happen only while it does not exist yet."""
    seconds: float = 0.0
    steps: int = 0
    """Control steps in a trial."""
    one_by_one: bool = False
    """Play a cell's episodes from the last to the first, each after the one before, and note how many came before."""

    def requires(self) -> tuple[type, ...]:
        return (NoopSimulator,)

    def order(self, keys: Sequence[EpisodeKey], seed: int) -> Sequence[EpisodeKey] | None:
        return keys[::-1] if self.one_by_one else None

    def play(self, episode: Episode) -> None:
        env = episode.env
        assert isinstance(env, NoopSimulator)
        for _ in range(self.trials):
            with episode.trial() as trial:
                if self.one_by_one:
                    trial.record.facts["after"] = [row["episode"] for row in episode.history()]
                if self.seconds:
                    time.sleep(self.seconds)
                for _ in range(self.steps):
                    env.step()
                if self.fault and episode.key.task == self.fault_task and self._due():
                    self._break()
            if trial.success:
                return

    def _due(self) -> bool:
        if not self.fault_once:
            return True
        try:
            os.close(os.open(self.fault_once, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True

    def _break(self) -> None:
        if self.fault == "raise":
            raise RuntimeError("a bug of ours")
        if self.fault == "provider":
            raise ProviderError("the provider is down")
        if self.fault == "generation":
            raise GenerationFailure("the reply was empty")
        if self.fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.fault == "segfault":
            os.kill(os.getpid(), signal.SIGSEGV)
        if self.fault == "exit":
            os._exit(3)
        if self.fault == "memory":
            bytearray(1 << 62)
        if self.fault == "hang":
            time.sleep(3600)
        raise ValueError(f"unknown fault {self.fault!r}")


@dataclass(frozen=True)
class Coin:
    """A method that succeeds by chance alone: what it draws for an episode hangs on nothing that another coin draws."""

    rate: float = 0.5
    salt: int = 0
    """Another one draws anew."""
    slow: float = 0.0
    """Seconds that a success takes; a failure takes none."""

    def requires(self) -> tuple[type, ...]:
        return (NoopSimulator,)

    def play(self, episode: Episode) -> None:
        env, key = episode.env, episode.key
        assert isinstance(env, NoopSimulator)
        draw = derive("coin", self.salt, key.task, key.scene, key.instruction, episode.seeds.cell_seed)
        success = draw < self.rate * 2**63
        with episode.trial():
            env.decide(success)
            if success and self.slow:
                time.sleep(self.slow)


@dataclass(frozen=True)
class BrokenTracker:
    """Fails where it is said to: at `open`, `begin`, `add` or `end`; "problem" is one, "hang" waits for ever, "exit"
    ends the process."""

    fault: str = "open"
    patience: float = 20.0
    media: str = "none"

    def problems(self) -> list[Problem]:
        return [Problem("The package is missing", "pip install it")] if self.fault == "problem" else []

    def destination(self) -> str:
        return "a server that is down"

    def open(self, root: Path) -> BrokenTracker:
        self._reach("open")
        return self

    @property
    def address(self) -> str:
        return self.destination()

    def begin(self, cell: TrackedCell, code: str) -> int | None:
        self._reach("begin")
        return None

    def add(self, cell: TrackedCell, points: Sequence[Point]) -> None:
        self._reach("add")

    def end(
        self, cell: TrackedCell, newest: Sequence[Point], summary: Mapping[str, Any], state: State
    ) -> None:
        self._reach("end")

    def close(self) -> None:
        """Nothing to close."""

    def _reach(self, call: str) -> None:
        if self.fault == call:
            raise ConnectionError(f"no server for {call}()")
        if self.fault == "hang":
            time.sleep(3600)
        if self.fault == "exit":
            os._exit(3)
