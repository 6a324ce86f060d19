"""A real UR5 with a Robotiq gripper, for the MTP paper's experiment (section IV-C, Table IV): ur_rtde moves the arm, an
operator lays out the scenes, allows motions and judges.

Tasks, wordings, object names, few-shot files and frame are those of `envs.ur5_sim`, its twin. This module only describes
the environment, without importing a driver; `envs.ur5.environment` is the environment, docs/ur5.md how it is used."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from envs.mujoco.task import as_suite, discover
from envs.robots import maker
from envs.robots.limits import check_limit, check_workspace
from envs.robots.operator import terminal_problems
from harness.protocols import Manipulation, Problem, Task

if TYPE_CHECKING:
    from envs.ur5.environment import Ur5Environment

CAMERA = "camera"
"""The name of the one camera."""


@dataclass
class Operated:
    """What a run with an operator has, with a robot or with what plays one. World frame: on the table at the robot's foot, x
    ahead, y to its left."""

    tasks: list[str] | None = None
    scenes: int = 5
    instructions: str = "single"
    workspace: list[list[float]] = field(default_factory=lambda: [[0.25, -0.40, 0.0], [0.70, 0.40, 0.50]])
    """Lower and upper corner of what the tool's point may reach, metres."""
    speed_limit: float = 0.15
    """Of the tool, metres per second."""
    joint_speed_limit: float = 0.5
    """Radians per second."""
    acceleration: float = 0.3
    """Metres (or radians) per second squared."""
    confirm: Literal["trial", "motion"] = "trial"
    """Before what the operator is asked: each trial, or each motion as well."""
    oracle: Literal["operator"] = "operator"
    stop_folder: str | None = None
    """Where `python -m envs.robots.stop` leaves its word; null: the usual place."""

    def __post_init__(self) -> None:
        check_workspace(self.workspace)
        for name in ("speed_limit", "joint_speed_limit", "acceleration"):
            check_limit(name, getattr(self, name), 1.0)

    def suite(self) -> Sequence[Task]:
        return as_suite(discover("envs.ur5_sim.tasks"), {})

    def interfaces(self) -> tuple[type, ...]:
        return (Manipulation,)

    def cameras(self) -> Sequence[str]:
        return (CAMERA,)


@dataclass
class Ur5(Operated):
    """The config behind `conf/env/ur5.yaml`."""

    ip: str | None = None
    gripper_port: int = 63352
    dashboard_port: int = 29999
    base_turn: float = math.pi
    """The robot's own base frame is turned by this about z from the world's, radians."""
    tool: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.146, 0.0, 0.0, 0.0])
    """From the flange to the point between the pads: metres and a rotation vector. The fingers open along its y."""
    home: list[float] = field(default_factory=lambda: [-0.2762, -1.8069, 1.6896, -1.4535, -1.5708, -1.8470])
    """Joint angles, radians."""
    camera: str = "envs.robots.realsense.RealSense"
    """What makes an `envs.robots.camera.Camera`, see `envs.robots.maker`."""
    camera_pose: list[float] | None = None
    """Of the camera's optical frame (z ahead, x right, y down): xyz in metres and a quaternion wxyz."""
    detector: str | None = None
    """What makes an `envs.ur5.perception.Detector`."""

    def __post_init__(self) -> None:
        if len(self.tool) != 6 or len(self.home) != 6:
            raise ValueError("tool and home are six numbers each")
        super().__post_init__()
        if self.camera_pose is not None and len(self.camera_pose) != 7:
            raise ValueError("camera_pose is seven numbers: xyz and a quaternion wxyz")

    def problems(self) -> list[Problem]:
        found = package_problems()
        if self.ip is None:
            found.append(Problem("the robot's address is not known", "Set env.ip=ADDRESS"))
        if self.camera_pose is None:
            fix = "Calibrate it and set env.camera_pose=[x,y,z,w,x,y,z] (docs/ur5.md)"
            found.append(Problem("where the camera stands is not known", fix))
        if self.detector is None:
            fix = "Set env.detector=envs.ur5.langsam.LangSam or the path of a class of your own (docs/ur5.md)"
            found.append(Problem("nothing finds objects in the picture", fix))
        for key in ("camera", "detector"):
            path = getattr(self, key)
            if path is not None:
                try:
                    maker(path)
                except ImportError as error:
                    what = f"env.{key}={path} cannot be imported: {error}"
                    found.append(Problem(what, "Install what it needs, or name another"))
        return [*found, *terminal_problems()]

    def open(self) -> Ur5Environment:
        """Raises `SimulatorError` when the robot, the gripper or the terminal is not there."""
        from envs.ur5.environment import Ur5Environment

        assert self.detector is not None
        return Ur5Environment(self, maker(self.camera)(), maker(self.detector)())


def package_problems() -> list[Problem]:
    if importlib.util.find_spec("rtde_control") is None:
        return [Problem("the package ur_rtde is not installed", "pip install ur_rtde")]
    return []
