"""What the playtable's tasks share: the desk, its lights, and questions about blocks.

Verdicts compare the state with the one at the beginning, as CALVIN's oracle does, after every physics step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from envs.mujoco.task import PandaTask
from envs.playtable import desk

if TYPE_CHECKING:
    import numpy as np

    from envs.mujoco.control import Controller
    from envs.mujoco.world import World

SURFACES = {"desk": "desk_body", "shelf": "shelf", "drawer": "drawer"}
"""Where blocks can lie, and the body that they touch there."""
SLOW = 0.05
"""A block below this speed rests, metres per second."""
_LEVEL = 0.7
"""A contact whose normal rises more steeply than this bears what lies on it."""


class PlaytableTask(PandaTask):
    """One task of a family; families give `name` and `instructions` when they are made."""

    step_limit = 1200
    objects = desk.OBJECTS

    def __init__(self, name: str, instructions: tuple[str, ...]) -> None:
        self.name = name
        self.instructions = instructions

    def build(self, spec: Any) -> None:
        desk.build(spec)

    def place(self, world: World, rng: np.random.Generator) -> Mapping[str, str]:
        desk.lay_out(world, rng)
        self.arrange(world, rng)
        return {}

    def arrange(self, world: World, rng: np.random.Generator) -> None:
        """Change the usual scene to one where the task can be done."""

    def begin(self, world: World) -> None:
        world.memo["start"] = self.note(world)

    def note(self, world: World) -> Any:
        """What the verdict compares with."""
        return None

    def after_step(self, world: World) -> None:
        desk.run_lights(world)


def body(colour: str) -> str:
    return f"{colour}_block"


def touched(world: World, colour: str) -> frozenset[int]:
    """Ids of the geoms that are in contact with a block."""
    mine = world.geoms(body(colour))
    pairs = world.data.contact.geom.tolist()
    return frozenset(other for pair in pairs for one, other in (pair, pair[::-1]) if one in mine)


def neighbours(world: World, colour: str) -> set[str]:
    """The other blocks that a block touches."""
    found = touched(world, colour)
    return {other for other in desk.BLOCKS if other != colour and found & world.geoms(body(other))}


def rests_on(world: World, colour: str) -> str:
    """The surface that a block lies on: desk, shelf or drawer; empty if it lies on none. To touch one from the
    side is not to lie on it."""
    mine = world.geoms(body(colour))
    contact = world.data.contact
    owner = world.model.geom_bodyid
    under = {
        int(owner[other])
        for pair in contact.geom[abs(contact.frame[:, 2]) > _LEVEL].tolist()
        for one, other in (pair, pair[::-1])
        if one in mine
    }
    found = [name for name, part in SURFACES.items() if world.model.body(part).id in under]
    return found[-1] if found else ""


def speed(world: World, colour: str) -> float:
    """Metres per second."""
    first = world.model.jnt_dofadr[world.model.body(body(colour)).jntadr[0]]
    velocity = world.data.qvel[first : first + 3]
    return float((velocity @ velocity) ** 0.5)


def in_hand(world: World, colour: str) -> bool:
    """Whether the arm touches the block."""
    return world.touching("link0", body(colour))


def grasp(arm: Controller, colour: str) -> None:
    """Take a block from above by its narrow sides and carry it over the desk. Raises `Crowded` when it slips."""
    import numpy as np

    from envs.mujoco.world import Crowded
    from harness.protocols import Pose

    world = arm.world
    here = world.position(body(colour))
    rotation = world.rotation(body(colour))
    yaw = float(np.arctan2(rotation[1, 0], rotation[0, 0]))
    yaw = (yaw + np.pi / 2) % np.pi - np.pi / 2
    down = np.array([0.0, np.cos(yaw / 2), np.sin(yaw / 2), 0.0])
    for height in (0.10, 0.0):
        arm.move(Pose(here + np.array([0.0, 0.0, height]), down))
    arm.set_gripper(0.0)
    arm.move(Pose(here + np.array([0.0, 0.0, 0.14]), down))
    if not world.grasped(body(colour)):
        raise Crowded(f"the {colour} block slipped out of the gripper")
