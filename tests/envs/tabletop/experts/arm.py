"""What an expert is handed: the motion interface that methods have, with short names, and the true state.

An expert file `<task>.py` in this folder defines `solve(arm, kit)`, where `kit` is this module. It may read true poses from `arm.world`; it acts
only through `go`, `open`, `close` and `home`, which are `Manipulation`'s own motions."""

from __future__ import annotations

import numpy as np

from harness.protocols import Motion, Pose


class Arm:
    def __init__(self, env):
        self._env = env
        self.world = env.world

    @property
    def position(self):
        return self._env.pose().position

    @property
    def quaternion(self):
        return self._env.pose().quaternion

    def go(self, position, quaternion=None, speed: float = 1.0) -> Motion:
        """Straight to a position; keeps the orientation when none is given."""
        target = self.quaternion if quaternion is None else quaternion
        return self._env.move(Pose(np.asarray(position, float), np.asarray(target, float)), speed)

    def open(self) -> Motion:
        return self._env.set_gripper(1.0)

    def close(self) -> Motion:
        return self._env.set_gripper(0.0)

    def home(self) -> Motion:
        return self._env.home()

    def succeeded(self) -> bool:
        return self._env.verdict().success


def up(height: float):
    """(3,), `height` metres along z."""
    return np.array([0.0, 0.0, height])


def down(yaw: float = 0.0):
    """Gripper straight down, its fingers opening along the horizontal direction `yaw` + 90 degrees."""
    return np.array([0.0, np.cos(yaw / 2), np.sin(yaw / 2), 0.0])


def nearest(yaw: float) -> float:
    """The same opening direction by half turns, with the least turn from home."""
    return (yaw + np.pi / 2) % np.pi - np.pi / 2


def facing(approach, opening):
    """Tool z along `approach`, fingers opening along `opening` as far as it is perpendicular."""
    z = np.asarray(approach, float) / np.linalg.norm(approach)
    y = np.asarray(opening, float)
    y = y - z * (y @ z)
    y /= np.linalg.norm(y)
    matrix = np.stack([np.cross(y, z), y, z], axis=1)
    import mujoco

    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, matrix.ravel())
    return quaternion


def yaw_of(rotation) -> float:
    """Yaw of a body's x axis, radians."""
    return float(np.arctan2(rotation[1, 0], rotation[0, 0]))
