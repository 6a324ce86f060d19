"""Push a block off the front of the desk so that it falls into the open drawer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envs.playtable import desk
from envs.playtable.setting import DESK_TOP
from envs.playtable.task import PlaytableTask, in_hand, rests_on

if TYPE_CHECKING:
    import numpy as np

    from envs.mujoco.world import World


class PushIntoDrawer(PlaytableTask):
    """One block lies at the edge above the drawer; which one is drawn for each scene. Any block that lay on the desk
    counts, once the arm has left it."""

    def __init__(self) -> None:
        super().__init__(
            "push_into_drawer",
            (
                "push the block at the edge into the drawer",
                "sweep the block off the desk so that it lands in the drawer",
                "shove the block forward until it drops into the open drawer",
                "the block near the drawer should end up in it, so push it over the edge",
                "slide the object on the desk into the drawer",
                "let the block fall into the drawer by pushing it",
            ),
        )

    def arrange(self, world: World, rng: np.random.Generator) -> None:
        name = rng.permutation(list(desk.BLOCKS)).tolist()[0]
        world.memo["block"] = name
        desk.start(world, "drawer", desk.DRAWER_TRAVEL)
        x = float(rng.uniform(0.13, 0.23))
        desk.put_block(world, name, x, -0.16, DESK_TOP, float(rng.uniform(-0.3, 0.3)))
        others = iter(((-0.26, -0.08), (0.0, -0.07)))
        for other in desk.BLOCKS:
            if other != name:
                desk.put_block(world, other, *next(others), DESK_TOP, float(rng.uniform(-0.5, 0.5)))

    def note(self, world: World) -> Any:
        return [block for block in desk.BLOCKS if rests_on(world, block) == "desk"]

    def success(self, world: World) -> bool:
        return any(
            rests_on(world, block) == "drawer" and not in_hand(world, block) for block in world.memo["start"]
        )


TASKS = (PushIntoDrawer(),)
