"""The live environment behind `harness.protocols.Manipulation`: the robot, the camera, and the operator who is the
oracle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import envs.ur5_sim
from envs.mujoco.marks import draw, marks
from envs.mujoco.names import Names
from envs.mujoco.task import EmbeddedTask, discover
from envs.robots import stop
from envs.robots.operator import Operator
from envs.ur5 import CAMERA, Ur5
from envs.ur5.gripper import Robotiq
from envs.ur5.motion import CONTROL_HZ, Driver, Limits
from envs.ur5.perception import Detector, Perception
from envs.ur5.robot import Robot
from harness.failures import PerceptionFailure, SimulatorError, UsageError
from harness.protocols import Motion, PointCloud, Pose, Reset, Verdict, View

if TYPE_CHECKING:
    from envs.robots.camera import Camera
    from harness.protocols import Image
    from harness.seeding import Seeds

_FEWEST = 20
"""Fewer points than this are not an object that is seen."""


class Ur5Environment:
    control_hz = CONTROL_HZ
    on_control_step: Callable[[], None] | None = None
    effector_names = ("gripper", "robot", "arm", "end effector", "robotiq gripper")
    surface_names = ("table", "workbench", "tabletop")
    prompts = Path(envs.ur5_sim.__file__).parent / "prompts"

    def __init__(self, config: Ur5, camera: Camera, detector: Detector) -> None:
        """Connects to the robot and its gripper; nothing moves. Raises `SimulatorError`."""
        assert config.ip is not None and config.camera_pose is not None
        self._config = config
        self._stop_folder = stop.place(config.stop_folder)
        self._period = 1 / CONTROL_HZ
        self.workspace = np.array(config.workspace)
        self._definitions = discover("envs.ur5_sim.tasks")
        self._operator = Operator()
        self._perception = Perception(camera, detector, config.camera_pose, self.workspace)
        self._address = config.ip
        self._connect()
        stop.register(self._stop_folder, config.ip, config.dashboard_port)
        self._task: EmbeddedTask | None = None
        self._names = Names([], {})
        self._solved = False
        self._judged_at = 0
        self._driver = self._new_driver(0)

    def reset(self, task: str, scene: int, seeds: Seeds) -> Reset:
        """The robot goes home with open fingers and the operator lays out the scene. A scene has no hash: that two of
        them are alike is the operator's word."""
        if task not in self._definitions:
            raise UsageError(f"ur5 has no task {task!r}; it has {', '.join(sorted(self._definitions))}")
        self._task = self._definitions[task]
        self._names = Names([(name, name) for name in self._task.objects], {})
        self._make_ready()
        self._driver = driver = self._new_driver(self._task.step_limit)
        if not self._operator.allows(
            f"Task {task}, scene {scene}. The robot opens its fingers and goes home."
        ):
            raise SimulatorError("the operator did not let the robot go home")
        self._gripper.activate()
        driver.opening = 0.0
        for motion in (driver.set_gripper(1.0), driver.home(self._config.home)):
            if not motion.reached:
                raise SimulatorError(f"the robot did not come home: {motion.reason}")
        digest = self._lay_out(self._task, scene, seeds)
        self._perception.forget()
        driver.steps = 0
        self._solved, self._judged_at = False, 0
        return Reset(digest)

    def verdict(self) -> Verdict:
        """The operator's word, asked again after each time that something has moved; a yes is final."""
        if self._task is not None and not self._solved and self._judged_at != self._driver.steps:
            self._judged_at = self._driver.steps
            self._solved = self._operator.judges(self._question(self._task))
        return Verdict(self._solved, holds=self._solved, subtasks_done=int(self._solved))

    def steps(self) -> int:
        return self._driver.steps

    def objects(self) -> list[str]:
        return [] if self._task is None else list(self._task.objects)

    def cloud(self, name: str) -> PointCloud:
        """See `harness.protocols.Manipulation.cloud`."""
        cloud = self._perception.cloud(self._names.find(name))
        if len(cloud.points) < _FEWEST:
            raise PerceptionFailure(
                f"the camera does not see {name!r} now; the scene has {', '.join(map(repr, self.objects()))}"
            )
        return cloud

    def scene_cloud(self, ignore_robot: bool = True, ignore_grasped: bool = False) -> PointCloud:
        """See `harness.protocols.Manipulation.scene_cloud`, cut to the workspace."""
        held = ignore_grasped and self.gripper() < 0.5
        return self._perception.surroundings(self.pose(), ignore_robot, held)

    def cameras(self) -> Sequence[str]:
        return (CAMERA,)

    def render(self, camera: str) -> Image:
        """See `harness.protocols.Environment.render`. Raises `UsageError` for an unknown camera."""
        if camera != CAMERA:
            raise UsageError(f"ur5 has no camera {camera!r}; it has {CAMERA}")
        return self._perception.shot().rgb

    def view(self, camera: str) -> View:
        """See `harness.protocols.Manipulation.view`. The gripper has no mark. Raises `UsageError` for an unknown
        camera."""
        image = self.render(camera)
        found = [
            mark
            for name in self.objects()
            for mark in marks(self._perception.mask(name).astype(np.int32), {name: (1,)})
        ]
        return View(draw(image, found), tuple(found), self.gripper())

    def pose(self) -> Pose:
        return self._robot.pose()

    def gripper(self) -> float:
        return self._driver.opening

    def move(self, pose: Pose, speed: float = 1.0) -> Motion:
        return self._driver.move(pose, speed)

    def set_gripper(self, opening: float) -> Motion:
        return self._driver.set_gripper(opening)

    def home(self) -> Motion:
        return self._driver.home(self._config.home)

    def info(self) -> Mapping[str, str]:
        try:
            installed = version("ur_rtde")
        except PackageNotFoundError:
            installed = "unknown"
        return {"robot": "ur5", "ur_rtde": installed, "oracle": self._config.oracle}

    def close(self) -> None:
        self._perception.close()
        self._disconnect()
        stop.unregister(self._stop_folder, self._address, self._config.dashboard_port)
        self._operator.close()

    def _lay_out(self, task: EmbeddedTask, scene: int, seeds: Seeds) -> str:
        """Have the operator put up a scene; returns its hash where there is one."""
        things = ", ".join(task.objects)
        question = f"Lay out scene {scene} as each time: {things}. Then the robot moves by itself."
        if not self._operator.allows(question):
            raise SimulatorError("the operator did not lay out the scene")
        return ""

    def _question(self, task: EmbeddedTask) -> str:
        """What the operator judges."""
        return task.instructions[0]

    def _make_ready(self) -> None:
        """After whatever stopped the last episode: wait until the operator has cleared it, connect again, have the
        robot's program run."""
        stop.await_clear(self._stop_folder, self._operator)
        if not self._robot.connected():
            self._disconnect()
            self._connect()
        self._robot.resume()

    def _connect(self) -> None:
        config = self._config
        self._gripper = Robotiq(self._address, config.gripper_port)
        self._robot = Robot(self._address, config.dashboard_port, config.base_turn, config.tool)

    def _disconnect(self) -> None:
        self._gripper.close()
        self._robot.close()

    def _new_driver(self, step_limit: int) -> Driver:
        config = self._config
        return Driver(
            self._robot,
            self._gripper,
            self._operator,
            Limits(self.workspace, config.speed_limit, config.joint_speed_limit, config.acceleration),
            self._stop_folder,
            step_limit,
            config.confirm == "motion",
            self._period,
            self._after_step,
        )

    def _after_step(self) -> None:
        self._perception.forget()
        if self.on_control_step is not None:
            self.on_control_step()
