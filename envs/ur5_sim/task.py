"""What the UR5's tasks share: questions about the objects on its table, and what they are built of."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from envs.mujoco import parts
from envs.mujoco.task import EmbeddedTask

if TYPE_CHECKING:
    import numpy as np

    from envs.mujoco.world import World

BLOCK = "green block"
"""A body and exposed name: something else on the table."""
X, Y = (0.36, 0.58), (-0.22, 0.22)
"""Where the objects of a task stand, metres."""
_HALF = 0.02
_SLOW = 0.05
"""An object below this speed rests, metres per second."""


class Ur5Task(EmbeddedTask):
    """A task of the UR5, which takes 25 control steps a second."""

    step_limit = 2000


def add_block(spec: Any) -> None:
    block = parts.free_body(spec, BLOCK)
    parts.box(block, (0, 0, 0), (_HALF,) * 3, "green", mass=0.05)


def put_block(world: World, rng: np.random.Generator) -> None:
    """Anywhere on the table where `world.spot` finds room."""
    x, y = world.spot(rng, 0.04, x=(0.32, 0.62), y=(-0.32, 0.32))
    world.put(BLOCK, x, y, _HALF, float(rng.uniform(-math.pi, math.pi)))


def add_wall(
    body: Any, radius: float, half: float, heights: tuple[float, float], colour: str, mass: float
) -> None:
    """A round wall of 20 flat pieces: its outer radius, half its thickness, its lower and upper end, and the mass of a
    piece."""
    pieces = 20
    width = radius * math.tan(math.pi / pieces)
    low, high = heights
    for piece in range(pieces):
        angle = 2 * math.pi * piece / pieces
        away = radius - half
        centre = (away * math.cos(angle), away * math.sin(angle), (low + high) / 2)
        turned = [math.cos(angle / 2), 0, 0, math.sin(angle / 2)]
        parts.box(body, centre, (half, width, (high - low) / 2), colour, quat=turned, mass=mass)


def put_down(world: World, body: str) -> bool:
    """Whether a free body touches the table, hardly moves, and is not between the fingers."""
    if not on_table(world, body) or world.grasped(body):
        return False
    first = world.model.jnt_dofadr[world.model.body(body).jntadr[0]]
    velocity = world.data.qvel[first : first + 3]
    return bool(velocity @ velocity < _SLOW**2)


def on_table(world: World, body: str) -> bool:
    """Whether a body touches the table."""
    table, mine = world.model.geom("table").id, world.geoms(body)
    return any(
        (a == table and b in mine) or (b == table and a in mine) for a, b in world.data.contact.geom.tolist()
    )


def upright(world: World, body: str, degrees: float = 20.0) -> bool:
    """Whether a body's z axis points up, within some degrees."""
    return bool(world.rotation(body)[2, 2] > math.cos(math.radians(degrees)))
