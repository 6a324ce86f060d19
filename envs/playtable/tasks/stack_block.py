"""Put the block that the gripper holds on top of another one, or take a tower apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envs.playtable import desk
from envs.playtable.setting import DESK_TOP
from envs.playtable.task import (
    SLOW,
    PlaytableTask,
    body,
    grasp,
    in_hand,
    neighbours,
    rests_on,
    speed,
    touched,
)

if TYPE_CHECKING:
    import numpy as np

    from envs.mujoco.control import Controller
    from envs.mujoco.world import World


def stacked(world: World) -> set[tuple[str, str]]:
    """Pairs (upper, lower) of blocks of which one lies on the other and on nothing else."""
    pairs = set()
    blocks = frozenset[int]().union(*(world.geoms(body(colour)) for colour in desk.BLOCKS))
    for upper in desk.BLOCKS:
        if touched(world, upper) <= blocks:
            height = world.position(body(upper))[2]
            pairs |= {
                (upper, lower)
                for lower in neighbours(world, upper)
                if height - world.position(body(lower))[2] > desk.HALF
            }
    return pairs


class StackBlock(PlaytableTask):
    def __init__(self) -> None:
        super().__init__(
            "stack_block",
            (
                "stack the grasped block on another block",
                "put the block that you hold on top of another block",
                "build a tower: set the held block down on one of the others",
                "place the block in the gripper onto another block",
                "lay the grasped block on top of one that lies on the desk",
                "the held block should rest on another block",
            ),
        )

    def arrange(self, world: World, rng: np.random.Generator) -> None:
        world.memo["held"] = rng.permutation(list(desk.BLOCKS)).tolist()[0]

    def prepare(self, arm: Controller) -> None:
        grasp(arm, arm.world.memo["held"])

    def success(self, world: World) -> bool:
        held = world.memo["held"]
        return speed(world, held) < SLOW and any(upper == held for upper, _ in stacked(world))


class UnstackBlock(PlaytableTask):
    def __init__(self) -> None:
        super().__init__(
            "unstack_block",
            (
                "take the upper block off the tower",
                "unstack the blocks",
                "remove the block that lies on top of the other one",
                "take the tower of blocks apart",
                "the block on top should come off",
                "lift the top block away from the one below it",
            ),
        )

    def arrange(self, world: World, rng: np.random.Generator) -> None:
        upper, lower = rng.permutation(list(desk.BLOCKS)).tolist()[:2]
        world.refresh()
        x, y, _ = world.position(body(lower))
        above = DESK_TOP + 2 * desk.HALF + 0.001
        desk.put_block(world, upper, float(x), float(y), above, float(rng.uniform(-0.4, 0.4)))

    def note(self, world: World) -> Any:
        return stacked(world)

    def success(self, world: World) -> bool:
        upper = next((upper for upper, _ in world.memo["start"]), "")
        if not upper or neighbours(world, upper):
            return False
        # Off the tower for good, not hopping on it or on its way down: in the gripper, or at rest.
        return in_hand(world, upper) or bool(rests_on(world, upper) and speed(world, upper) < SLOW)


TASKS = (StackBlock(), UnstackBlock())
