from __future__ import annotations

import numpy as np

from rlbench import faults
from rlbench.backend.exceptions import TaskEnvironmentError
from rlbench.backend.robot import START


class TaskEnvironment:
    def __init__(self, scene, action_mode):
        self._scene, self._action_mode, self._variation = scene, action_mode, 0
        self._reset_called = False

    def variation_count(self) -> int:
        return self._scene.task.variation_count()

    def set_variation(self, v: int) -> None:
        if v >= self.variation_count():
            raise TaskEnvironmentError(f"there is no variation {v}")
        self._variation = v

    def reset(self):
        scene = self._scene
        scene.robot.gripper.release()
        scene.robot.gripper.amount = 1.0
        scene.robot.arm.place(START)
        if faults.placements:
            faults.placements -= 1
            raise TaskEnvironmentError("Could not place the task")
        scene.task.place()
        descriptions = scene.task.init_episode(self._variation)
        if faults.shifts:
            faults.shifts -= 1
            scene.task.place()
        self._reset_called = True
        return descriptions, scene.get_observation()

    def get_observation(self):
        return self._scene.get_observation()

    def step(self, action):
        if not self._reset_called:
            raise RuntimeError("reset first")
        self._action_mode.action(self._scene, action)
        success, terminate = self._scene.task.success()
        return self._scene.get_observation(), float(np.asarray(success)), terminate
