"""Put down the block that the gripper holds: on the shelf, or in the open drawer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envs.playtable import desk
from envs.playtable.task import PlaytableTask, body, grasp, in_hand, rests_on

if TYPE_CHECKING:
    import numpy as np

    from envs.mujoco.control import Controller
    from envs.mujoco.world import World


class PlaceBlock(PlaytableTask):
    """Which block is held is drawn for each scene; the instructions do not say."""

    def __init__(self, surface: str) -> None:
        target = "in the drawer" if surface == "drawer" else "on the shelf"
        super().__init__(
            f"place_in_{'drawer' if surface == 'drawer' else 'slider'}",
            (
                f"put the grasped block {target}",
                f"place the block that you hold {target}",
                f"lay the held block down {target}",
                f"the block in the gripper belongs {target}",
                f"bring the grasped block over and release it {target}",
                f"store the block in your hand {target}",
            ),
        )
        self._surface = surface

    def arrange(self, world: World, rng: np.random.Generator) -> None:
        world.memo["held"] = rng.permutation(list(desk.BLOCKS)).tolist()[0]
        if self._surface == "drawer":
            desk.start(world, "drawer", desk.DRAWER_TRAVEL)

    def prepare(self, arm: Controller) -> None:
        grasp(arm, arm.world.memo["held"])

    def note(self, world: World) -> Any:
        return rests_on(world, world.memo["held"])

    def success(self, world: World) -> bool:
        held = world.memo["held"]
        if world.memo["start"] == self._surface or in_hand(world, held):
            return False
        return rests_on(world, held) == self._surface and world.position(body(held))[2] < 0.6


TASKS = (PlaceBlock("shelf"), PlaceBlock("drawer"))
