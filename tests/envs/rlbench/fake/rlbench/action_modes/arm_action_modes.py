from __future__ import annotations

import math

import numpy as np

from rlbench import faults
from rlbench.backend.exceptions import InvalidActionError

STEP = 0.04
REACH = 1.1


class EndEffectorPoseViaPlanning:
    def __init__(self, absolute_mode=True, collision_checking=False):
        pass

    def set_control_mode(self, robot) -> None:
        pass

    def action(self, scene, action) -> None:
        if np.shape(action) != (7,):
            raise InvalidActionError("wrong shape")
        if not np.isclose(np.linalg.norm(action[3:]), 1.0):
            raise InvalidActionError("not a unit quaternion")
        if not scene.inside(action[:3]):
            raise InvalidActionError("the target is outside\n of workspace")
        if np.linalg.norm(action[:3] - [-0.31, 0.0, 1.0]) > REACH:
            raise InvalidActionError("no path was found")
        start = scene.robot.arm.get_tip().get_position()
        count = max(1, math.ceil(np.linalg.norm(action[:3] - start) / (STEP * scene.robot.arm.max_velocity)))
        for step in range(1, count + 1):
            if faults.blocked and step > count / 2:
                return
            here = start + step / count * (action[:3] - start)
            scene.robot.arm.place(np.concatenate([here, action[3:]]))
            scene.step()
            if scene.task.success()[0]:
                return
