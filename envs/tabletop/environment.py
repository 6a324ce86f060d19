"""The live environment: scenes, motions and what the sensors see, behind `harness.protocols.Manipulation`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from envs.tabletop.control import CONTROL_HZ, Controller
from envs.tabletop.kinematics import Kinematics
from envs.tabletop.task import discover
from envs.tabletop.world import WORKSPACE, World
from harness.failures import UsageError
from harness.protocols import Motion, Pose, Reset, Task, Verdict

if TYPE_CHECKING:
    from harness.seeding import Seeds


class TabletopEnvironment:
    """One simulator. The model of a task is built at its first reset and kept."""

    control_hz = CONTROL_HZ
    on_control_step: Callable[[], None] | None = None
    workspace = np.array(WORKSPACE)
    effector_names = ("gripper", "robot", "end effector", "robot gripper", "hand")
    surface_names = ("table", "desk", "tabletop", "workstation", "work surface")
    prompts = Path(__file__).parent / "prompts"

    def __init__(
        self,
        tasks: Sequence[Task],
        noise: float = 1.0,
        renderer: str = "auto",
        rename: Mapping[str, str] | None = None,
    ) -> None:
        self._tasks = {task.name: task for task in tasks}
        self._rename = dict(rename or {})
        self._worlds: dict[str, World] = {}
        self._kinematics = Kinematics()
        self._world: World | None = None
        self._control: Controller | None = None

    @property
    def world(self) -> World:
        """The physics of the scene that is up; for tests. Raises `RuntimeError` before the first reset."""
        if self._world is None:
            raise RuntimeError("the tabletop has no scene yet: reset it first")
        return self._world

    @property
    def controller(self) -> Controller:
        if self._control is None:
            raise RuntimeError("the tabletop has no scene yet: reset it first")
        return self._control

    def reset(self, task: str, scene: int, seeds: Seeds) -> Reset:
        if task not in self._tasks:
            raise UsageError(f"the tabletop has no task {task!r}; it has {', '.join(sorted(self._tasks))}")
        if task not in self._worlds:
            self._worlds[task] = World(discover()[task])
        self._control, self._world = None, self._worlds[task]
        attempts = self._world.reset(seeds.scene())
        self._control = Controller(
            self._world, self._kinematics, self._tasks[task].step_limit, self._after_control_step
        )
        return Reset(self._world.state_hash(), attempts, dict(self._world.variation))

    def verdict(self) -> Verdict:
        world = self.world
        return Verdict(
            success=world.succeeded,
            failed=world.failed,
            holds=world.task.success(world),
            subtasks_done=int(world.succeeded),
        )

    def steps(self) -> int:
        return self.controller.steps

    def objects(self) -> list[str]:
        return [self._rename.get(name, name) for name in self.world.parts]

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

    def info(self) -> Mapping[str, str]:
        return {"simulator": "mujoco", "mujoco": mujoco.__version__}

    def close(self) -> None:
        self._world = self._control = None
        self._worlds.clear()

    def _after_control_step(self) -> None:
        if self.on_control_step is not None:
            self.on_control_step()
