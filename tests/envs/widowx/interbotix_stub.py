"""A small stand-in of Interbotix's Python API for ROS 2 (interbotix_xs_modules, interbotix_common_modules), as far as the
driver touches it, after its documentation: joint limits, the speed check against the last command, the profile's time, and
joint states with a time stamp."""

from __future__ import annotations

import threading
import types

import numpy as np

NAMES = ("waist", "shoulder", "elbow", "forearm_roll", "wrist_angle", "wrist_rotate")
LOWER = (-3.14158, -1.88496, -2.14675, -3.14158, -1.74533, -3.14158)
UPPER = (3.14158, 1.98968, 1.6057, 3.14158, 2.14675, 3.14158)
SCREWS = (
    (0.0, 0.0, 1.0, 0.0, 0.0, 0.0),
    (0.0, 1.0, 0.0, -0.11065, 0.0, 0.0),
    (0.0, 1.0, 0.0, -0.36065, 0.0, 0.04975),
    (1.0, 0.0, 0.0, 0.0, 0.36065, 0.0),
    (0.0, 1.0, 0.0, -0.36065, 0.0, 0.29975),
    (1.0, 0.0, 0.0, 0.0, 0.36065, 0.0),
)
"""Screw axes of the wx250s in the base's frame, angular part first."""
TIP = np.array([0.458325, 0.0, 0.36065])
"""Of the tip of the hand with all joints at 0, when it points along x."""


class Motors:
    """What the stand-in moves."""

    def __init__(self):
        self.joints = np.zeros(6)
        self.finger = 0.037
        self.stamp = 0
        self.silent = self.missing = self.shut_down = False
        self.log = []


def modules(motors):
    """By the names under which the driver imports them."""

    class Manipulator:
        def __init__(
            self,
            robot_model,
            group_name="arm",
            gripper_name="gripper",
            robot_name=None,
            moving_time=2.0,
            accel_time=0.3,
        ):
            if motors.missing:
                raise SystemExit(1)
            assert robot_model == "wx250s"
            motors.log.append(("arm", robot_name))
            self.core = Core()
            self.arm = Arm(group_name, moving_time, accel_time)
            self.gripper = Gripper()

    class Core:
        js_mutex = threading.Lock()

        @property
        def joint_states(self):
            motors.stamp += not motors.silent
            stamp = types.SimpleNamespace(sec=motors.stamp, nanosec=0)
            return types.SimpleNamespace(header=types.SimpleNamespace(stamp=stamp))

        def robot_write_commands(self, group_name, commands):
            motors.log.append(("write", group_name, tuple(commands)))
            motors.joints = np.array(commands)

    class Arm:
        def __init__(self, group_name, moving_time, accel_time):
            self.group_name, self.moving_time, self.accel_time = group_name, moving_time, accel_time
            self.joint_commands = motors.joints.tolist()

        def get_joint_positions(self):
            return motors.joints.tolist()

        def capture_joint_positions(self):
            self.joint_commands = motors.joints.tolist()

        def set_joint_positions(self, joint_positions, moving_time=None, accel_time=None, blocking=True):
            assert isinstance(joint_positions, list)
            assert not blocking
            assert accel_time is None or accel_time <= moving_time / 2
            for wanted, now, low, high in zip(
                joint_positions, self.joint_commands, LOWER, UPPER, strict=True
            ):
                if not low <= wanted <= high or abs(wanted - now) / self.moving_time > np.pi:
                    return False
            self.moving_time, self.accel_time = moving_time or self.moving_time, accel_time or self.accel_time
            self.joint_commands = list(joint_positions)
            motors.log.append(("move", self.moving_time, self.accel_time))
            motors.joints = np.array(joint_positions)
            return True

    class Gripper:
        left_finger_lower_limit, left_finger_upper_limit = 0.015, 0.037

        def get_finger_position(self):
            return motors.finger

        def release(self, delay=1.0):
            motors.log.append(("release", delay))
            motors.finger = 0.037

        def grasp(self, delay=1.0):
            motors.log.append(("grasp", delay))
            motors.finger = 0.0205

    robot = types.ModuleType("interbotix_common_modules.common_robot.robot")
    robot.robot_startup = lambda: motors.log.append(("startup",))
    robot.robot_shutdown = lambda: motors.log.append(("shutdown",))
    arm = types.ModuleType("interbotix_xs_modules.xs_robot.arm")
    arm.InterbotixManipulatorXS = Manipulator
    parents = ("interbotix_common_modules", "interbotix_common_modules.common_robot")
    parents += ("interbotix_xs_modules", "interbotix_xs_modules.xs_robot")
    return {**{name: types.ModuleType(name) for name in parents}, robot.__name__: robot, arm.__name__: arm}


def forward(joints):
    """Tip (3,) and rotation (3, 3) of the hand, by the product of exponentials."""
    rotation, offset = np.eye(3), np.zeros(3)
    for screw, angle in zip(SCREWS, joints, strict=True):
        axis, moment = np.array(screw[:3]), np.array(screw[3:])
        cross = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
        turn = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
        shift = (np.eye(3) - turn) @ np.cross(axis, moment)
        offset = offset + rotation @ shift
        rotation = rotation @ turn
    return rotation @ TIP + offset, rotation
