"""Turn a box by a quarter turn to the left and set it down: a box that still hangs in the gripper does not count, as in
the paper (Table III)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from envs.mujoco import parts
from envs.ur5_sim.task import BLOCK, Ur5Task, X, Y, add_block, put_block, put_down, upright

if TYPE_CHECKING:
    import numpy as np

    from envs.mujoco.world import World

_HALF = (0.038, 0.022, 0.024)
_LEAST, _MOST = 60.0, 120.0
"""Degrees that count as a quarter turn."""
_FARTHEST = 0.15
"""The box may have moved by this much, metres."""


class RotateBox(Ur5Task):
    name = "rotate_box"
    instructions = (
        "rotate the red box 90 degrees to the left",
        "take the red box and turn it to the left",
        "give the red box a quarter turn counterclockwise",
        "pick up the red box, turn it 90 degrees counterclockwise and set it down again",
        "the red box should be turned to the left",
        "grab the red box and rotate it counterclockwise",
        "turn the red box by 90 degrees to the left and let it go",
    )
    objects: ClassVar = {"red box": ("red box",), BLOCK: (BLOCK,)}

    def build(self, spec: Any) -> None:
        box = parts.free_body(spec, "red box")
        parts.box(box, (0, 0, 0), _HALF, "red", mass=0.08)
        # A stripe on the lid, at the end that looks ahead: it shows how far the box was turned.
        shown = {"mass": 0, "contype": 0, "conaffinity": 0}
        parts.box(box, (0.026, 0, _HALF[2]), (0.006, _HALF[1], 0.0004), "white", **shown)
        add_block(spec)

    def place(self, world: World, rng: np.random.Generator) -> Mapping[str, str]:
        x, y = world.spot(rng, 0.10, X, Y)
        world.put("red box", x, y, _HALF[2], float(rng.uniform(-0.25, 0.25)))
        put_block(world, rng)
        return {}

    def begin(self, world: World) -> None:
        world.memo["start"] = world.position("red box"), world.rotation("red box")

    def success(self, world: World) -> bool:
        import numpy as np

        if not put_down(world, "red box") or not upright(world, "red box"):
            return False
        position, rotation = world.memo["start"]
        if np.linalg.norm(world.position("red box") - position) > _FARTHEST:
            return False
        turn = world.rotation("red box") @ rotation.T
        return bool(_LEAST < np.degrees(np.arctan2(turn[1, 0], turn[0, 0])) < _MOST)


TASK = RotateBox()
