"""Prompts as a code-writing method builds them, and a toy world that runs what the model writes: boxes on a grid
of 1 cm voxels, where a movement always reaches its target."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.chat.rules.model import RulesModel
from harness.protocols import Message, Reply, Sampling

PROMPTS = Path(__file__).parents[4] / "envs" / "tabletop" / "prompts"
SIDE = 100


def conversation(
    program: str, query: str, objects: list[str] | None, examples: str, extra: str = ""
) -> list[Message]:
    context = "" if objects is None else f"objects = {objects!r}\n"
    return [
        Message("system", f"You complete the program `{program}` for a robot arm."),
        Message("user", f"Examples:\n```python\n{examples}\n```"),
        Message("assistant", "Understood."),
        Message("user", f"{extra}\n\n```python\n{context}# Query: {query}\n```".strip()),
    ]


def shown(program: str) -> str:
    return (PROMPTS / f"{program}.txt").read_text(encoding="utf-8").strip()


@dataclass
class Thing:
    """What detection gives: voxels, and a normal in the world."""

    position: np.ndarray
    aabb: np.ndarray
    normal: np.ndarray


@dataclass(frozen=True)
class Motion:
    """One call of `execute`: where the movable should go (voxels, None if nowhere), the gripper's value there
    (None if no map was given), the quaternion there and the voxels to avoid."""

    movable: str
    target: tuple[int, int, int] | None
    opening: float | None
    rotation: np.ndarray | None
    avoided: int
    speed: float


class Rotations:
    """A map that holds one quaternion for all voxels."""

    def __init__(self) -> None:
        self.value = np.array([0.0, 1.0, 0.0, 0.0])

    def __getitem__(self, key: Any) -> np.ndarray:
        return self.value.copy()

    def __setitem__(self, key: Any, value: Any) -> None:
        self.value = np.asarray(value, dtype=float)


def qmult(a: Any, b: Any) -> np.ndarray:
    w1, x1, y1, z1 = a
    w2, x2, y2, z2 = b
    return np.array(
        [
            w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2,
            w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2,
            w1 * y2 - x1 * z2 + y1 * w2 + z1 * x2,
            w1 * z2 + x1 * y2 - y1 * x2 + z1 * w2,
        ]
    )


def euler2quat(roll: float, pitch: float, yaw: float) -> np.ndarray:
    turn = np.array([1.0, 0, 0, 0])
    for axis, angle in ((3, yaw), (2, pitch), (1, roll)):
        step = np.zeros(4)
        step[0], step[axis] = np.cos(angle / 2), np.sin(angle / 2)
        turn = qmult(turn, step)
    return turn


@dataclass
class ToyWorld:
    """Asks the model for every program and runs the code that comes back."""

    things: Mapping[str, Thing]
    model: RulesModel = field(default_factory=RulesModel)
    motions: list[Motion] = field(default_factory=list)
    homes: int = 0
    gripper: np.ndarray = field(default_factory=lambda: np.array([40, 50, 80]))

    def ask(self, program: str, query: str) -> Reply:
        objects = list(self.things) if program in ("planner", "parse_query_obj") else None
        return self.model.complete(conversation(program, query, objects, shown(program)), Sampling())

    def run(self, program: str, query: str) -> Any:
        code = self.ask(program, query).text
        space = self.api()
        exec(compile(code, program, "exec"), space)
        return space.get("ret_val")

    def play(self, instruction: str) -> list[Motion]:
        self.run("planner", instruction)
        return self.motions

    def api(self) -> dict[str, Any]:
        space: dict[str, Any] = {
            "np": np,
            "detect": self.detect,
            "execute": self.execute,
            "reset_to_default_pose": self.home,
            "cm2index": lambda cm, axis: int(cm),
            "index2cm": lambda index, axis=None: float(index),
            "pointat2quat": lambda vector: np.array([0.0, *vector]) / np.linalg.norm(vector),
            "euler2quat": euler2quat,
            "qmult": qmult,
            "set_voxel_by_radius": fill_box,
            "get_ee_pos": lambda: self.gripper.copy(),
            "composer": lambda said: self.run("composer", said),
            "parse_query_obj": lambda phrase: self.run("parse_query_obj", phrase),
        }
        for kind in ("affordance", "avoidance", "velocity", "gripper", "rotation"):
            space[f"get_{kind}_map"] = lambda phrase, kind=kind: self.run(f"get_{kind}_map", phrase)
            space[f"get_empty_{kind}_map"] = EMPTY[kind]
        return space

    def detect(self, name: str) -> Any:
        if name in self.things:
            thing = self.things[name]
            return _Named(name, thing.position, thing.aabb, thing.normal)
        if name == "gripper":
            return _Named(name, self.gripper.copy(), np.stack([self.gripper] * 2), np.array([0, 0, 1.0]))
        if name == "table":
            return _Named(
                name, np.array([50, 50, 0]), np.array([[0, 0, 0], [99, 99, 0]]), np.array([0, 0, 1.0])
            )
        raise LookupError(f"no {name!r} among {list(self.things)}")

    def home(self) -> None:
        self.homes += 1
        self.gripper = np.array([40, 50, 80])

    def execute(
        self,
        movable: Any,
        affordance_map: Any = None,
        avoidance_map: Any = None,
        rotation_map: Any = None,
        velocity_map: Any = None,
        gripper_map: Any = None,
    ) -> None:
        target = None
        if affordance_map is not None:
            cells = np.argwhere(affordance_map > 0)
            assert len(cells), "an affordance map without a target"
            target = tuple(int(v) for v in cells[len(cells) // 2])
            if movable.name == "gripper":
                self.gripper = np.array(target)
        at = tuple(self.gripper)
        self.motions.append(
            Motion(
                movable.name,
                target,
                None if gripper_map is None else float(gripper_map[at]),
                None if rotation_map is None else rotation_map.value,
                0 if avoidance_map is None else int(avoidance_map.sum()),
                1.0 if velocity_map is None else float(velocity_map[at]),
            )
        )


@dataclass
class _Named(Thing):
    def __init__(self, name: str, position: np.ndarray, aabb: np.ndarray, normal: np.ndarray) -> None:
        super().__init__(position, aabb, normal)
        self.name = name


def fill_box(grid: np.ndarray, voxel: Any, radius_cm: float, value: float) -> np.ndarray:
    low, high = np.clip(np.array(voxel) - int(radius_cm), 0, SIDE - 1), np.array(voxel) + int(radius_cm) + 1
    grid[low[0] : high[0], low[1] : high[1], low[2] : high[2]] = value
    return grid


EMPTY: dict[str, Callable[[], Any]] = {
    "affordance": lambda: np.zeros((SIDE,) * 3, np.float32),
    "avoidance": lambda: np.zeros((SIDE,) * 3, np.float32),
    "velocity": lambda: np.ones((SIDE,) * 3, np.float32),
    "gripper": lambda: np.ones((SIDE,) * 3, np.float32),
    "rotation": Rotations,
}


def box(x: int, y: int, z: int, half: int = 2, normal: tuple[float, float, float] = (0, 0, 1)) -> Thing:
    middle = np.array([x, y, z])
    return Thing(middle, np.stack([middle - half, middle + half]), np.array(normal, dtype=float))


@pytest.fixture
def toy_box() -> Callable[..., Thing]:
    """A box by its middle, half its side (voxels) and normal."""
    return box


@pytest.fixture
def world() -> Callable[..., ToyWorld]:
    """`world("cup", "pot")` puts boxes with these names in a row; `world(cup=toy_box(...))` where told."""

    def build(*names: str, **placed: Thing) -> ToyWorld:
        row = {name: box(50, 20 + 15 * i, 5) for i, name in enumerate(names)}
        return ToyWorld(row | placed)

    return build


@pytest.fixture
def plan() -> Callable[..., list[str]]:
    """The sentences of the plan for an instruction, with the tabletop's examples or others."""

    def sentences(
        instruction: str,
        objects: list[str],
        examples: str | None = None,
        extra: str = "",
        sampling: Sampling | None = None,
    ) -> list[str]:
        from harness.chat.rules.planner import sentences_of

        asked = conversation("planner", instruction, objects, examples or shown("planner"), extra)
        return list(sentences_of(RulesModel().complete(asked, sampling or Sampling()).text))

    return sentences


@pytest.fixture
def ask() -> Callable[..., Reply]:
    """A reply to a query of any program, with the tabletop's examples or others."""

    def reply(
        program: str,
        query: str,
        objects: list[str] | None = None,
        examples: str | None = None,
        sampling: Sampling | None = None,
    ) -> Reply:
        asked = conversation(program, query, objects, examples or shown(program))
        return RulesModel().complete(asked, sampling or Sampling())

    return reply
