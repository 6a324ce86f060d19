"""The arm through ur_rtde: poses in the world frame in and out, motions that are started, watched and stopped. What may
be commanded is for `envs.ur5.motion` to say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from harness.failures import SimulatorError
from harness.protocols import Pose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.protocols import Floats

_STOPPING = 2.0
"""Metres (or radians) per second squared when it is stopped."""


class Robot:
    """Raises `SimulatorError` when the arm cannot be reached."""

    def __init__(self, host: str, base_turn: float, tool: Sequence[float]) -> None:
        import rtde_control  # type: ignore[import-not-found, unused-ignore]
        import rtde_receive  # type: ignore[import-not-found, unused-ignore]

        self._turn = np.array([np.cos(base_turn / 2), 0.0, 0.0, np.sin(base_turn / 2)])
        try:
            self._state = rtde_receive.RTDEReceiveInterface(host)
            self._control = rtde_control.RTDEControlInterface(host)
        except RuntimeError as error:
            raise SimulatorError(
                f"the UR5 at {host} cannot be driven: {error}. Is it on, its brakes released, and set to remote control?"
            ) from error
        if not self._control.setTcp(list(tool)):
            raise SimulatorError(f"the UR5 at {host} did not take the tool {list(tool)}")

    def pose(self) -> Pose:
        """Where the tool is."""
        reported = np.array(self._state.getActualTCPPose())
        quaternion = multiply(self._turn, from_vector(reported[3:]))
        return Pose(rotate(self._turn, reported[:3]), quaternion)

    def joints(self) -> Floats:
        """Joint angles (6,), radians."""
        return np.array(self._state.getActualQ())

    def reaches(self, pose: Pose) -> bool:
        """Whether some posture brings the tool there, within the safety limits that the robot was set up with."""
        return bool(self._control.isPoseWithinSafetyLimits(self._reported(pose)))

    def start_line(self, pose: Pose, speed: float, acceleration: float) -> None:
        """Begin a straight line of the tool: metres per second, and per second squared."""
        self._control.moveL(self._reported(pose), speed, acceleration, True)

    def start_joints(self, joints: Sequence[float], speed: float, acceleration: float) -> None:
        """Begin a motion through joint space: radians per second, and per second squared."""
        self._control.moveJ(list(joints), speed, acceleration, True)

    def moving(self) -> bool:
        """Whether what was started still runs."""
        return bool(self._control.getAsyncOperationProgressEx().isAsyncOperationRunning())

    def stop(self) -> None:
        """Slow down to a halt; a robot whose program was ended has done so itself."""
        if self._control.isProgramRunning():
            self._control.stopL(_STOPPING)

    def halted(self) -> str:
        """Why the robot itself refuses to move; empty when it does not."""
        if self._state.isEmergencyStopped():
            return "its emergency stop is pressed"
        if not self._state.isConnected() or not self._control.isConnected():
            return "its connection is lost"
        if not self._control.isProgramRunning() and not self._state.isProtectiveStopped():
            return "its program was ended"
        return ""

    def protected(self) -> bool:
        """Whether it stopped itself because it ran into something."""
        return bool(self._state.isProtectiveStopped())

    def resume(self) -> None:
        """After a stop of its own that was unlocked on the pendant. Raises `SimulatorError` when that did not help."""
        if self.protected() or not self._control.reuploadScript():
            raise SimulatorError(
                "the UR5 is still in its protective stop; unlock it on the pendant and run again"
            )

    def close(self) -> None:
        self._control.stopScript()
        self._control.disconnect()
        self._state.disconnect()

    def _reported(self, pose: Pose) -> list[float]:
        """As the robot says it: own base frame, metres and a rotation vector."""
        back = self._turn * np.array([1.0, -1.0, -1.0, -1.0])
        vector = to_vector(multiply(back, pose.quaternion))
        return [float(number) for number in (*rotate(back, pose.position), *vector)]


def multiply(first: Floats, second: Floats) -> Floats:
    """Product of two quaternions wxyz."""
    w, v = first[0], first[1:]
    return np.array(
        [w * second[0] - v @ second[1:], *(w * second[1:] + second[0] * v + np.cross(v, second[1:]))]
    )


def rotate(quaternion: Floats, vector: Floats) -> Floats:
    """A vector (3,) turned by a unit quaternion wxyz."""
    turned = 2.0 * np.cross(quaternion[1:], vector)
    result: Floats = vector + quaternion[0] * turned + np.cross(quaternion[1:], turned)
    return result


def from_vector(vector: Floats) -> Floats:
    """Quaternion wxyz of a rotation vector, radians."""
    angle = float(np.linalg.norm(vector))
    # sinc is that of pi x.
    return np.array([np.cos(angle / 2), *(vector * 0.5 * np.sinc(angle / (2 * np.pi)))])


def to_vector(quaternion: Floats) -> Floats:
    """Rotation vector of a unit quaternion, at most pi long."""
    w, v = (quaternion[0], quaternion[1:]) if quaternion[0] >= 0 else (-quaternion[0], -quaternion[1:])
    length = float(np.linalg.norm(v))
    result: Floats = v * (2.0 * np.arctan2(length, w) / length if length > 1e-12 else 2.0)
    return result
