"""The run's side of a dry run: starts its process, and has it lay out scenes and take pictures. What moves there is moved
through ur_rtde, as at a real robot."""

from __future__ import annotations

import socket
import subprocess
import sys
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

import numpy as np

from envs.mujoco.cameras import looking
from envs.robots.rotations import multiply
from envs.ur5.dry_run.twin import CAMERA
from harness.failures import SimulatorError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envs.robots.camera import Shot
    from envs.ur5.perception import Mask
    from harness.protocols import Image

_PATIENCE = 60.0
"""Seconds that an answer may take."""


class Counterpart:
    """The process. Raises `SimulatorError` when it does not start, or has gone."""

    def __init__(self, pace: float) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            command = (sys.executable, "-m", "envs.ur5.dry_run", str(theirs.fileno()), str(pace))
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        self._connection = Connection(ours.detach())
        try:
            self.address = str(self._receive())
        except SimulatorError:
            self.close()
            raise

    def lay_out(self, task: str, generator: np.random.Generator) -> str:
        """Put up a scene of a task; returns its hash."""
        return str(self._ask("lay_out", task, generator))

    def verdict(self) -> tuple[bool, bool]:
        """Whether the task's goal holds there now, and whether it ever did."""
        holds, held = self._ask("verdict")
        return bool(holds), bool(held)

    def shoot(self) -> tuple[Shot, Mapping[str, Mask]]:
        """A picture, and the mask (H, W) of each thing in it."""
        shot: tuple[Shot, Mapping[str, Mask]] = self._ask("shoot")
        return shot

    def close(self) -> None:
        """It ends by itself when its connection does."""
        self._connection.close()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _ask(self, *message: Any) -> Any:
        try:
            self._connection.send(message)
        except OSError as error:
            raise SimulatorError(f"the process of the dry run has gone: {error}") from error
        return self._receive()

    def _receive(self) -> Any:
        try:
            if not self._connection.poll(_PATIENCE):
                raise SimulatorError(f"the process of the dry run did not answer in {_PATIENCE:.0f} s")
            how, answer = self._connection.recv()
        except (EOFError, OSError) as error:
            raise SimulatorError("the process of the dry run has ended; what it said is above") from error
        if how == "failed":
            raise SimulatorError(f"the dry run: {answer}")
        return answer


class Eye:
    """Camera and detector in one: the twin knows what each pixel shows."""

    def __init__(self, counterpart: Counterpart) -> None:
        self._counterpart = counterpart
        self._masks: Mapping[str, Mask] = {}

    def shoot(self) -> Shot:
        """See `envs.ur5.perception.Camera`."""
        shot, self._masks = self._counterpart.shoot()
        return shot

    def find(self, image: Image, name: str) -> Mask:
        """See `envs.ur5.perception.Detector`: in the last picture."""
        return self._masks.get(name, np.zeros(image.shape[:2], dtype=bool))

    def close(self) -> None:
        """The process is ended by whoever started it."""


def camera_pose() -> list[float]:
    """Of the twin's camera, in its optical frame: xyz and a quaternion wxyz."""
    # MuJoCo's cameras look along -z with y up.
    along = multiply(
        np.array(looking(CAMERA.position, CAMERA.target, CAMERA.up)), np.array([0.0, 1.0, 0.0, 0.0])
    )
    return [*CAMERA.position, *along.tolist()]
