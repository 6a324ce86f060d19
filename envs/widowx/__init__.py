"""HiMe's robot: a real WidowX-250s with a parallel gripper, a third-person and a wrist camera, and an operator who lays out
scenes, speaks for the user, allows motions and judges.

Tasks, wordings, names and the frame are those of `envs.household`, its twin. This module only describes the environment,
without importing a driver or a simulator; `envs.widowx.environment` is the environment, docs/widowx.md how it is used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from envs.household import Household
from envs.robots import maker
from envs.robots.limits import check_limit, check_workspace
from envs.robots.operator import terminal_problems
from harness.protocols import Actuation, LongHorizon, Problem, Task

if TYPE_CHECKING:
    from envs.widowx.environment import WidowXEnvironment

CAMERAS = ("third_person", "wrist")
PORT = 5757
"""At which the arm's server listens."""


@dataclass
class Operated:
    """What a run has with the robot or with what plays it. World frame: the arm's base on the table, x ahead, y to its left."""

    tasks: list[str] | None = None
    scenes: int = 5
    instructions: str = "single"
    rounds: int | None = None
    """See `envs.household.Household`."""
    rename: dict[str, str] = field(default_factory=dict)
    """The tasks' own names for things to those that lie on your table and that the user says."""
    reword: dict[str, list[str]] = field(default_factory=dict)
    workspace: list[list[float]] = field(default_factory=lambda: [[0.05, -0.32, 0.01], [0.48, 0.32, 0.40]])
    """Lower and upper corner of what the tool's point may reach, metres."""
    speed_limit: float = 0.2
    """Of the tool, metres per second."""
    turn_limit: float = 1.2
    """Of the tool, radians per second."""
    joint_speed_limit: float = 2.0
    """Radians per second; a quarter of it on the way home."""
    stop_folder: str | None = None
    """Where `python -m envs.robots.stop` leaves its word; null: the usual place."""

    def __post_init__(self) -> None:
        check_workspace(self.workspace)
        check_limit("speed_limit", self.speed_limit, 1.0)
        for name in ("turn_limit", "joint_speed_limit"):
            check_limit(name, getattr(self, name), 3.0)

    def household(self) -> Household:
        """Whose tasks they are."""
        return Household(rounds=self.rounds, rename=self.rename, reword=self.reword)

    def suite(self) -> Sequence[Task]:
        return self.household().suite()

    def interfaces(self) -> tuple[type, ...]:
        return (Actuation, LongHorizon)

    def cameras(self) -> Sequence[str]:
        return CAMERAS


@dataclass
class WidowX(Operated):
    """The config behind `conf/env/widowx.yaml`."""

    address: str | None = None
    """HOST or HOST:PORT of `python -m envs.widowx.serve`."""
    third_person: str | None = None
    """What makes an `envs.robots.camera.Camera`, see `envs.robots.maker`; its depth is not used."""
    wrist: str | None = None
    confirm: Literal["trial", "motion"] = "trial"
    """Before what the operator is asked: each trial, or each second of motion as well."""
    oracle: Literal["operator"] = "operator"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.address is not None:
            parted(self.address)

    def problems(self) -> list[Problem]:
        found = []
        if self.address is None:
            fix = "Start `python -m envs.widowx.serve` on the robot's computer and set env.address=HOST:PORT"
            found.append(Problem("the arm's server is not known", fix))
        for name in CAMERAS:
            path = getattr(self, name)
            example = f"env.{name}=envs.robots.realsense.RealSense:SERIAL"
            if path is None:
                found.append(Problem(f"the {name} camera is not known", f"Set {example} (docs/widowx.md)"))
                continue
            try:
                maker(path)
            except ImportError as error:
                what = f"env.{name}={path} cannot be imported: {error}"
                found.append(Problem(what, "Install what it needs, or name another"))
        return [*found, *terminal_problems()]

    def open(self) -> WidowXEnvironment:
        """Raises `SimulatorError` when the arm's server, a camera or the terminal is not there."""
        from envs.widowx.environment import opened

        return opened(self)


def parted(address: str) -> tuple[str, int]:
    """Host and port. Raises `ValueError`."""
    host, _, port = address.partition(":")
    if not host or not (port or "0").isdigit():
        raise ValueError(f"address is {address!r}; it is HOST or HOST:PORT")
    return host, int(port or PORT)
