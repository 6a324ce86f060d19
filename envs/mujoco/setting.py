"""What differs between the embedded worlds: the arm, where it stands and rests, the room, the cameras, the words.
A world is a setting and a folder of tasks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envs.mujoco import panda
from envs.mujoco.arm import HAND, Arm
from envs.mujoco.cameras import Mount

Point = tuple[float, float, float]
TIMESTEP = 0.004
"""Seconds of a physics step."""
STEP_LIMITS = (0.02, 0.05)
"""The longest translation (metres) and the largest turn (radians) of one action: CALVIN's units of action."""


@dataclass(frozen=True)
class Setting:
    """Metres, radians, world frame, z up."""

    name: str
    base: Point
    """Where the arm stands."""
    base_yaw: float
    """The direction in which it faces, about z."""
    home: tuple[float, ...]
    """Joint angles (n,) after a reset."""
    workspace: tuple[Point, Point]
    """Lower and upper corner of what motions may reach and cameras report."""
    floor: float
    """A free object below this height has left the scene."""
    surface: str
    """The geom that the names of the surface stand for."""
    scenery: Callable[[Any], None]
    """Adds the room and the furniture to a `mujoco.MjSpec`."""
    cameras: tuple[Mount, ...]
    """Cameras that stand still."""
    wrist: Mount
    """The camera in the frame of the hand."""
    effector_names: tuple[str, ...]
    surface_names: tuple[str, ...]
    prompts: Path | None = None
    """Folder of the few-shot files, written in this world's conventions, where code-writing methods can use it."""
    arm: Arm = panda.ARM
    substeps: int = 10
    """Physics steps of a control step."""
    step_limits: tuple[float, float] = STEP_LIMITS
    """As `harness.protocols.Actuation.action_limits`."""
    pixels: int = 256
    """Height and width of RGB pictures."""

    @property
    def period(self) -> float:
        """Seconds of a control step."""
        return self.substeps * TIMESTEP

    @property
    def camera_names(self) -> tuple[str, ...]:
        return (*(mount.name for mount in self.cameras), self.wrist.name)

    def add_cameras(self, spec: Any) -> None:
        """Add all cameras to a spec that holds the arm."""
        for mount in self.cameras:
            mount.add_to(spec.worldbody)
        self.wrist.add_to(spec.body(HAND))
