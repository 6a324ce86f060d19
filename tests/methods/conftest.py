"""A tiny kinematic world and a chat model with canned replies, for tests of code-writing methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.episode import Episode
from harness.failures import MotionFailure, PerceptionFailure, StepLimit
from harness.protocols import (
    Mark,
    Message,
    Motion,
    PointCloud,
    Pose,
    Reply,
    Reset,
    Sampling,
    Task,
    Verdict,
    View,
)
from harness.records import EpisodeKey
from harness.sandbox import Sandbox
from harness.seeding import Seeds

HALF = 0.02
"""Half of a block's edge in metres."""


def block(centre: Any) -> PointCloud:
    """The surface of a 4 cm cube, 5 x 5 points a face."""
    line = np.linspace(-HALF, HALF, 5)
    points, normals = [], []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            grid = np.stack(np.meshgrid(line, line, indexing="ij"), -1).reshape(-1, 2)
            face = np.insert(grid, axis, sign * HALF, axis=1)
            points.append(face + np.asarray(centre))
            normal = np.zeros(3)
            normal[axis] = sign
            normals.append(np.tile(normal, (len(face), 1)))
    return PointCloud(np.concatenate(points), np.concatenate(normals))


class World:
    """Blocks that a gripper carries: moves are instant and exact, a closing gripper takes a block within
    3 cm. The task holds while `goal` says so, and is lost once `loss` has said so."""

    control_hz = 20.0
    on_control_step: Callable[[], None] | None = None
    workspace = np.array([[-0.5, -0.5, 0.0], [0.5, 0.5, 1.0]])
    effector_names: tuple[str, ...] = ("gripper", "robot", "hand")
    surface_names: tuple[str, ...] = ("table",)

    def __init__(self, prompts: Path) -> None:
        self.prompts = prompts
        self.start = {"red block": (0.1, 0.1, HALF), "blue block": (0.2, -0.2, HALF)}
        self.goal: Callable[[World], bool] = lambda world: False
        self.loss: Callable[[World], bool] = lambda world: False
        self.unreachable: Callable[[np.ndarray], bool] = lambda position: False
        self.hidden: set[str] = set()
        self.limit = 10_000
        self.moves: list[np.ndarray] = []
        self.resets: list[tuple[str, int, int]] = []

    def reset(self, task: str, scene: int, seeds: Seeds) -> Reset:
        self.resets.append((task, scene, seeds.trial))
        self.blocks = {name: np.array(position) for name, position in self.start.items()}
        self.tool = Pose(np.array([0.0, 0.0, 0.4]), np.array([0.0, 1.0, 0.0, 0.0]))
        self.opening, self.held, self.count = 1.0, "", 0
        self.won, self.lost = False, False
        self.moves.clear()
        return Reset(state_hash=f"scene-{scene}")

    def verdict(self) -> Verdict:
        return Verdict(self.won, self.lost, holds=self.goal(self))

    def steps(self) -> int:
        return self.count

    def cameras(self) -> Sequence[str]:
        return ("front",)

    def render(self, camera: str) -> Any:
        raise NotImplementedError("the kinematic world has no camera")

    def info(self) -> Mapping[str, str]:
        return {"simulator": "kinematic"}

    def close(self) -> None:
        pass

    def objects(self) -> list[str]:
        return list(self.start)

    def cloud(self, name: str) -> PointCloud:
        if name not in self.blocks:
            raise PerceptionFailure(f"there is no object named {name!r}; known: {', '.join(self.blocks)}")
        if name in self.hidden:
            raise PerceptionFailure(f"no camera sees {name!r}")
        return block(self.blocks[name])

    def scene_cloud(self, ignore_robot: bool = True, ignore_grasped: bool = False) -> PointCloud:
        shown = [block(at) for name, at in self.blocks.items() if not (ignore_grasped and name == self.held)]
        return PointCloud(
            np.concatenate([cloud.points for cloud in shown]),
            np.concatenate([cloud.normals for cloud in shown]),
        )

    def view(self, camera: str) -> View:
        """Marks say where blocks are: centimetres for pixels."""
        seen = []
        for name, at in self.blocks.items():
            left, top = round(100 * at[0]) + 50, round(100 * at[1]) + 50
            seen.append(Mark(name, (left, top, left + 4, top + 4)))
        return View(np.zeros((8, 8, 3), np.uint8), tuple(seen), self.opening)

    def pose(self) -> Pose:
        return self.tool

    def gripper(self) -> float:
        return self.opening

    def move(self, pose: Pose, speed: float = 1.0) -> Motion:
        if not np.isfinite(pose.position).all():
            raise MotionFailure("the position is not finite")
        self._step()
        if self.unreachable(pose.position):
            return Motion(False, "out of reach", 0.1)
        self.tool = pose
        self.moves.append(pose.position)
        if self.held:
            self.blocks[self.held] = np.array(pose.position)
        self._judge()
        return Motion(True)

    def set_gripper(self, opening: float) -> Motion:
        self._step()
        self.opening = 1.0 if opening > 0.5 else 0.0
        near = [n for n, at in self.blocks.items() if np.linalg.norm(at - self.tool.position) < 0.03]
        self.held = (self.held or (near[0] if near else "")) if self.opening == 0.0 else ""
        self._judge()
        return Motion(True)

    def home(self) -> Motion:
        return self.move(Pose(np.array([0.0, 0.0, 0.4]), np.array([0.0, 1.0, 0.0, 0.0])))

    def _step(self) -> None:
        self.count += 1
        if self.count > self.limit:
            raise StepLimit(f"the task's {self.limit} control steps are spent")

    def _judge(self) -> None:
        self.lost = self.lost or (not self.won and self.loss(self))
        self.won = self.won or (not self.lost and self.goal(self))


@dataclass
class Canned:
    """Answers by the query line of the last message; a reply may be a text or a whole `Reply`."""

    replies: dict[str, str | Reply]
    name: str = "canned"
    asked: list[tuple[Message, ...]] = field(default_factory=list)

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        self.asked.append(tuple(messages))
        query = next(line for line in reversed(messages[-1].text.splitlines()) if line.startswith("# Query:"))
        reply = self.replies[query.removeprefix("# Query:").strip()]
        return reply if isinstance(reply, Reply) else Reply(reply, model=self.name)

    def close(self) -> None:
        pass

    def queries(self) -> list[str]:
        """The query lines of all requests, in order."""
        return [
            messages[-1].text.splitlines()[-2].removeprefix("# Query:").strip() for messages in self.asked
        ]


@dataclass
class Stage:
    """An episode with everything that a test looks at."""

    episode: Episode
    world: World
    chat: Canned
    events: list[dict[str, Any]]

    def traced(self, event: str) -> list[dict[str, Any]]:
        return [entry for entry in self.events if entry["event"] == event]


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    """A folder with one example a program."""
    (tmp_path / "frame.txt").write_text("Axes: x points right.\n")
    for program in ("planner", "parse_query_obj"):
        (tmp_path / f"{program}.txt").write_text(
            "objects = ['cup']\n# Query: cup.\nret_val = detect('cup')\n"
        )
    for program in (
        "composer",
        *(f"get_{m}_map" for m in ("affordance", "avoidance", "velocity", "rotation", "gripper")),
    ):
        (tmp_path / f"{program}.txt").write_text("# Query: everywhere.\nret_val = 1\n")
    return tmp_path


@pytest.fixture
def stage(prompts: Path) -> Callable[..., Stage]:
    """Builds a stage for canned replies."""

    def build(replies: dict[str, str | Reply], instruction: str = "lift the red block") -> Stage:
        world, chat, events = World(prompts), Canned(replies), []  # type: World, Canned, list[dict[str, Any]]
        episode = Episode(
            key=EpisodeKey("lift", 0, 0),
            task=Task("lift", (instruction,), world.limit),
            env=world,
            seeds=Seeds("world", "lift", 0, 0),
            models=lambda role: chat,
            sandbox=Sandbox(),
            trace=lambda event, **data: events.append({"event": event, **data}),
        )
        return Stage(episode, world, chat, events)

    return build
