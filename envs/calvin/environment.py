"""The live environment: official scenes and chains, motions and what the sensors see, behind the `Manipulation`,
`Actuation` and `Chained` of `harness.protocols`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from envs.calvin import suite
from envs.calvin.cameras import benchmark_cameras, depth_cameras
from envs.calvin.checkout import Checkout
from envs.calvin.control import STEP_LIMITS, WORKSPACE, Controller
from envs.calvin.judge import Judge
from envs.calvin.parts import EFFECTOR_NAMES, PARTS, SURFACE_NAMES
from envs.calvin.perception import Perception, mask_of
from envs.calvin.shims.commit import commit_of
from envs.calvin.shims.sampling import state_of
from envs.calvin.simulator import CONTROL_HZ, HAND_LINKS, OPEN_WIDTH, Simulator
from envs.mujoco.marks import draw, marks
from envs.mujoco.names import Names
from envs.mujoco.noise import Noise
from harness.failures import PerceptionFailure, UsageError
from harness.protocols import Actuated, Motion, PointCloud, Pose, Reset, Sentence, Verdict, View

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from harness.protocols import Floats, Image
    from harness.seeding import Seeds

DEPTH_PIXELS = 128
"""Height and width of a depth camera's picture."""
VIEW_PIXELS = 400
"""Height and width of an annotated picture."""
_FEWEST = 3
"""Fewer points than this are not an object that is seen."""
_ROBOT = "robot"
_TABLE = "table"


@dataclass(frozen=True)
class _Trial:
    judge: Judge
    control: Controller
    perception: Perception


class CalvinEnvironment:
    """One simulator."""

    control_hz = CONTROL_HZ
    action_limits = STEP_LIMITS
    effector_names = EFFECTOR_NAMES
    surface_names = SURFACE_NAMES
    prompts: Path = Path(__file__).parent / "prompts"
    on_control_step: Callable[[], None] | None = None

    def __init__(self, checkout: Checkout, chosen_suite: str, noise: float = 1.0) -> None:
        self.workspace: Floats = WORKSPACE.copy()
        self._checkout = checkout
        self._tasks = {task.name: task for task in suite.as_tasks(checkout, chosen_suite)}
        self._sentences = checkout.validation_sentences()
        self._noise = noise
        self.simulator = Simulator(checkout)
        self._cameras = benchmark_cameras(checkout)
        self._depth_cameras = depth_cameras(DEPTH_PIXELS)
        self._names = Names(
            [(name, name) for name in PARTS],
            {**dict.fromkeys(EFFECTOR_NAMES, _ROBOT), **dict.fromkeys(SURFACE_NAMES, _TABLE)},
        )
        self._info = {
            "simulator": "calvin",
            "calvin_env": commit_of(checkout.simulator),
            "pybullet": version("pybullet"),
            "renderer": "tiny",
        }
        self._steps = 0
        self._trial: _Trial | None = None

    def reset(self, task: str, scene: int, seeds: Seeds) -> Reset:
        """See `harness.protocols.Environment.reset`. Scenes are the official ones, so nothing of them is drawn."""
        if task not in self._tasks:
            raise UsageError(f"calvin has no task {task!r}; it has {', '.join(sorted(self._tasks))}")
        goal = suite.goal(self._checkout, task, scene)
        self._trial = None
        self.simulator.reset(*state_of(self._checkout.benchmark, goal.chain.condition))
        self._steps = 0
        noise = Noise(seeds.noise(), len(self._depth_cameras), list(PARTS), self._noise)
        self._trial = _Trial(
            Judge(self.simulator, goal.subtasks, suite.STEP_LIMIT),
            Controller(self.simulator, self._control_step),
            Perception(self.simulator, self._depth_cameras, noise, self.workspace),
        )
        return Reset(self.simulator.state_hash(*goal.subtasks), variation=dict(goal.words))

    def verdict(self) -> Verdict:
        return self._current().judge.verdict()

    def steps(self) -> int:
        return self._steps

    def next_sentence(self) -> Sentence | None:
        """See `harness.protocols.Chained.next_sentence`: CALVIN's validation sentence."""
        task = self._current().judge.next_task()
        return None if task is None else Sentence(task, self._sentences[task])

    def objects(self) -> list[str]:
        return list(PARTS)

    def cloud(self, name: str) -> PointCloud:
        """See `harness.protocols.Manipulation.cloud`. Knows the end effector and the table by their names, too."""
        part = self._names.find(name)
        perception = self._current().perception
        if part in PARTS:
            cloud = perception.part(part, self._steps)
        else:
            body = self.simulator.robot if part == _ROBOT else self.simulator.table
            cloud = perception.body(body, self._steps)
        if len(cloud.points) < _FEWEST:
            known = ", ".join(map(repr, PARTS))
            raise PerceptionFailure(f"no camera sees {name!r} now; the scene has {known}")
        return cloud

    def scene_cloud(self, ignore_robot: bool = True, ignore_grasped: bool = False) -> PointCloud:
        """See `harness.protocols.Manipulation.scene_cloud`, cut to the workspace."""
        without: list[tuple[int, int | None]] = [(self.simulator.robot, None)] if ignore_robot else []
        if ignore_grasped:
            without += self.simulator.grasped()
        return self._current().perception.surroundings(without, self._steps)

    def cameras(self) -> Sequence[str]:
        return tuple(self._cameras)

    def render(self, camera: str) -> Image:
        """See `harness.protocols.Environment.render`, at CALVIN's resolution. Raises `UsageError` for an unknown
        camera."""
        self._check_camera(camera)
        return self._cameras[camera].render(self.simulator).rgb

    def view(self, camera: str) -> View:
        """See `harness.protocols.Manipulation.view`. Raises `UsageError` for an unknown camera."""
        self._check_camera(camera)
        picture = self._cameras[camera].render(self.simulator, VIEW_PIXELS)
        masks = {name: mask_of(self.simulator, part, picture) for name, part in PARTS.items()}
        masks["gripper"] = (picture.bodies == self.simulator.robot) & np.isin(picture.links, HAND_LINKS)
        found = [mark for name, mask in masks.items() for mark in marks(mask.astype(np.int32), {name: (1,)})]
        return View(draw(picture.rgb, found), tuple(found), self.gripper())

    def pose(self) -> Pose:
        return self._current().control.pose()

    def gripper(self) -> float:
        return self._current().control.opening

    def move(self, pose: Pose, speed: float = 1.0) -> Motion:
        return self._current().control.move(pose, speed)

    def set_gripper(self, opening: float) -> Motion:
        return self._current().control.set_gripper(opening)

    def home(self) -> Motion:
        return self._current().control.home()

    def observation(self, cameras: Sequence[str] = ()) -> Mapping[str, NDArray[Any]]:
        """See `harness.protocols.Actuation.observation`."""
        pose = self.pose()
        return {
            **{f"rgb_{camera}": self.render(camera) for camera in cameras},
            "tool": np.concatenate([pose.position, pose.quaternion]),
            "gripper": np.clip([self.simulator.width() / OPEN_WIDTH], 0.0, 1.0),
            "joints": self.simulator.joints(),
        }

    def act(self, action: ArrayLike) -> Actuated:
        """See `harness.protocols.Actuation.act`. The limits are 2 cm and 0.05 rad."""
        return self._current().control.nudge(action)

    def info(self) -> Mapping[str, str]:
        return dict(self._info)

    def close(self) -> None:
        self._trial = None
        self.simulator.close()

    def _control_step(self, position: Floats, quaternion: Floats, gripper: int) -> None:
        judge = self._current().judge
        judge.before_step()
        self.simulator.step(position, quaternion, gripper)
        self._steps += 1
        judge.after_step()
        if self.on_control_step is not None:
            self.on_control_step()

    def _current(self) -> _Trial:
        if self._trial is None:
            raise RuntimeError("there is no scene yet: reset it first")
        return self._trial

    def _check_camera(self, camera: str) -> None:
        if camera not in self._cameras:
            raise UsageError(f"calvin has no camera {camera!r}; it has {', '.join(self._cameras)}")
