"""The live environment: scenes, motions and what the cameras see, behind `harness.protocols.Manipulation`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from envs.commands import checked_opening, checked_pose, checked_speed
from envs.mujoco.marks import draw, marks
from envs.mujoco.names import Names
from envs.rlbench import CAMERAS, package, perception
from envs.rlbench.exposed import EXPOSED, Part, discovered
from envs.rlbench.simulator import CONTROL_HZ, Observation, Simulator
from harness.failures import PerceptionFailure, ResetError, StepLimit, UsageError
from harness.protocols import Motion, PointCloud, Pose, Reset, Task, Verdict, View

if TYPE_CHECKING:
    from harness.protocols import Floats, Image
    from harness.seeding import Seeds

EFFECTOR_NAMES = ("gripper", "robot", "end effector", "robot gripper", "hand")
SURFACE_NAMES = ("table", "desk", "tabletop", "workstation", "work surface")
RESET_ATTEMPTS = 5
SLOWEST, FASTEST = 0.1, 3.0
"""Limits of the speed factor; factors beyond them are cut."""
REACHED = 0.01
"""A motion has reached its target within this distance, metres."""
_FEWEST = 3
"""Fewer points than this are not an object that is seen."""
_GRIPPER, _TABLE = "gripper", "table"


@dataclass(frozen=True)
class _Thing:
    """What a name of the scene stands for."""

    part: Part
    handles: frozenset[int]


@dataclass
class _Trial:
    """An attempt in progress."""

    step_limit: int
    things: Mapping[str, _Thing]
    names: Names
    home: Pose
    seen: Observation
    seen_at: int = 0
    """The step after which that was seen."""
    opening: float = 1.0
    steps: int = 0
    success: bool = False
    failed: bool = False


class RLBenchEnvironment:
    """One simulator."""

    control_hz = CONTROL_HZ
    effector_names = EFFECTOR_NAMES
    surface_names = SURFACE_NAMES
    prompts: Path = Path(__file__).parent / "prompts"
    on_control_step: Callable[[], None] | None = None

    def __init__(self, rlbench: Path) -> None:
        """`rlbench` is the folder of the package. Raises `SimulatorError` when RLBench does not start."""
        self._package = rlbench
        self._starts: dict[tuple[str, int], tuple[int, str]] = {}
        self._trial: _Trial | None = None
        self.simulator = Simulator()
        self.workspace: Floats = self.simulator.workspace

    def reset(self, task: str, scene: int, seeds: Seeds) -> Reset:
        """See `harness.protocols.Environment.reset`.

        A placement that fails is drawn again. RLBench also tries, with a planner that cannot be seeded, whether the arm
        reaches a placement, and goes on drawing where it does not; so a scene that was up before is asked for again
        until it is the same."""
        if task not in package.task_names(self._package):
            raise UsageError(f"RLBench in {self._package} has no task {task!r}")
        definition = package.task(self._package, task)
        self._trial = None
        self.simulator.load(task)
        generator = seeds.scene()
        variation = int(generator.integers(self.simulator.variations()))
        seed = int(generator.integers(2**32))
        expected = ""
        if (task, scene) in self._starts:
            seed, expected = self._starts[task, scene]
        for attempt in range(1, RESET_ATTEMPTS + 1):
            try:
                descriptions, seen = self.simulator.reset(variation, seed)
            except ResetError:
                if attempt == RESET_ATTEMPTS:
                    raise
                seed = int(generator.integers(2**32))
                continue
            state_hash = self.simulator.state_hash(task, str(variation))
            if expected in ("", state_hash):
                break
        self._starts.setdefault((task, scene), (seed, state_hash))
        self._trial = self._begin(definition, seen)
        words = _words(definition, descriptions)
        return Reset(state_hash, attempt, {**words, "variation": str(variation)})

    def verdict(self) -> Verdict:
        trial = self._current()
        return Verdict(
            success=trial.success,
            failed=trial.failed,
            holds=self.simulator.judge().success,
            subtasks_done=int(trial.success),
        )

    def steps(self) -> int:
        return self._current().steps

    def objects(self) -> list[str]:
        return list(self._current().things)

    def cloud(self, name: str) -> PointCloud:
        """See `harness.protocols.Manipulation.cloud`. Knows the end effector and the table by their names, too."""
        found = self._current().names.find(name)
        if found == _TABLE:
            cloud = perception.surface(self._seen(), self._unmoved(), self.workspace)
        elif found == _GRIPPER:
            cloud = perception.part(self._seen(), self.simulator.gripper_handles)
        else:
            thing = self._current().things[found]
            cloud = perception.part(self._seen(), thing.handles, thing.part.box, self._frame(thing.part))
        if len(cloud.points) < _FEWEST:
            known = ", ".join(map(repr, self.objects()))
            raise PerceptionFailure(f"no camera sees {name!r} now; the scene has {known}")
        return cloud

    def scene_cloud(self, ignore_robot: bool = True, ignore_grasped: bool = False) -> PointCloud:
        """See `harness.protocols.Manipulation.scene_cloud`, cut to the workspace."""
        without = self.simulator.robot_handles if ignore_robot else frozenset()
        if ignore_grasped:
            without |= self.simulator.grasped()
        return perception.surroundings(self._seen(), without, self.workspace)

    def cameras(self) -> Sequence[str]:
        return CAMERAS

    def render(self, camera: str) -> Image:
        """See `harness.protocols.Environment.render`. Raises `UsageError` for an unknown camera."""
        self._check_camera(camera)
        return self._seen().pictures[camera].rgb

    def view(self, camera: str) -> View:
        """See `harness.protocols.Manipulation.view`. Raises `UsageError` for an unknown camera."""
        self._check_camera(camera)
        picture = self._seen().pictures[camera]
        masks = {
            name: perception.mask_of(picture, thing.handles, thing.part.box, self._frame(thing.part))
            for name, thing in self._current().things.items()
        }
        masks[_GRIPPER] = perception.mask_of(picture, self.simulator.gripper_handles)
        found = [mark for name, mask in masks.items() for mark in marks(mask.astype(np.int32), {name: (1,)})]
        return View(draw(picture.rgb, found), tuple(found), self.gripper())

    def pose(self) -> Pose:
        return self._seen().pose

    def gripper(self) -> float:
        return self._current().opening

    def move(self, pose: Pose, speed: float = 1.0) -> Motion:
        """See `harness.protocols.Manipulation.move`; RLBench plans another path where the arm cannot follow the line.
        `speed` is cut to 0.1..3. A motion ends where the task succeeds."""
        target, factor = checked_pose(pose), checked_speed(speed, SLOWEST, FASTEST)
        before = self._ready().success
        refused, seen = self.simulator.move(target, factor, self._after_step)
        self._saw(seen)
        error = float(np.linalg.norm(seen.pose.position - target.position))
        if refused:
            return Motion(False, refused, error)
        if error <= REACHED:
            return Motion(True, "", error)
        if self._current().success and not before:
            return Motion(True, "the task succeeded on the way", error)
        return Motion(False, f"the arm was held up: it stopped {1000 * error:.0f} mm from the target", error)

    def set_gripper(self, opening: float) -> Motion:
        """See `harness.protocols.Manipulation.set_gripper`; an opening outside 0..1 is a `MotionFailure`."""
        wanted = checked_opening(opening)
        trial = self._ready()
        if wanted == trial.opening:
            return Motion(True)
        trial.opening = wanted
        seen = self.simulator.set_gripper(wanted, self._after_step)
        self._saw(seen)
        if wanted and not seen.gripper_open:
            return Motion(False, "the fingers could not open")
        return Motion(True)

    def home(self) -> Motion:
        return self.move(self._current().home)

    def info(self) -> Mapping[str, str]:
        return self.simulator.info()

    def close(self) -> None:
        self._trial = None
        self.simulator.close()

    def _begin(self, task: Task, seen: Observation) -> _Trial:
        parts = EXPOSED.get(task.name) or discovered(self.simulator.shapes())
        families = {part.object: self.simulator.family(part.object) for part in parts.values()}
        things = {}
        for name, part in parts.items():
            family = families[part.object]
            # What hangs on it and has a name of its own is not it: the lid is not the saucepan.
            named = [other for other in families.values() if other < family]
            things[name] = _Thing(part, family.difference(*named))
        aliases = {**dict.fromkeys(EFFECTOR_NAMES, _GRIPPER), **dict.fromkeys(SURFACE_NAMES, _TABLE)}
        names = Names([(name, name) for name in things], aliases)
        return _Trial(task.step_limit, things, names, seen.pose, seen, opening=float(seen.gripper_open))

    def _after_step(self) -> None:
        """After each step of the simulation. RLBench's conditions come and go, so the first that is met is kept."""
        trial = self._current()
        trial.steps += 1
        if not (trial.success or trial.failed):
            judged = self.simulator.judge()
            trial.success = judged.success
            trial.failed = judged.over and not judged.success
        if self.on_control_step is not None:
            self.on_control_step()
        if trial.steps >= trial.step_limit:
            raise StepLimit(f"the task's {trial.step_limit} control steps are spent")

    def _ready(self) -> _Trial:
        """The trial, if it may go on. Raises `StepLimit`."""
        trial = self._current()
        if trial.steps >= trial.step_limit:
            raise StepLimit(f"the task's {trial.step_limit} control steps are spent")
        return trial

    def _seen(self) -> Observation:
        """What is observed now; RLBench looks again only where steps went by unseen."""
        trial = self._current()
        if trial.seen_at != trial.steps:
            self._saw(self.simulator.observe())
        return trial.seen

    def _saw(self, seen: Observation) -> None:
        trial = self._current()
        trial.seen, trial.seen_at = seen, trial.steps

    def _frame(self, part: Part) -> Pose | None:
        return None if part.box is None else self.simulator.pose_of(part.frame or part.object)

    def _unmoved(self) -> frozenset[int]:
        """Handles of the robot and of all things with names."""
        handles = [thing.handles for thing in self._current().things.values()]
        return self.simulator.robot_handles.union(*handles)

    def _current(self) -> _Trial:
        if self._trial is None:
            raise RuntimeError("there is no scene yet: reset it first")
        return self._trial

    def _check_camera(self, camera: str) -> None:
        if camera not in CAMERAS:
            raise UsageError(f"rlbench has no camera {camera!r}; it has {', '.join(CAMERAS)}")


def _words(task: Task, descriptions: Sequence[str]) -> Mapping[str, str]:
    """What fills the braces of the task's instructions. Raises `ResetError` when RLBench gives fewer wordings than its
    file shows."""
    wanted = package.keys(len(task.instructions))
    if len(descriptions) < len(wanted):
        raise ResetError(
            f"RLBench words {task.name} in {len(descriptions)} ways here and in {len(wanted)} in its file; run it with "
            "env.instructions=single"
        )
    return dict(zip(wanted, descriptions, strict=False))
