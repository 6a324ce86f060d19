"""A Robotiq gripper by the socket that its URCap opens on the robot's controller: lines of `SET NAME VALUE`, answered by
`ack`, and `GET NAME`, answered by `NAME VALUE`. Positions run from 0 (open) to 255 (closed)."""

from __future__ import annotations

import socket
import time

from harness.failures import SimulatorError

OPEN, CLOSED = 0, 255
_PATIENCE = 2.0
_ACTIVATION = 10.0
"""Seconds that it may take to find its ends."""
_READY = 3
_SPEED, _FORCE = 128, 60


class Robotiq:
    """Raises `SimulatorError` when it cannot be reached or stops answering."""

    def __init__(self, host: str, port: int) -> None:
        self._where = f"the gripper at {host}:{port}"
        try:
            self._socket = socket.create_connection((host, port), timeout=_PATIENCE)
        except OSError as error:
            raise SimulatorError(
                f"{self._where} cannot be reached: {error}. Is Robotiq's URCap installed, and env.gripper_port right?"
            ) from error

    def activate(self) -> None:
        """Moves the fingers once to their ends, unless it did before."""
        if self._get("STA") != _READY:
            self._set(ACT=0)
            self._set(ACT=1)
            end = time.monotonic() + _ACTIVATION
            while self._get("STA") != _READY:
                if time.monotonic() > end:
                    raise SimulatorError(f"{self._where} did not activate in {_ACTIVATION:.0f} s")
                time.sleep(0.05)
        self._set(GTO=1)

    def command(self, position: int) -> None:
        """Start to move there; `moving` says when it has ended."""
        self._set(SPE=_SPEED, FOR=_FORCE, POS=position, GTO=1)
        end = time.monotonic() + _PATIENCE
        while self._get("PRE") != position:
            if time.monotonic() > end:
                raise SimulatorError(f"{self._where} did not take the position {position}")
            time.sleep(0.005)

    def moving(self) -> bool:
        return self._get("OBJ") == 0

    def halt(self) -> None:
        """Stop the fingers where they are."""
        self._set(GTO=0)

    def position(self) -> int:
        return self._get("POS")

    def close(self) -> None:
        self._socket.close()

    def _set(self, **values: int) -> None:
        answer = self._ask("SET " + " ".join(f"{name} {value}" for name, value in values.items()))
        if answer != "ack":
            raise SimulatorError(f"{self._where} answered {answer!r} where ack was due")

    def _get(self, name: str) -> int:
        answer = self._ask(f"GET {name}").split()
        if len(answer) != 2 or answer[0] != name or not answer[1].isdigit():
            raise SimulatorError(f"{self._where} answered {' '.join(answer)!r} when asked for {name}")
        return int(answer[1])

    def _ask(self, line: str) -> str:
        try:
            self._socket.sendall(f"{line}\n".encode("ascii"))
            # Answers are a few bytes in one packet, and do not always end with a line break.
            answer = self._socket.recv(64)
        except OSError as error:
            raise SimulatorError(f"{self._where} does not answer: {error}") from error
        if not answer:
            raise SimulatorError(f"{self._where} closed the connection")
        return answer.decode("ascii", errors="replace").strip()
