"""The live RLBench of one process: launched once with a fixed observation config, brought to a scene, commanded, and
judged by its own conditions. The only module that imports `rlbench` and `pyrep`. RLBench speaks in poses of xyz and a
quaternion xyzw; here they become wxyz."""

from __future__ import annotations

import hashlib
import importlib
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from envs.rlbench import CAMERAS
from envs.rlbench.exposed import Shape
from harness.failures import HarnessError, MethodFailure, ResetError, SimulatorError
from harness.protocols import Pose

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.protocols import Floats, Image

PIXELS = 256
"""Height and width of the cameras' pictures."""
CONTROL_HZ = 20.0
"""RLBench simulates in steps of 50 ms."""
BACKGROUND = 16777215
"""What a mask holds where nothing is."""
REACH = 0.2
"""RLBench refuses targets further beyond the shape `workspace` than this, metres..."""
HEIGHT = 1.0
"""... or higher above it."""
_HASHED_DIGITS = 4
"""Decimals of a metre or a quaternion's part to which initial states are compared."""


@dataclass(frozen=True)
class Picture:
    """What a camera shows; H and W are `PIXELS`."""

    rgb: Image
    """(H, W, 3)."""
    handles: NDArray[np.int64]
    """(H, W), of the shape that a pixel shows; `BACKGROUND` where there is none."""
    points: Floats
    """(H, W, 3), metres, world frame."""
    eye: Floats
    """(3,), the camera."""


@dataclass(frozen=True)
class Observation:
    """What RLBench observed at one moment."""

    pictures: Mapping[str, Picture]
    """By camera."""
    pose: Pose
    """Of the tool centre point."""
    gripper_open: bool


@dataclass(frozen=True)
class Judgement:
    """The conditions of the task, now."""

    success: bool
    over: bool
    """Whether RLBench would end the episode."""


@dataclass(frozen=True)
class _Commands:
    """What RLBench takes for its action mode: an action is a function that is handed the scene."""

    arm_action_mode: Any
    gripper_action_mode: Any

    def action(self, scene: Any, action: Callable[[Any], None]) -> None:
        action(scene)


class Simulator:
    """One simulator. CoppeliaSim is a library with one scene, so there is one a process; a second one crashes both."""

    _live = False

    def __init__(self) -> None:
        """Raises `SimulatorError` when it does not start, or when the process has one already."""
        if Simulator._live:
            raise SimulatorError("there is an RLBench environment in this process already; close it first")
        self._environment: Any = None
        self._task: Any = None
        self._task_environment: Any = None
        self._robot: Any = None
        self._name = ""
        self._broken = False
        self.robot_handles: frozenset[int] = frozenset()
        """Of all shapes of the robot."""
        self.gripper_handles: frozenset[int] = frozenset()
        self._launch()
        Simulator._live = True

    # Starting and ending

    def _launch(self) -> None:
        with self._faults("CoppeliaSim could not be started"):
            arms = _module("rlbench.action_modes.arm_action_modes")
            grippers = _module("rlbench.action_modes.gripper_action_modes")
            self._commands = _Commands(arms.EndEffectorPoseViaPlanning(), grippers.Discrete())
            self._environment = _module("rlbench.environment").Environment(
                self._commands, obs_config=_observation_config(), headless=True
            )
            self._environment.launch()
            floor = _module("pyrep.objects.shape").Shape("workspace")
            middle, box = np.array(floor.get_position()), floor.get_bounding_box()
            low, high = middle[:2] + np.array(box)[[0, 2]], middle[:2] + np.array(box)[[1, 3]]
            self.workspace: Floats = np.array(
                [[*(low - REACH), middle[2]], [*(high + REACH), middle[2] + HEIGHT]]
            )
            """(2, 3): the corners between which RLBench takes targets."""
        self._broken = False

    def close(self) -> None:
        """Shut it down. What it complains of then is a warning: all that it was to do is done."""
        Simulator._live = False
        environment, self._environment = self._environment, None
        self._task = self._task_environment = self._robot = None
        self._name = ""
        if environment is not None:
            try:
                environment.shutdown()
            except Exception as error:
                warnings.warn(f"RLBench did not shut down cleanly: {error}", RuntimeWarning, stacklevel=2)

    def info(self) -> Mapping[str, str]:
        """What a row has to say of it."""
        root = Path(os.environ.get("COPPELIASIM_ROOT", "unknown")).name
        return {
            "simulator": root,
            "rlbench": _version("rlbench"),
            "pyrep": _version("pyrep"),
            "renderer": "opengl3",
        }

    # Scenes

    def load(self, name: str) -> None:
        """Bring a task into the scene, unless it is there. Starts a broken simulator anew. Raises `SimulatorError`."""
        if self._broken or self._environment is None:
            self.close()
            self._launch()
            Simulator._live = True
        if name == self._name:
            return
        with self._faults(f"RLBench could not load {name}"):
            task_class = getattr(_module(f"rlbench.tasks.{name}"), _class_name(name))

            def build(pyrep: Any, robot: Any) -> Any:
                self._robot = robot
                self._task = task_class(pyrep, robot)
                return self._task

            self._name = ""
            self._task_environment = self._environment.get_task(build)
            self._name = name
            # Now, since whatever is grasped later hangs on the arm.
            self.robot_handles = _handles(self._robot.arm)
            self.gripper_handles = _handles(self._robot.gripper)

    def variations(self) -> int:
        with self._faults("RLBench could not count the variations"):
            return int(self._task_environment.variation_count())

    def reset(self, variation: int, seed: int) -> tuple[Sequence[str], Observation]:
        """Put up the loaded task's scene; its descriptions, and what is observed. All that RLBench draws comes from
        NumPy's global generator. Raises `ResetError` when the task cannot be placed."""
        with self._faults(f"RLBench could not reset {self._name}"):
            np.random.seed(seed)
            self._task_environment.set_variation(variation)
            descriptions, observed = self._task_environment.reset()
            return [str(text) for text in descriptions], _observation(observed)

    def state_hash(self, *words: str) -> str:
        """16 hex digits over where the task's objects and the arm are, to a tenth of a millimetre, and over `words`."""
        with self._faults("the state of the scene could not be read"):
            digest = hashlib.sha256("\x1f".join(words).encode())
            for entry in self._task.get_base().get_objects_in_tree(exclude_base=False):
                digest.update(entry.get_name().encode())
                digest.update(_rounded(entry.get_pose()))
            digest.update(_rounded(self._robot.arm.get_joint_positions()))
            return digest.hexdigest()[:16]

    def judge(self) -> Judgement:
        """What the task's conditions say now."""
        with self._faults("the task could not be judged"):
            success, over = self._task.success()
            return Judgement(bool(success), bool(over))

    # Looking

    def observe(self) -> Observation:
        with self._faults("the scene could not be observed"):
            return _observation(self._task_environment.get_observation())

    def look_around(self) -> None:
        """Load a task and look: what a trial start has to show."""
        self.load("reach_target")
        self.reset(0, 0)

    def shapes(self) -> list[Shape]:
        """The shapes of the task."""
        kinds = _module("pyrep.const").ObjectType
        with self._faults("the task's objects could not be listed"):
            base = self._task.get_base()
            shapes = base.get_objects_in_tree(object_type=kinds.SHAPE, exclude_base=False)
            names = {entry.get_handle(): entry.get_name() for entry in shapes}
            return [
                Shape(names[entry.get_handle()], tuple(_above(entry, names)), bool(entry.is_renderable()))
                for entry in shapes
            ]

    def family(self, name: str) -> frozenset[int]:
        """Handles of an object and of all that hangs on it."""
        with self._faults(f"there is no object {name} in the scene of {self._name}"):
            return _handles(_object(name))

    def pose_of(self, name: str) -> Pose:
        """Where an object is."""
        with self._faults(f"there is no object {name} in the scene of {self._name}"):
            return _pose(_object(name).get_pose())

    def grasped(self) -> frozenset[int]:
        """Handles of what hangs on the gripper."""
        with self._faults("the gripper could not be asked"):
            held = [_handles(entry) for entry in self._robot.gripper.get_grasped_objects()]
            return frozenset().union(*held)

    # Acting

    def move(self, pose: Pose, speed: float, after_step: Callable[[], None]) -> tuple[str, Observation]:
        """Go to a pose by RLBench's planning: a straight line or, where the arm cannot, another path. Ends early when the
        task succeeds. Returns why it was refused, else nothing, and what is observed; a refusal takes one step."""
        refused = _module("rlbench.backend.exceptions").InvalidActionError
        w, x, y, z = pose.quaternion
        target = np.array([*pose.position, x, y, z, w])
        reasons: list[str] = []

        def command(scene: Any) -> None:
            scene.register_step_callback(after_step)
            arm = scene.robot.arm
            usual = arm.max_velocity
            arm.max_velocity = usual * speed
            try:
                self._commands.arm_action_mode.action(scene, target)
            except refused as reason:
                reasons.append(" ".join(str(reason).split()) or type(reason).__name__)
                scene.step()
            finally:
                arm.max_velocity = usual

        observed = self._command(command)
        return (reasons[0] if reasons else ""), observed

    def set_gripper(self, opening: float, after_step: Callable[[], None]) -> Observation:
        """Open or close by RLBench's discrete mode, which attaches what the fingers are around."""

        def command(scene: Any) -> None:
            self._commands.gripper_action_mode.action(_Stepped(scene, after_step), np.array([opening]))

        return self._command(command)

    def _command(self, command: Callable[[Any], None]) -> Observation:
        with self._faults("a command broke the simulation"):
            observed, _, _ = self._task_environment.step(command)
            return _observation(observed)

    @contextmanager
    def _faults(self, what: str) -> Iterator[None]:
        """Tells apart what goes wrong inside: a scene that cannot be set up, or a simulator that is broken."""
        try:
            yield
        except (MethodFailure, HarnessError):
            raise
        except Exception as error:
            if type(error).__name__ == "TaskEnvironmentError":
                raise ResetError(f"{what}: {error}") from error
            self._broken = True
            raise SimulatorError(f"{what}: {type(error).__name__}: {error}") from error


class _Stepped:
    """The scene as the gripper's mode sees it. That mode steps simulator and task without telling the scene; so the
    task's step tells."""

    def __init__(self, scene: Any, after_step: Callable[[], None]) -> None:
        self.robot, self.pyrep = scene.robot, scene.pyrep
        self.task = self
        self._task, self._after_step = scene.task, after_step

    def get_graspable_objects(self) -> Any:
        return self._task.get_graspable_objects()

    def step(self) -> None:
        self._task.step()
        self._after_step()


def _module(name: str) -> Any:
    return importlib.import_module(name)


def _class_name(task: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in task.split("_"))


def _observation_config() -> Any:
    """One of our own, since RLBench's default is shared; it is fixed at launch, as cameras that are off are removed."""
    module = _module("rlbench.observation_config")
    cameras = {
        f"{camera}_camera": module.CameraConfig(
            rgb=True, depth=False, point_cloud=True, mask=True, image_size=(PIXELS, PIXELS)
        )
        for camera in CAMERAS
    }
    return module.ObservationConfig(
        **cameras,
        joint_velocities=False,
        joint_positions=True,
        joint_forces=False,
        gripper_open=True,
        gripper_pose=True,
    )


def _observation(observed: Any) -> Observation:
    """RLBench's observation. Raises `SimulatorError` when the robot's pose has broken down."""
    pictures = {}
    for camera in CAMERAS:
        pictures[camera] = Picture(
            np.asarray(getattr(observed, f"{camera}_rgb"), np.uint8),
            # Colours times 255 in float32: a handle of 37 may be 36.99999.
            np.rint(getattr(observed, f"{camera}_mask")).astype(np.int64),
            np.asarray(getattr(observed, f"{camera}_point_cloud"), np.float64),
            np.asarray(observed.misc[f"{camera}_camera_extrinsics"], np.float64)[:3, 3],
        )
    if not np.isfinite(observed.gripper_pose).all():
        raise SimulatorError(f"the robot's pose is not finite: {observed.gripper_pose}")
    return Observation(pictures, _pose(observed.gripper_pose), float(observed.gripper_open) > 0.5)


def _pose(numbers: Any) -> Pose:
    x, y, z, qx, qy, qz, qw = (float(number) for number in numbers)
    return Pose(np.array([x, y, z]), np.array([qw, qx, qy, qz]))


def _object(name: str) -> Any:
    return _module("pyrep.objects.object").Object.get_object(name)


def _handles(root: Any) -> frozenset[int]:
    return frozenset(entry.get_handle() for entry in root.get_objects_in_tree(exclude_base=False))


def _above(entry: Any, names: Mapping[int, str]) -> Iterator[str]:
    """The names of the task's shapes above one."""
    while (entry := entry.get_parent()) is not None:
        if entry.get_handle() in names:
            yield names[entry.get_handle()]


def _rounded(numbers: Any) -> bytes:
    rounded = np.round(np.asarray(numbers, np.float64), _HASHED_DIGITS) + 0.0  # no negative zeros
    return rounded.tobytes()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
