"""The arm through ur_rtde: poses in the world frame in and out, motions that are started, watched and stopped. What may
be commanded is for `envs.ur5.motion` to say.

ur_rtde answers with the last state that it has heard, for ever, and waits for ever when it is told something and the
robot has gone: nothing is told before it is known that the robot still speaks."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import numpy as np

from envs.robots import stop
from envs.robots.rotations import from_vector, multiply, rotate, to_vector
from harness.failures import SimulatorError
from harness.protocols import Pose

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from harness.protocols import Floats

_STOPPING = 2.0
"""Metres (or radians) per second squared when it is stopped."""
_SILENCE = 0.5
"""Seconds without a word from a robot that speaks 125 times a second, after which it is lost."""
_SETTLING = 0.05
"""Seconds after which both of its connections tell the same."""
_PARTING = 3.0
"""Seconds that the end of a connection to a lost robot may take."""
_BEGINNING = 3.0
"""Seconds that a motion or a program may take to begin."""


class Robot:
    """Raises `SimulatorError` when the arm cannot be reached."""

    def __init__(self, host: str, dashboard_port: int, base_turn: float, tool: Sequence[float]) -> None:
        import rtde_control  # type: ignore[import-not-found, unused-ignore]
        import rtde_receive  # type: ignore[import-not-found, unused-ignore]

        self._host, self._dashboard_port, self._tool = host, dashboard_port, list(tool)
        self._turn = np.array([np.cos(base_turn / 2), 0.0, 0.0, np.sin(base_turn / 2)])
        try:
            self._state = rtde_receive.RTDEReceiveInterface(host)
            self._control = rtde_control.RTDEControlInterface(host)
        except RuntimeError as error:
            raise SimulatorError(
                f"the UR5 at {host} cannot be driven: {error}. Is it on, its brakes released, and set to remote control?"
            ) from error
        self._word, self._heard_at = self._state.getTimestamp(), time.monotonic()
        self._set_tool()

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
        self._require()
        return bool(self._control.isPoseWithinSafetyLimits(self._reported(pose)))

    def start_line(self, pose: Pose, speed: float, acceleration: float) -> None:
        """Begin a straight line of the tool: metres per second, and per second squared."""
        reported = self._reported(pose)
        self._start(lambda: self._control.moveL(reported, speed, acceleration, True))

    def start_joints(self, joints: Sequence[float], speed: float, acceleration: float) -> None:
        """Begin a motion through joint space: radians per second, and per second squared."""
        self._start(lambda: self._control.moveJ(list(joints), speed, acceleration, True))

    def moving(self) -> bool:
        """Whether what was started still runs."""
        return bool(self._control.getAsyncOperationProgressEx().isAsyncOperationRunning())

    def stop(self) -> None:
        """Slow down to a halt; a robot whose program was ended has done so itself. One that is lost is told by its
        dashboard server, and if that does not hear either, `SimulatorError` says so."""
        if self.connected():
            if self._control.isProgramRunning():
                self._control.stopL(_STOPPING)
            return
        try:
            stop.tell(self._host, self._dashboard_port)
        except OSError as error:
            raise SimulatorError(f"the UR5 at {self._host} could not be told to stop: {error}") from error

    def connected(self) -> bool:
        """Whether the robot is there and speaks."""
        if not self._state.isConnected() or not self._control.isConnected():
            return False
        word, now = self._state.getTimestamp(), time.monotonic()
        if word != self._word:
            self._word, self._heard_at = word, now
            return True
        if now - self._heard_at <= _SILENCE:
            return True
        # Nobody may have listened for a while.
        time.sleep(_SILENCE / 5)
        return bool(self._state.getTimestamp() != word)

    def halted(self) -> str:
        """Why the robot does not do as it is told, as a sentence's end; empty when it does."""
        if not self.connected():
            return "has lost its connection; it may still be moving"
        if self._state.isEmergencyStopped():
            return "does not move: its emergency stop is pressed"
        if self._control.isProgramRunning() or self.protected():
            return ""
        # State and program come by two connections: what ended the program may not be known yet.
        time.sleep(_SETTLING)
        if self._state.isEmergencyStopped():
            return "does not move: its emergency stop is pressed"
        return "" if self.protected() else "does not move: its program was ended"

    def protected(self) -> bool:
        """Whether it is in a protective stop: it ran into something, or its joints could not follow."""
        return bool(self._state.isProtectiveStopped())

    def resume(self) -> None:
        """After a stop. Raises `SimulatorError` when it holds."""
        self._require()
        if self._state.isEmergencyStopped():
            raise SimulatorError("the UR5's emergency stop is pressed; release it and run again")
        if self.protected():
            raise SimulatorError(
                "the UR5 is still in its protective stop; unlock it on the pendant and run again"
            )
        if not self._control.isProgramRunning():
            self._control.reuploadScript()
            self._wait(self._control.isProgramRunning, "did not start its program again")
            self._set_tool()

    def close(self) -> None:
        if self.connected():
            self._control.stopScript()
            self._disconnect()
        else:
            # ur_rtde goes on connecting again to a robot that is lost, and does not return until it has.
            parting = threading.Thread(target=self._disconnect, daemon=True)
            parting.start()
            parting.join(_PARTING)

    def _disconnect(self) -> None:
        self._control.disconnect()
        self._state.disconnect()

    def _start(self, command: Callable[[], bool]) -> None:
        self._require()
        before = self._control.getAsyncOperationProgressEx().operationId()
        if not command():
            why = "is in a protective stop; unlock it on the pendant" if self.protected() else self.halted()
            raise SimulatorError(f"the UR5 {why or 'did not take the motion'}")
        # It takes a command before it says that what was commanded runs: until then, all looks as if it had ended.
        self._wait(
            lambda: self._control.getAsyncOperationProgressEx().operationId() != before or self.protected(),
            "took the motion and did not begin it",
        )

    def _set_tool(self) -> None:
        if not self._control.setTcp(self._tool):
            raise SimulatorError(f"the UR5 at {self._host} did not take the tool {self._tool}")

    def _wait(self, happened: Callable[[], bool], otherwise: str) -> None:
        end = time.monotonic() + _BEGINNING
        while not happened():
            if time.monotonic() > end:
                raise SimulatorError(f"the UR5 {self.halted() or otherwise}")
            time.sleep(0.002)

    def _require(self) -> None:
        if not self.connected():
            raise SimulatorError(f"the UR5 {self.halted()}")

    def _reported(self, pose: Pose) -> list[float]:
        """As the robot says it: own base frame, metres and a rotation vector."""
        back = self._turn * np.array([1.0, -1.0, -1.0, -1.0])
        vector = to_vector(multiply(back, pose.quaternion))
        return [float(number) for number in (*rotate(back, pose.position), *vector)]
