"""The run's side of a dry run: starts its process, and has it lay out scenes, take pictures and judge. What moves there is moved
over the wire, as at a real robot."""

from __future__ import annotations

import socket
import subprocess
import sys
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from harness.failures import SimulatorError

if TYPE_CHECKING:
    from envs.widowx.dry_run import WidowXDryRun

_PATIENCE = 120.0
"""Seconds that an answer may take."""


class Counterpart:
    """The process. Raises `SimulatorError` when it does not start, or has gone."""

    def __init__(self, config: WidowXDryRun) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            command = (sys.executable, "-m", "envs.widowx.dry_run", str(theirs.fileno()))
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        self._connection = Connection(ours.detach())
        try:
            self._send(config)
            self.address: tuple[str, int] = self._receive()
        except SimulatorError:
            self.close()
            raise

    def ask(self, what: str, *arguments: Any) -> Any:
        """Have the twin do something (`envs.widowx.dry_run.__main__.ASKED`)."""
        self._send((what, *arguments))
        return self._receive()

    def close(self) -> None:
        """It ends by itself when its connection does."""
        self._connection.close()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _send(self, message: Any) -> None:
        try:
            self._connection.send(message)
        except OSError as error:
            raise SimulatorError(f"the process of the dry run has gone: {error}") from error

    def _receive(self) -> Any:
        try:
            if not self._connection.poll(_PATIENCE):
                raise SimulatorError(f"the process of the dry run did not answer in {_PATIENCE:.0f} s")
            how, answer = self._connection.recv()
        except (EOFError, OSError) as error:
            raise SimulatorError("the process of the dry run has ended; what it said is above") from error
        if how == "failed":
            raise answer
        return answer
