"""The body of a dry run: the arm, the gripper and the table of `envs.ur5_sim` in MuJoCo, driven by joint angles, with one
camera. It moves nothing by itself: `controller` and `gripper` do."""

from __future__ import annotations

import dataclasses
import threading
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from envs.mujoco.cameras import Mount
from envs.mujoco.kinematics import Kinematics
from envs.mujoco.pictures import RayPictures
from envs.mujoco.setting import TIMESTEP
from envs.mujoco.task import discover
from envs.mujoco.world import World
from envs.robots.camera import Shot
from envs.robots.rotations import from_vector, multiply, rotate, to_vector
from envs.ur5.dry_run.travel import Unreachable
from envs.ur5_sim.setting import SETTING
from envs.ur5_sim.ur5 import TOOL_OFFSET

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from harness.protocols import Floats

    Frame = tuple[Floats, Floats]

CAMERA = Mount("camera", position=(1.05, 0.0, 0.85), target=(0.45, 0.0, 0.02), fovy=42)
WIDTH, HEIGHT = 320, 240
_REACH = 4.0
_BASE: Frame = np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])
"""The robot's own base frame in the world: turned by half a turn."""
_SITE: Frame = np.array([0.0, 0.0, TOOL_OFFSET]), np.array([1.0, 0.0, 0.0, 0.0])
"""The twin's own tool as its flange has it."""
_OFF = 0.03
"""The arm that is kept this far from where it should be has run into something, metres."""


class Twin:
    """Poses are the robot's own: of the tool's point in its base frame, in metres; quaternions are wxyz."""

    def __init__(self) -> None:
        self._setting = dataclasses.replace(SETTING, cameras=(CAMERA,))
        self._kinematics = Kinematics(self._setting)
        self._tasks = discover("envs.ur5_sim.tasks")
        self._worlds: dict[str, tuple[World, RayPictures]] = {}
        self._lag = np.array(self._setting.arm.lag)
        self._lock = threading.Lock()
        self.home = np.array(self._setting.home)
        self.tool = [0.0] * 6
        """From the flange to the tool's point."""
        self.finger = self.travel = self._setting.arm.finger_travel
        """Commanded travel of the fingers, and the longest, metres."""
        self.closed = self._setting.arm.closed
        self.lay_out(next(iter(self._tasks)), np.random.default_rng(0))

    def lay_out(self, task: str, generator: np.random.Generator) -> str:
        """Put up a scene, with the arm at home and its fingers open; returns its hash. Raises `ResetError`."""
        if task not in self._worlds:
            made = World(self._tasks[task], self._setting)
            self._worlds[task] = made, RayPictures(made.model, WIDTH, HEIGHT)
        world, pictures = self._worlds[task]
        with self._lock:
            world.reset(generator)
            world.begin()
            self._world, self._pictures = world, pictures
            self.finger = self.travel
            return world.state_hash()

    def verdict(self) -> tuple[bool, bool]:
        """Whether the task's goal holds now, and whether it ever did."""
        world = self._world
        return bool(world.task.success(world)), world.succeeded

    def step(self, joints: Floats, rate: Floats, period: float) -> None:
        """Physics for `period` seconds, while the servos are led to joint angles (6,) that change by `rate`."""
        with self._lock:
            self._world.command(joints + self._lag * rate, self.finger)
            for _ in range(round(period / TIMESTEP)):
                self._world.step()
            self._world.check_finite()

    @property
    def joints(self) -> Floats:
        return self._world.arm

    @property
    def joint_speed(self) -> Floats:
        return self._world.arm_speed

    @property
    def fingers(self) -> float:
        """Travel of the fingers, metres."""
        return float(self._world.fingers.mean())

    def blocked(self, joints: Floats) -> bool:
        """Whether something keeps the tool from where joint angles would have it."""
        wanted, _ = self._kinematics.pose(joints)
        return bool(np.linalg.norm(wanted - self._world.tool_position) > _OFF)

    def tool_at(self, joints: Floats) -> Frame:
        """Where joint angles (6,) have the tool's point."""
        return _compose(_inverse(_BASE), self._kinematics.pose(joints), _inverse(_SITE), as_frame(self.tool))

    def joints_for(self, frame: Frame, near: Floats) -> Floats:
        """Joint angles near others that bring the tool's point to a pose. Raises `Unreachable`."""
        solution = self._kinematics.solve(*self._site(frame), near, iterations=20)
        if not solution.exact:
            raise Unreachable("no posture near this one brings the tool there")
        return solution.joints

    def reaches(self, frame: Frame) -> bool:
        """Whether any posture brings the tool's point there."""
        return bool(self._kinematics.goals(*self._site(frame), self.joints))

    def shoot(self) -> tuple[Shot, Mapping[str, NDArray[np.bool_]]]:
        """A picture with depth, and the mask (H, W) of each thing in it."""
        world, pictures = self._world, self._pictures
        scratch = mujoco.MjData(world.model)
        with self._lock:
            mujoco.mj_copyData(scratch, world.model, world.data)
        mujoco.mj_forward(world.model, scratch)
        rgb, hits = pictures.view(scratch, CAMERA.name)
        geoms = hits.within(_REACH)
        depth = np.where(geoms >= 0, hits.depth, 0.0)
        focal = 0.5 * HEIGHT / np.tan(np.radians(CAMERA.fovy) / 2)
        # The middle of the picture, where pixels are counted by their own middles.
        shot = Shot(rgb, depth, (focal, focal), (WIDTH / 2 - 0.5, HEIGHT / 2 - 0.5))
        return shot, {name: np.isin(geoms, parts) for name, parts in world.parts.items()}

    def _site(self, frame: Frame) -> Frame:
        """Where the twin's own tool is in the world when the tool's point is there in the robot's base frame."""
        return _compose(_BASE, frame, _inverse(as_frame(self.tool)), _SITE)


def as_frame(pose: Sequence[float]) -> Frame:
    """A position (3,) and a quaternion (4,) wxyz of a pose with a rotation vector (6,)."""
    return np.array(pose[:3], dtype=np.float64), from_vector(np.array(pose[3:], dtype=np.float64))


def as_vector(frame: Frame) -> list[float]:
    """A pose with a rotation vector (6,)."""
    return [*frame[0].tolist(), *to_vector(frame[1]).tolist()]


def _compose(first: Frame, *others: Frame) -> Frame:
    position, quaternion = first
    for shift, turn in others:
        position, quaternion = position + rotate(quaternion, shift), multiply(quaternion, turn)
    return position, quaternion


def _inverse(frame: Frame) -> Frame:
    back = frame[1] * [1.0, -1.0, -1.0, -1.0]
    return -rotate(back, frame[0]), back
