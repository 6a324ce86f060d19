from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from pyrep import world
from pyrep.objects.object import Object

from rlbench import faults

EYES = {
    "front": ((1.35, 0.0, 1.58), (0.2, 0.0, 0.85)),
    "left_shoulder": ((-0.4, 0.8, 1.6), (0.25, 0.0, 0.85)),
    "right_shoulder": ((-0.4, -0.8, 1.6), (0.25, 0.0, 0.85)),
    "overhead": ((0.3, 0.0, 2.0), (0.25, 0.0, 0.75)),
    "wrist": None,
}


def looking(eye, target) -> np.ndarray:
    ahead = np.subtract(target, eye)
    ahead = ahead / np.linalg.norm(ahead)
    across = np.cross(ahead, [0.0, 0.0, 1.0])
    across = across / np.linalg.norm(across)
    made = np.eye(4)
    made[:3, 0], made[:3, 1], made[:3, 2], made[:3, 3] = across, np.cross(ahead, across), ahead, eye
    return made


class Scene:
    def __init__(self, pyrep, robot, obs_config):
        self.pyrep, self.robot, self.obs_config = pyrep, robot, obs_config
        self.task = None
        self.steps = 0
        self._step_callback = None

    def register_step_callback(self, func) -> None:
        self._step_callback = func

    def step(self) -> None:
        self.pyrep.step()
        self.task.step()
        self.steps += 1
        if self._step_callback is not None:
            self._step_callback()

    def inside(self, position) -> bool:
        floor = Object("workspace")
        x, y, z = np.subtract(position, floor.get_position())
        return abs(x) < floor.node.half[0] + 0.2 and abs(y) < floor.node.half[1] + 0.2 and 0 < z < 1

    def get_observation(self) -> SimpleNamespace:
        pose = self.robot.arm.get_tip().get_pose()
        seen = {
            "gripper_pose": pose * (np.nan if faults.not_finite else 1.0),
            "gripper_open": 1.0 if self.robot.gripper.get_open_amount()[0] > 0.9 else 0.0,
            "joint_positions": np.array(self.robot.arm.get_joint_positions()),
            "misc": {},
        }
        for name, config in self.obs_config.cameras.items():
            hand = np.add(pose[:3], (-0.08, 0.0, 0.1))
            camera = looking(*(EYES[name] or (hand, np.add(hand, (0.02, 0.0, -1.0)))))
            rgb, mask, points = world.picture(camera, config.image_size)
            seen |= {f"{name}_rgb": rgb, f"{name}_mask": mask, f"{name}_point_cloud": points}
            seen["misc"][f"{name}_camera_extrinsics"] = camera
        return SimpleNamespace(**seen)
