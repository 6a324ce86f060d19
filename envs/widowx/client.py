"""A run's side of the wire to `envs.widowx.serve`."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

import numpy as np

from envs.widowx import wire
from harness.failures import SimulatorError
from harness.protocols import Pose

if TYPE_CHECKING:
    from envs.widowx.guard import Limits, State
    from harness.protocols import Floats

_PATIENCE = 10.0
"""Seconds that an answer may take; a control step is a tenth of one."""


class RemoteArm:
    """Raises `SimulatorError` when the server cannot be reached, does not let us drive, or has gone."""

    def __init__(self, host: str, port: int, limits: Limits) -> None:
        self._where = f"the arm's server at {host}:{port}"
        try:
            self._socket = socket.create_connection((host, port), timeout=_PATIENCE)
        except OSError as error:
            raise SimulatorError(
                f"{self._where} cannot be reached: {error}. Start `python -m envs.widowx.serve` on the robot's computer, "
                "or set env.address"
            ) from error
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._lines = self._socket.makefile("r", encoding="utf-8", errors="replace")
        try:
            greeting = self._line()
            if not greeting.startswith(wire.GREETING):
                raise SimulatorError(
                    f"at {host}:{port} something greets with {greeting!r}, no {wire.GREETING}"
                )
            self.name = greeting.removeprefix(wire.GREETING).strip()
            answer = self._ask({"do": "take", "limits": wire.limits_told(limits)})
            self.period, rest = float(answer["period"]), np.array(answer["rest"])
        except (KeyError, TypeError) as error:
            self.close()
            raise SimulatorError(f"{self._where} does not tell {error}") from error
        except SimulatorError:
            self.close()
            raise
        self.rest = Pose(rest[:3], rest[3:])

    def state(self) -> State:
        return self._state({"do": "state"})

    def step(self, position: Floats, quaternion: Floats, open_fingers: bool) -> State:
        """One control step towards a pose; returns when it is over."""
        pose = {"position": position.tolist(), "quaternion": quaternion.tolist()}
        return self._state({"do": "step", **pose, "open": open_fingers})

    def step_home(self, open_fingers: bool) -> State:
        """One control step through joint space towards home."""
        return self._state({"do": "home", "open": open_fingers})

    def resume(self) -> State:
        """After a stop."""
        return self._state({"do": "resume"})

    def close(self) -> None:
        """The arm stands from here on."""
        self._lines.close()
        self._socket.close()

    def _state(self, message: dict[str, Any]) -> State:
        try:
            return wire.heard(self._ask(message))
        except ValueError as error:
            raise SimulatorError(f"{self._where} answered with {error}") from error

    def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        try:
            self._socket.sendall(wire.encode(message))
        except OSError as error:
            raise SimulatorError(f"{self._where} has gone: {error}") from error
        line = self._line()
        try:
            answer = wire.decode(line)
        except ValueError as error:
            raise SimulatorError(f"{self._where} answered {line!r:.80}") from error
        if "error" in answer:
            raise SimulatorError(f"{self._where} says: {answer['error']}")
        return answer

    def _line(self) -> str:
        try:
            line = self._lines.readline()
        except OSError as error:
            raise SimulatorError(f"{self._where} does not answer: {error}") from error
        if not line:
            raise SimulatorError(f"{self._where} has closed the connection")
        return line.rstrip("\n")
