"""Things that are picked up: what they look like, and the one shape by which each of them touches the world.

A thing is a free body of its name whose origin is its middle. It touches by an invisible box of 40 grams and up to
30 mm across, which the gripper takes from above by either pair of sides; what is seen of it has no mass."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from envs.mujoco import parts

if TYPE_CHECKING:
    from envs.mujoco.world import World

HALF = 0.015
"""Half the width and the height of most things, metres."""
PORTION = 0.0125
"""The same for a portion of an ingredient."""
_UNSEEN = 3
"""The geom group of what touches; cameras see groups 0 to 2."""
_SHOWN: dict[str, Any] = {"contype": 0, "conaffinity": 0, "mass": 0}
_BROWN, _CREAM, _TAN = (0.50, 0.30, 0.16), (0.96, 0.90, 0.80), (0.80, 0.62, 0.40)


def add_thing(spec: Any, name: str) -> None:
    """Add one of `SHAPES` by name."""
    body = _body(spec, name, HALF)
    SHAPES[name](body)


def add_portion(spec: Any, name: str, colour: tuple[float, float, float]) -> None:
    """A cube of an ingredient."""
    body = _body(spec, name, PORTION)
    parts.box(body, (0, 0, 0), (PORTION,) * 3, rgba=[*colour, 1], **_SHOWN)


def half_height(world: World, name: str) -> float:
    """Of what touches, metres."""
    return float(world.model.geom(_core(name)).size[2])


def _core(name: str) -> str:
    return f"{name} core"


def _body(spec: Any, name: str, half: float) -> Any:
    body = parts.free_body(spec, name)
    parts.box(
        body,
        (0, 0, 0),
        (half,) * 3,
        name=_core(name),
        group=_UNSEEN,
        mass=0.04,
        friction=[0.9, 0.01, 0.0005],
    )
    return body


def _box(body: Any, centre: tuple[float, ...], half: tuple[float, ...], colour: tuple[float, ...]) -> None:
    parts.box(body, centre, half, rgba=[*colour, 1], **_SHOWN)


def _ball(body: Any, centre: tuple[float, ...], radius: float, colour: tuple[float, ...]) -> None:
    parts.ball(body, centre, radius, rgba=[*colour, 1], **_SHOWN)


def _tube(body: Any, low: float, high: float, radius: float, colour: tuple[float, ...]) -> None:
    """Upright."""
    parts.cylinder(body, (0, 0, low), (0, 0, high), radius, rgba=[*colour, 1], **_SHOWN)


def _rod(
    body: Any, start: tuple[float, ...], end: tuple[float, ...], radius: float, colour: tuple[float, ...]
) -> None:
    parts.capsule(body, start, end, radius, rgba=[*colour, 1], **_SHOWN)


def _animal(body: Any, fur: tuple[float, ...], inner: tuple[float, ...], ears: float, apart: float) -> None:
    """A sitting animal seen from above: a round body, a head, two ears, a muzzle and eyes."""
    _ball(body, (0, 0, -0.003), 0.0120, fur)
    _ball(body, (0.004, 0, 0.006), 0.0095, fur)
    for side in (-1, 1):
        _rod(body, (-0.002, side * apart, 0.012), (-0.002 - ears, side * apart * 1.2, 0.013), 0.0035, fur)
        _rod(body, (0.006, side * 0.009, -0.012), (0.012, side * 0.010, -0.012), 0.003, inner)
        _ball(body, (0.0115, side * 0.004, 0.010), 0.0016, (0.05, 0.05, 0.05))
    _ball(body, (0.0125, 0, 0.005), 0.0035, inner)


def _bear(body: Any) -> None:
    _animal(body, _BROWN, _CREAM, ears=0.001, apart=0.008)


def _rabbit(body: Any) -> None:
    _animal(body, (0.95, 0.80, 0.84), (1.0, 0.97, 0.97), ears=0.012, apart=0.005)


def _frog(body: Any) -> None:
    _animal(body, (0.25, 0.66, 0.25), (0.80, 0.92, 0.50), ears=0.0, apart=0.006)


def _bar(body: Any) -> None:
    _box(body, (0, 0, 0), (0.015, 0.0105, 0.012), (0.80, 0.10, 0.15))
    _box(body, (0, 0, 0.0121), (0.008, 0.0105, 0.0004), (0.98, 0.90, 0.30))
    for side in (-1, 1):
        _box(body, (side * 0.0135, 0, 0), (0.0015, 0.0125, 0.013), (0.92, 0.92, 0.94))


def _tin(body: Any) -> None:
    _tube(body, -0.015, 0.015, 0.0145, (0.72, 0.73, 0.76))
    _tube(body, -0.010, 0.010, 0.0149, (0.15, 0.30, 0.75))
    _box(body, (0.003, 0, 0.0155), (0.006, 0.002, 0.0008), (0.45, 0.46, 0.48))


def _cup(body: Any) -> None:
    _tube(body, -0.015, 0.012, 0.0125, (0.98, 0.75, 0.15))
    _tube(body, 0.012, 0.0145, 0.0148, (0.95, 0.95, 0.95))
    _tube(body, 0.0145, 0.015, 0.006, (0.85, 0.20, 0.25))


def _car(body: Any) -> None:
    _box(body, (0, 0, -0.004), (0.015, 0.009, 0.006), _TAN)
    _box(body, (-0.002, 0, 0.007), (0.008, 0.008, 0.006), (0.62, 0.44, 0.26))
    for x in (-0.009, 0.009):
        parts.cylinder(body, (x, -0.013, -0.010), (x, 0.013, -0.010), 0.005, "black", **_SHOWN)


def _house(body: Any) -> None:
    _box(body, (0, 0, -0.004), (0.012, 0.012, 0.011), _TAN)
    for side in (-1, 1):
        parts.box(
            body,
            (side * 0.006, 0, 0.0105),
            (0.009, 0.0145, 0.0012),
            rgba=[0.60, 0.30, 0.16, 1],
            quat=[math.cos(side * 0.3), 0, math.sin(side * 0.3), 0],
            **_SHOWN,
        )
    _box(body, (0.0122, 0, -0.009), (0.0003, 0.003, 0.006), (0.35, 0.22, 0.12))


def _top(body: Any) -> None:
    _tube(body, -0.006, 0.002, 0.0148, _TAN)
    _tube(body, -0.015, -0.006, 0.006, (0.62, 0.44, 0.26))
    _tube(body, 0.002, 0.004, 0.0100, (0.55, 0.33, 0.18))
    _tube(body, 0.004, 0.015, 0.0030, (0.62, 0.44, 0.26))


def _boat(body: Any) -> None:
    _box(body, (0, 0, -0.009), (0.015, 0.010, 0.006), (0.12, 0.30, 0.80))
    _box(body, (-0.004, 0, 0.000), (0.006, 0.006, 0.003), (0.95, 0.95, 0.95))
    _box(body, (0.006, 0, 0.006), (0.0012, 0.009, 0.009), (0.95, 0.85, 0.20))


def _drum(body: Any) -> None:
    _tube(body, -0.015, 0.010, 0.0135, (0.85, 0.12, 0.12))
    _tube(body, 0.010, 0.013, 0.0149, (0.95, 0.95, 0.90))
    _tube(body, -0.015, -0.012, 0.0149, (0.95, 0.80, 0.20))


def _tree(body: Any) -> None:
    _tube(body, -0.015, -0.004, 0.004, _BROWN)
    _tube(body, -0.006, 0.002, 0.0148, (0.08, 0.42, 0.15))
    _tube(body, 0.002, 0.009, 0.0100, (0.12, 0.52, 0.20))
    _tube(body, 0.009, 0.015, 0.0050, (0.20, 0.62, 0.26))


def _apple(body: Any) -> None:
    _ball(body, (0, 0, -0.001), 0.0140, (0.55, 0.80, 0.15))
    _rod(body, (0, 0, 0.011), (0.001, 0, 0.0145), 0.0014, _BROWN)
    _box(body, (0.005, 0, 0.0135), (0.004, 0.002, 0.0006), (0.10, 0.45, 0.12))


def _star(body: Any) -> None:
    for turn in range(3):
        parts.box(
            body,
            (0, 0, 0),
            (0.0150, 0.0045, 0.012),
            rgba=[0.98, 0.82, 0.10, 1],
            quat=[math.cos(turn * math.pi / 6), 0, 0, math.sin(turn * math.pi / 6)],
            **_SHOWN,
        )
    _tube(body, 0.012, 0.0135, 0.006, (0.95, 0.55, 0.10))


def _train(body: Any) -> None:
    _box(body, (0, 0, -0.008), (0.015, 0.010, 0.004), (0.15, 0.15, 0.17))
    _box(body, (-0.008, 0, 0.003), (0.007, 0.010, 0.008), (0.55, 0.15, 0.55))
    parts.cylinder(body, (-0.002, 0, 0.002), (0.015, 0, 0.002), 0.007, rgba=[0.75, 0.35, 0.75, 1], **_SHOWN)
    parts.cylinder(body, (0.010, 0, 0.008), (0.010, 0, 0.015), 0.003, "black", **_SHOWN)


SHAPES: Mapping[str, Callable[[Any], None]] = {
    "plush bear": _bear,
    "plush rabbit": _rabbit,
    "plush frog": _frog,
    "snack bar": _bar,
    "snack tin": _tin,
    "snack cup": _cup,
    "wooden car": _car,
    "wooden house": _house,
    "wooden top": _top,
    "toy boat": _boat,
    "toy drum": _drum,
    "toy tree": _tree,
    "toy apple": _apple,
    "toy star": _star,
    "toy train": _train,
}
