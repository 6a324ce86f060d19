from __future__ import annotations

from pyrep import PyRep, world

from rlbench import faults
from rlbench.backend.robot import Robot
from rlbench.backend.scene import Scene
from rlbench.task_environment import TaskEnvironment


class Environment:
    launches = 0

    def __init__(self, action_mode, dataset_root="", obs_config=None, headless=False):
        self._action_mode, self._obs_config, self._pyrep = action_mode, obs_config, None

    def launch(self) -> None:
        faults.at_launch()
        if PyRep.running:
            raise SystemError("two simulators in one process")
        PyRep.running = True
        Environment.launches += 1
        self._pyrep = PyRep()
        world.add("workspace", 0, None, (0.25, 0.0, 0.752), (0.325, 0.455, 0.0), renderable=False)
        world.add("diningTable", 0, None, (0.25, 0.0, 0.702), (0.6, 0.7, 0.05))
        self._robot = Robot()
        self._scene = Scene(self._pyrep, self._robot, self._obs_config)
        self._action_mode.arm_action_mode.set_control_mode(self._robot)

    def shutdown(self) -> None:
        self._pyrep.shutdown()
        self._pyrep = None

    def get_task(self, task_class) -> TaskEnvironment:
        if self._scene.task is not None:
            self._robot.gripper.release()
            self._scene.task.unload()
        self._scene.task = task_class(self._pyrep, self._robot)
        self._scene.task.load()
        return TaskEnvironment(self._scene, self._action_mode)
