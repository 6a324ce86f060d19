"""The live environment: scenes, motions and what the sensors see, behind `harness.protocols.Actuation` and, for
worlds with few-shot files, `harness.protocols.Manipulation`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from envs.mujoco import gl
from envs.mujoco.arm import HAND
from envs.mujoco.control import Controller
from envs.mujoco.kinematics import Kinematics
from envs.mujoco.marks import draw, marks
from envs.mujoco.names import Names
from envs.mujoco.noise import Noise
from envs.mujoco.perception import REACH, Perception
from envs.mujoco.pictures import RayPictures
from envs.mujoco.rays import RayCamera
from envs.mujoco.world import PLACEMENT_ATTEMPTS, Crowded, World
from harness.failures import PerceptionFailure, ResetError, StepLimit, UsageError
from harness.protocols import Actuated, Motion, PointCloud, Pose, Reset, Task, Verdict, View

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from envs.mujoco.setting import Setting
    from envs.mujoco.task import EmbeddedTask
    from harness.protocols import Image
    from harness.seeding import Seeds


DEPTH_PIXELS = 128
"""Height and width of depth and segmentation; RLBench's."""
_FEWEST = 3
"""Fewer points than this are not an object that is seen."""


@dataclass(frozen=True)
class _Scene:
    """What is built once for a task and kept."""

    world: World
    perception: Perception
    names: Names


class EmbeddedEnvironment:
    """One simulator. The model of a task is built at its first reset and kept."""

    on_control_step: Callable[[], None] | None = None

    def __init__(
        self,
        setting: Setting,
        tasks: Mapping[str, EmbeddedTask],
        suite: Sequence[Task],
        noise: float = 1.0,
        renderer: str = "auto",
        rename: Mapping[str, str] | None = None,
    ) -> None:
        """`tasks` are the definitions by name, `suite` the same as the harness lists them, reworded perhaps."""
        self._noise = float(noise)
        self._renderer = renderer
        self._pictures: tuple[World, gl.Pictures] | None = None
        self._ray_cameras: dict[str, RayCamera] = {}
        self._drew = False
        self.workspace = np.array(setting.workspace)
        self.effector_names, self.surface_names = setting.effector_names, setting.surface_names
        self.control_hz = 1 / setting.period
        self.action_limits = setting.step_limits
        self._setting = setting
        self._definitions = tasks
        self._tasks = {task.name: task for task in suite}
        self._rename = dict(rename or {})
        self._scenes: dict[str, _Scene] = {}
        self._kinematics = Kinematics(setting)
        self._scene: _Scene | None = None
        self._control: Controller | None = None

    @property
    def world(self) -> World:
        """The physics of the scene that is up; for tests. Raises `RuntimeError` before the first reset."""
        return self._current().world

    @property
    def perception(self) -> Perception:
        """The depth cameras; methods see them through `cloud` and `scene_cloud`."""
        return self._current().perception

    @property
    def controller(self) -> Controller:
        if self._control is None:
            raise RuntimeError("there is no scene yet: reset it first")
        return self._control

    def reset(self, task: str, scene: int, seeds: Seeds) -> Reset:
        if task not in self._tasks:
            raise UsageError(
                f"{self._setting.name} has no task {task!r}; it has {', '.join(sorted(self._tasks))}"
            )
        if task not in self._scenes:
            self._scenes[task] = self._build(task)
        self._control = self._scene = None
        scene_up = self._scenes[task]
        world = scene_up.world
        attempts = self._set_up(world, seeds.scene(), self._tasks[task].step_limit)
        scene_up.perception.start(
            Noise(seeds.noise(), len(self._setting.camera_names), list(world.parts), self._noise)
        )
        self._scene = scene_up
        return Reset(world.state_hash(), attempts, dict(world.variation))

    def _set_up(self, world: World, rng: np.random.Generator, step_limit: int) -> int:
        """Draw a scene, let the arm prepare it, begin; returns how many draws it took. Raises `ResetError`."""
        attempts = 0
        while True:
            attempts += world.reset(rng)
            control = Controller(world, self._kinematics, step_limit, self._after_control_step)
            try:
                world.task.prepare(control)
            except (Crowded, StepLimit) as reason:
                if attempts < PLACEMENT_ATTEMPTS:
                    continue
                raise ResetError(
                    f"the start of {world.task.name!r} could not be prepared: {reason}"
                ) from reason
            control.steps = 0
            world.begin()
            self._control = control
            return attempts

    def verdict(self) -> Verdict:
        world = self.world
        return Verdict(
            success=world.succeeded,
            failed=world.failed,
            holds=bool(world.task.success(world)),
            subtasks_done=int(world.succeeded),
        )

    def steps(self) -> int:
        return self.controller.steps

    def objects(self) -> list[str]:
        return [self._rename.get(name, name) for name in self.world.parts]

    def cloud(self, name: str) -> PointCloud:
        """See `harness.protocols.Manipulation.cloud`. Knows the end effector and the table by their names, too."""
        scene = self._current()
        part = scene.names.find(name)
        perception, world = scene.perception, scene.world
        if part in world.parts:
            cloud = perception.cloud(world.parts[part], perception.noise.object_shift[part])
        else:
            cloud = perception.cloud(world.geoms(part) if part == HAND else (world.model.geom(part).id,))
        if len(cloud.points) < _FEWEST:
            raise PerceptionFailure(
                f"no camera sees {name!r} now; the scene has {', '.join(map(repr, self.objects()))}"
            )
        return cloud

    def scene_cloud(self, ignore_robot: bool = True, ignore_grasped: bool = False) -> PointCloud:
        """See `harness.protocols.Manipulation.scene_cloud`, cut to the workspace."""
        world = self.world
        without = world.robot_geoms if ignore_robot else frozenset()
        return self.perception.surroundings(without | (world.held_geoms() if ignore_grasped else frozenset()))

    def cameras(self) -> Sequence[str]:
        return self._setting.camera_names

    def render(self, camera: str) -> Image:
        """See `harness.protocols.Environment.render`. Raises `UsageError` for an unknown camera."""
        self._check_camera(camera)
        return self._drawer().render(self.world.data, camera)

    def view(self, camera: str) -> View:
        """See `harness.protocols.Manipulation.view`. Raises `UsageError` for an unknown camera."""
        self._check_camera(camera)
        world, drawer = self.world, self._drawer()
        shown = {self._rename.get(name, name): geoms for name, geoms in world.parts.items()}
        parts: dict[str, Collection[int]] = {**shown, "gripper": world.geoms(HAND)}
        if isinstance(drawer, RayPictures):
            image, hits = drawer.view(world.data, camera)
            geoms = hits.within(REACH)
        else:
            image = drawer.render(world.data, camera)
            geoms = self._ray_camera(camera).cast(world.data, REACH, only={*chain(*parts.values())}).geoms
        found = marks(geoms, parts)
        return View(draw(image, found), found, self.gripper())

    def pose(self) -> Pose:
        return self.controller.pose()

    def gripper(self) -> float:
        return self.controller.opening

    def move(self, pose: Pose, speed: float = 1.0) -> Motion:
        return self.controller.move(pose, speed)

    def set_gripper(self, opening: float) -> Motion:
        return self.controller.set_gripper(opening)

    def home(self) -> Motion:
        return self.controller.home()

    def observation(self, cameras: Sequence[str] = ()) -> Mapping[str, NDArray[Any]]:
        """See `harness.protocols.Actuation.observation`."""
        pose, world = self.pose(), self.world
        return {
            **{f"rgb_{camera}": self.render(camera) for camera in cameras},
            "tool": np.concatenate([pose.position, pose.quaternion]),
            "gripper": np.clip([world.fingers.mean() / self._setting.arm.finger_travel], 0.0, 1.0),
            "joints": world.arm,
        }

    def act(self, action: ArrayLike) -> Actuated:
        """See `harness.protocols.Actuation.act`."""
        return self.controller.nudge(action)

    def info(self) -> Mapping[str, str]:
        return {
            "simulator": "mujoco",
            "mujoco": mujoco.__version__,
            "depth": "rays",
            "renderer": gl.resolve(self._renderer) if self._drew else "not used",
        }

    def close(self) -> None:
        self._close_pictures()
        self._scene = self._control = None
        self._scenes.clear()

    def _build(self, task: str) -> _Scene:
        world = World(self._definitions[task], self._setting)
        perception = Perception(world.model, world.data, self.cameras(), DEPTH_PIXELS, self.workspace)
        aliases = {name: HAND for name in self.effector_names}
        aliases |= {name: self._setting.surface for name in self.surface_names}
        shown = [(self._rename.get(name, name), name) for name in world.parts]
        return _Scene(world, perception, Names(shown, aliases))

    def _current(self) -> _Scene:
        if self._scene is None:
            raise RuntimeError("there is no scene yet: reset it first")
        return self._scene

    def _check_camera(self, camera: str) -> None:
        if camera not in self.cameras():
            raise UsageError(
                f"{self._setting.name} has no camera {camera!r}; it has {', '.join(self.cameras())}"
            )

    def _drawer(self) -> gl.Pictures:
        """What draws the scene that is up."""
        world = self.world
        if self._pictures is None or self._pictures[0] is not world:
            self._close_pictures()
            pixels = self._setting.pixels
            drawer = gl.pictures(world.model, pixels, pixels, gl.resolve(self._renderer))
            self._pictures = world, drawer
            self._drew = True
        return self._pictures[1]

    def _ray_camera(self, camera: str) -> RayCamera:
        """What says where things are in the pictures that OpenGL draws."""
        pixels = self._setting.pixels
        if camera not in self._ray_cameras:
            self._ray_cameras[camera] = RayCamera(self.world.model, camera, pixels, pixels)
        return self._ray_cameras[camera]

    def _close_pictures(self) -> None:
        self._ray_cameras.clear()
        if self._pictures is not None:
            self._pictures[1].close()
            self._pictures = None

    def _after_control_step(self) -> None:
        if self._control is not None and self.on_control_step is not None:
            self.on_control_step()


class ManipulationEnvironment(EmbeddedEnvironment):
    """A world that code-writing methods can use as well: it brings their few-shot files."""

    @property
    def prompts(self) -> Path:
        folder = self._setting.prompts
        if folder is None:
            raise UsageError(f"{self._setting.name} has no few-shot files")
        return folder
