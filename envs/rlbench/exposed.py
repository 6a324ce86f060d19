"""Which objects of a task's scene have names, and what these cover: for the nine tasks in ordinary words, for others
as the scene's own names say. Knows names only, no simulator."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Box = tuple[tuple[float, float, float], tuple[float, float, float]]
_FAR = 9.0
_EVERYWHERE: Box = ((-_FAR, -_FAR, -_FAR), (_FAR, _FAR, _FAR))


@dataclass(frozen=True)
class Part:
    """What a name covers: a scene object and all that hangs on it, but for what other names of the task stand for.
    Handles and rims are no objects of their own, so a box cuts them out: its lower and upper corner in the frame of the
    object, or of the one that `frame` names; metres."""

    object: str
    box: Box | None = None
    frame: str = ""


def _beyond(axis: int, low: float = -_FAR, high: float = _FAR, also: Box = _EVERYWHERE) -> Box:
    """What of a box lies between two values along one axis."""
    lower, upper = list(also[0]), list(also[1])
    lower[axis], upper[axis] = low, high
    return (lower[0], lower[1], lower[2]), (upper[0], upper[1], upper[2])


_X, _Y, _Z = range(3)
_ABOVE_THE_BASE = _beyond(_Y, low=-0.05)

EXPOSED: Mapping[str, Mapping[str, Part]] = {
    "basketball_in_hoop": {
        "basketball": Part("ball"),
        # Ring and net; the frame's x points from the board to the ring.
        "hoop": Part("basket_ball_hoop_respondable", _beyond(_X, low=-0.037)),
        "backboard": Part("basket_ball_hoop_respondable", _beyond(_X, high=-0.07)),
    },
    "beat_the_buzz": {
        "wand": Part("wand"),
        # One bent wire on a base: the frame's y points up and its z from the end to the start.
        "wire": Part("Cuboid", _ABOVE_THE_BASE),
        "start post": Part("Cuboid", _beyond(_Z, low=0.115, also=_ABOVE_THE_BASE)),
        "end post": Part("Cuboid", _beyond(_Z, high=-0.105, also=_ABOVE_THE_BASE)),
    },
    "lamp_off": {
        "lamp": Part("lamp_base"),
        "button": Part("target_button_topPlate"),
        "button base": Part("push_button_target"),
    },
    "open_drawer": {
        # A drawer's z points out of the cabinet; its front ends at 0.167.
        "bottom drawer handle": Part("drawer_bottom", _beyond(_Z, low=0.169)),
        "middle drawer handle": Part("drawer_middle", _beyond(_Z, low=0.169)),
        "top drawer handle": Part("drawer_top", _beyond(_Z, low=0.169)),
        "cabinet": Part("drawer_frame"),
    },
    "open_wine_bottle": {"wine bottle": Part("bottle"), "cap": Part("cap")},
    "push_button": {"button": Part("target_button_topPlate"), "button base": Part("push_button_target")},
    "put_rubbish_in_bin": {
        "bin": Part("bin"),
        "rubbish": Part("rubbish"),
        "tomato1": Part("tomato1"),
        "tomato2": Part("tomato2"),
    },
    "take_lid_off_saucepan": {
        "saucepan": Part("saucepan"),
        "lid": Part("saucepan_lid_grasp_point"),
        "lid handle": Part("saucepan_lid_grasp_point", _beyond(_Z, low=-0.005)),
    },
    "take_umbrella_out_of_umbrella_stand": {
        "umbrella": Part("umbrella"),
        # The canopy begins at -0.074 along the z of what is seen, and the crook and the stick lie below.
        "umbrella handle": Part("umbrella", _beyond(_Z, high=-0.075), frame="umbrella_visual"),
        "umbrella stand": Part("stand"),
    },
}
"""Of the nine tasks, in the order in which scenes list them."""


@dataclass(frozen=True)
class Shape:
    """A shape of the scene."""

    name: str
    above: tuple[str, ...]
    """The shapes that it hangs on, the nearest first."""
    seen: bool
    """Whether cameras see it."""


_ROLE = re.compile(r"(_(visual|visible|vis|respondable|phys|sub))+(_?\d+)?$")
_NO_OBJECT = re.compile(r"boundary|spawn|workspace")


def discovered(shapes: Sequence[Shape]) -> Mapping[str, Part]:
    """The names of a task that is not in `EXPOSED`: every shape that cameras see is an object, or part of the one of the
    same name above it, as `cup_visual` is of `cup`. Names are the scene's without underscores and words like
    "visual"."""
    owners = dict.fromkeys(
        _owner(shape) for shape in shapes if shape.seen and not _NO_OBJECT.search(shape.name)
    )
    words = {owner: _stem(owner).replace("_", " ").strip() for owner in owners}
    twice = Counter(words.values())
    return {words[owner] if twice[words[owner]] == 1 else owner: Part(owner) for owner in owners}


def _owner(shape: Shape) -> str:
    same = [name for name in shape.above if _stem(name) == _stem(shape.name)]
    return same[-1] if same else shape.name


def _stem(name: str) -> str:
    return _ROLE.sub(r"\3", name)
