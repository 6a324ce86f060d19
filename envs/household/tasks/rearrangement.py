"""Collect three toys from their mats into a chest; later put each back on its own mat, but for one that from now on
belongs beside another.

The preference is said at the beginning only. While the toys are washed nothing shows where they stood; the user then
lays all of them into the chest, also what the robot has left elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from envs.household import things
from envs.household.furniture import Box, Mat, put_away
from envs.household.task import Clue, Goal, HouseholdTask, Stage, pick, shift

if TYPE_CHECKING:
    import numpy as np

    from envs.mujoco.world import World

TOYS = tuple(name for name in things.SHAPES if name.startswith("toy "))
CHEST = Box("chest", half=(0.06, 0.11), height=0.09, colour="dark wood")
MATS = tuple(
    Mat(f"{side} mat", half=(0.035, 0.06), colour=colour)
    for side, colour in (("left", "rose"), ("middle", "azure"), ("right", "lime"))
)
_SLOTS = (-0.07, 0.0, 0.07)
"""Where the user lays washed toys in the chest, along y."""
_STEPS = 1035
"""The paper's Table 4."""
_WORDS = (
    "The toys are clean and in the chest again. Put each of them where it belongs.",
    "I have washed the toys. Please set every toy on the mat where it has to be.",
    "All toys are washed and lie in the chest. Bring each one back to its right place.",
)


class Rearrangement(HouseholdTask):
    name = "rearrangement"
    step_limit = _STEPS
    instructions = (
        "From now on the {guest} belongs on the same mat as the {host}. The toys are dirty: put all of them into the "
        "chest, so that I can wash them.",
        "I want to wash the toys, so collect them all in the chest. And later, when they come back, the {guest} has to "
        "stand on the mat of the {host}.",
        "Clear the mats: all toys go into the chest to be washed. Keep in mind that the {guest} shall share the mat "
        "of the {host} from now on.",
    )
    objects: ClassVar = {
        CHEST.name: (CHEST.name,),
        **{mat.name: (mat.name,) for mat in MATS},
        **{toy: (toy,) for toy in TOYS},
    }

    def build(self, spec: Any) -> None:
        CHEST.add_to(spec)
        for mat in MATS:
            mat.add_to(spec)
        for toy in TOYS:
            things.add_thing(spec, toy)

    def tell(self, world: World, rng: np.random.Generator) -> tuple[Mapping[str, str], Sequence[Stage]]:
        world.put(CHEST.name, 0.19 + shift(rng, 0.01), shift(rng, 0.015), 0.0)
        for mat, y in zip(MATS, (-0.17, 0.0, 0.17), strict=True):
            world.put(mat.name, 0.36 + shift(rng, 0.015), y + shift(rng, 0.015), 0.0)
        world.refresh()
        put_away(world, TOYS)
        toys = rng.permutation(TOYS)[: len(MATS)].tolist()
        own = dict(zip(toys, MATS, strict=True))
        for toy, mat in own.items():
            mat.put(world, toy, shift(rng, 0.008), shift(rng, 0.012), shift(rng, 0.4))
        host, guest, _ = rng.permutation(toys).tolist()
        order, turns = rng.permutation(toys).tolist(), rng.uniform(-0.25, 0.25, len(toys)).tolist()

        def lay_out_washed(world: World) -> None:
            put_away(world, toys)
            for toy, y, turn in zip(order, _SLOTS, turns, strict=True):
                CHEST.put(world, toy, 0.0, y, turn)

        collecting = tuple(_collect(toy, mat) for toy, mat in own.items())
        restoring = tuple(_restore(toy, own, host, guest) for toy in (host, *(t for t in toys if t != host)))
        return {"host": host, "guest": guest}, (
            Stage(collecting, steps=_STEPS // 2),
            Stage(restoring, steps=_STEPS, words=pick(rng, _WORDS), change=lay_out_washed),
        )


def _collect(toy: str, mat: Mat) -> Goal:
    return Goal(
        f"pick up {toy} from {mat.name} and place it to {CHEST.name}", lambda now: CHEST.got(now, toy)
    )


def _restore(toy: str, own: Mapping[str, Mat], host: str, guest: str) -> Goal:
    """Back to a toy's own mat, or to the host's for the guest."""
    stood = {name: Clue(name, "stood on", mat.name) for name, mat in own.items()}
    mat = own[host] if toy == guest else own[toy]
    return Goal(
        f"pick up {toy} from {CHEST.name} and place it to {mat.name}",
        lambda now: mat.got(now, toy),
        clues=(Clue(guest, "belongs beside", host), stood[host]) if toy == guest else (stood[toy],),
        outdated=(stood[toy],) if toy == guest else (),
    )


TASK = Rearrangement()
