"""Inverse kinematics of the arm by damped least squares, on a model of the robot alone.

Positions are in metres and the world frame, quaternions wxyz of the tool frame (see `robot`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from envs.mujoco.arm import TOOL

if TYPE_CHECKING:
    from envs.mujoco.setting import Setting
    from harness.protocols import Floats

POSITION_TOLERANCE = 5e-4
ANGLE_TOLERANCE = 5e-3
_DAMPING = 0.02
_ANGLE_WEIGHT = 0.4
"""Metres per radian: how an error in orientation counts against one in position."""
_RELAXED_WEIGHT = 0.02
_LARGEST_STEP = 0.25
_MARGIN = 0.02
"""Radians that solutions keep from the joint limits."""
_STARTS = 16
_ROLLS = (-2.4, -0.8, 0.8, 2.4)
RELAXED_ANGLE = 0.2
"""Radians by which an orientation may be missed where the joint limits leave no exact solution."""
_HOPELESS = 0.08


@dataclass(frozen=True)
class Solution:
    """Joint angles (n,) in radians and how far their tool pose is from the one asked for."""

    joints: Floats
    position_error: float
    angle_error: float

    @property
    def exact(self) -> bool:
        return self.position_error < 2 * POSITION_TOLERANCE and self.angle_error < 2 * ANGLE_TOLERANCE

    @property
    def usable(self) -> bool:
        return self.position_error < 2 * POSITION_TOLERANCE and self.angle_error < RELAXED_ANGLE


class Kinematics:
    """Where the tool is for given joints, and which joints bring it to a pose."""

    def __init__(self, setting: Setting) -> None:
        spec = mujoco.MjSpec()
        spec.compiler.degree = False
        arm = setting.arm
        arm.add_to(spec, setting.base, setting.base_yaw)
        self._model = spec.compile()
        self._data = mujoco.MjData(self._model)
        self._site = self._model.site(TOOL).id
        self.lower = np.array(arm.lower) + _MARGIN
        self.upper = np.array(arm.upper) - _MARGIN
        self._home = np.array(setting.home)
        self._shoulder = np.add(setting.base, arm.shoulder)
        self._reach = arm.reach
        self._count = len(arm.joints)
        self._jacobian = np.zeros((6, self._model.nv))
        generator = np.random.default_rng(0)
        spread = generator.uniform(-1, 1, (_STARTS, self._count)) * arm.spread
        self._starts = np.clip(self._home + spread, self.lower, self.upper)

    def pose(self, joints: Floats) -> tuple[Floats, Floats]:
        """Tool position (3,) and quaternion (4,) for joint angles (n,)."""
        self._forward(joints)
        quaternion = np.empty(4)
        mujoco.mju_mat2Quat(quaternion, self._data.site_xmat[self._site])
        return self._data.site_xpos[self._site].copy(), quaternion

    def solve(
        self,
        position: Floats,
        quaternion: Floats,
        start: Floats,
        iterations: int = 12,
        comfort: float = 0.02,
        angle_weight: float = _ANGLE_WEIGHT,
    ) -> Solution:
        """Where descent from `start` ends; `comfort` pulls the redundant joint towards home."""
        joints = np.clip(start, self.lower, self.upper)
        error = np.empty(6)
        for iteration in range(iterations + 1):
            self._forward(joints)
            off, turn = self._error(position, quaternion, error)
            error[3:] *= angle_weight
            if (off < POSITION_TOLERANCE and turn < ANGLE_TOLERANCE) or iteration == iterations:
                break
            joints = joints + self._step(joints, error, comfort, angle_weight)
            np.clip(joints, self.lower, self.upper, out=joints)
        return Solution(joints, off, turn)

    def reach(self, position: Floats, quaternion: Floats, start: Floats, iterations: int = 12) -> Solution:
        """As `solve`, and where that is not exact, once more with the orientation weighing little."""
        solution = self.solve(position, quaternion, start, iterations)
        if solution.exact or solution.position_error > _HOPELESS:
            return solution
        relaxed = self.solve(position, quaternion, solution.joints, iterations, angle_weight=_RELAXED_WEIGHT)
        return relaxed if relaxed.usable else solution

    def goals(self, position: Floats, quaternion: Floats, near: Floats) -> list[Floats]:
        """Joint angles that reach the pose, from several starts, in postures nearest to `near` first; perhaps none."""
        found: list[Floats] = []
        if np.linalg.norm(position - self._shoulder) > self._reach:
            return found
        rolled = [np.append(near[:-1], roll) for roll in _ROLLS]
        for start in (near, *rolled, self._home, *self._starts):
            solution = self.reach(position, quaternion, start, iterations=25)
            if solution.usable and all(np.abs(solution.joints - other).max() > 0.2 for other in found):
                found.append(solution.joints)
        return sorted(found, key=lambda joints: posture_change(near, joints) + self._tightness(joints))

    def _tightness(self, joints: Floats) -> float:
        """How close the joints are to their limits; a posture at a limit leads nowhere."""
        room = np.minimum(joints - self.lower, self.upper - joints)
        return float(4.0 * np.clip(0.25 - room, 0.0, None).sum())

    def _forward(self, joints: Floats) -> None:
        self._data.qpos[: self._count] = joints
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_comPos(self._model, self._data)

    def _error(self, position: Floats, quaternion: Floats, error: Floats) -> tuple[float, float]:
        """Fill `error` (6,) with the difference to the pose; returns metres and radians."""
        now, difference = np.empty(4), np.empty(4)
        mujoco.mju_mat2Quat(now, self._data.site_xmat[self._site])
        mujoco.mju_negQuat(now, now)
        mujoco.mju_mulQuat(difference, quaternion, now)
        error[:3] = position - self._data.site_xpos[self._site]
        mujoco.mju_quat2Vel(error[3:], difference, 1.0)
        off, turn = float(np.linalg.norm(error[:3])), float(np.linalg.norm(error[3:]))
        return off, turn

    def _step(self, joints: Floats, error: Floats, comfort: float, angle_weight: float) -> Floats:
        jacobian = self._jacobian
        mujoco.mj_jacSite(self._model, self._data, jacobian[:3], jacobian[3:], self._site)
        matrix = jacobian[:, : self._count].copy()
        matrix[3:] *= angle_weight
        step = _damped(matrix, error, comfort * (self._home - joints))
        stuck = ((joints <= self.lower) & (step < 0)) | ((joints >= self.upper) & (step > 0))
        if stuck.any():
            # Joints at their limit cannot help; the others have to find the way without them.
            matrix[:, stuck] = 0
            step = _damped(matrix, error, np.where(stuck, 0.0, comfort * (self._home - joints)))
            step[stuck] = 0
        largest = float(np.abs(step).max())
        return step * min(1.0, _LARGEST_STEP / largest) if largest > 0 else step


def posture_change(first: Floats, second: Floats) -> float:
    """How much the arm moves about between two joint angles; the last joint only rolls the hand."""
    change = np.abs(second - first)
    return float(change[:-1].max() + 0.2 * change[-1])


def _damped(matrix: Floats, error: Floats, rest: Floats) -> Floats:
    """Damped least-squares step for `error`, with `rest` in the null space."""
    square = matrix @ matrix.T + _DAMPING**2 * np.eye(6)
    solution: Floats = rest + matrix.T @ np.linalg.solve(square, error - matrix @ rest)
    return solution


def multiply(first: Floats, second: Floats) -> Floats:
    """Product of two quaternions wxyz."""
    product = np.empty(4)
    mujoco.mju_mulQuat(product, first, second)
    return product


def turned_by(quaternion: Floats, turn: Floats) -> Floats:
    """The orientation (4,) after a rotation vector (3,), in radians and world axes; of unit length."""
    result = multiply(_from_vector(turn), quaternion)
    return result / np.linalg.norm(result)


def _from_vector(turn: Floats) -> Floats:
    rotation = np.array([1.0, 0.0, 0.0, 0.0])
    angle = float(np.linalg.norm(turn))
    if angle > 0:
        mujoco.mju_axisAngle2Quat(rotation, turn / angle, angle)
    return rotation


def angle_between(first: Floats, second: Floats) -> float:
    """Angle of the turn from one orientation to the other, radians in 0..pi."""
    return float(2 * np.arccos(np.clip(abs(first @ second), 0.0, 1.0)))


def interpolate(first: Floats, second: Floats, part: float) -> Floats:
    """Orientation a `part` (0..1) of the shortest way from `first` to `second`."""
    if first @ second < 0:
        second = -second
    angle = float(np.arccos(np.clip(first @ second, -1.0, 1.0)))
    if angle < 1e-6:
        return second.copy()
    mixed: Floats = (np.sin((1 - part) * angle) * first + np.sin(part * angle) * second) / np.sin(angle)
    return mixed / np.linalg.norm(mixed)
