"""The real arm through Interbotix's own Python API (interbotix_xs_modules, ROS 2 Humble or later), on the robot's computer
while its control node runs there. It was not run: there is no such arm here."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
from interbotix_common_modules.common_robot.robot import (  # type: ignore[import-not-found, unused-ignore]
    robot_shutdown,
    robot_startup,
)
from interbotix_xs_modules.xs_robot.arm import (  # type: ignore[import-not-found, unused-ignore]
    InterbotixManipulatorXS,
)

from harness.failures import SimulatorError

if TYPE_CHECKING:
    from harness.protocols import Floats

MODEL = "wx250s"
_SLACK = 1.5
"""The motors' time for a control step against its length: they arrive late rather than stop at each."""
_SILENCE = 0.5
"""Seconds without new joint states, which come 100 times a second, after which the arm is lost."""


class Interbotix:
    """See `envs.widowx.arms.Arm`. Its control node has to run, the arm's motors in position mode with a time-based profile and
    the gripper's in PWM mode, as `xsarm_control.launch.py` has them."""

    def __init__(self, name: str = MODEL) -> None:
        """`name` is the robot's namespace. Waits for the control node. Raises `SimulatorError`."""
        self.name = f"interbotix {name}"
        try:
            self._bot = InterbotixManipulatorXS(robot_model=MODEL, robot_name=name)
        except SystemExit as error:
            raise SimulatorError(f"Interbotix's API has no arm {name}; what it said is above") from error
        robot_startup()
        self._open: bool | None = None
        self._stamp, self._heard_at = self._said(), time.monotonic()

    def joints(self) -> Floats:
        self._require()
        return np.array(self._bot.arm.get_joint_positions(), dtype=np.float64)

    def opening(self) -> float:
        self._require()
        gripper = self._bot.gripper
        shut, wide = gripper.left_finger_lower_limit, gripper.left_finger_upper_limit
        return float(np.clip((gripper.get_finger_position() - shut) / (wide - shut), 0.0, 1.0))

    def command(self, joints: Floats, open_fingers: bool, seconds: float) -> None:
        self._require()
        moving = _SLACK * seconds
        if not self._bot.arm.set_joint_positions(
            joints.tolist(), moving_time=moving, accel_time=moving / 2, blocking=False
        ):
            raise SimulatorError(
                f"the {self.name} refuses the joints {joints.round(3).tolist()}: beyond its limits"
            )
        if open_fingers != self._open:
            if open_fingers:
                self._bot.gripper.release(delay=0.0)
            else:
                self._bot.gripper.grasp(delay=0.0)
            self._open = open_fingers

    def halt(self) -> None:
        """The fingers keep what they hold."""
        # Not by set_joint_positions, which refuses what is far from the last command.
        self._bot.core.robot_write_commands(self._bot.arm.group_name, self._bot.arm.get_joint_positions())
        self._bot.arm.capture_joint_positions()

    def wait(self, seconds: float) -> None:
        time.sleep(seconds)

    def close(self) -> None:
        robot_shutdown()

    def _require(self) -> None:
        """Raises `SimulatorError` when the arm's state is no longer told: the API goes on to give the last one."""
        stamp, now = self._said(), time.monotonic()
        if stamp != self._stamp:
            self._stamp, self._heard_at = stamp, now
        elif now - self._heard_at > _SILENCE:
            raise SimulatorError(f"the {self.name} tells its joints no more: is its control node running?")

    def _said(self) -> tuple[int, int]:
        stamp = self._bot.core.joint_states.header.stamp
        return int(stamp.sec), int(stamp.nanosec)
