"""Short-hands for building a task's bodies: colours, shapes, free bodies, joints, sensors.

Everything takes and returns `mujoco.MjSpec` elements; sizes are half sizes as in MuJoCo, in metres."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envs.mujoco.task import SENSOR_GROUP

COLOURS: dict[str, tuple[float, float, float]] = {
    "red": (0.85, 0.10, 0.10),
    "maroon": (0.45, 0.05, 0.12),
    "lime": (0.45, 0.90, 0.15),
    "green": (0.10, 0.55, 0.20),
    "blue": (0.12, 0.25, 0.85),
    "navy": (0.06, 0.10, 0.40),
    "yellow": (0.95, 0.85, 0.10),
    "cyan": (0.10, 0.80, 0.85),
    "magenta": (0.85, 0.10, 0.70),
    "silver": (0.75, 0.76, 0.78),
    "grey": (0.45, 0.45, 0.47),
    "orange": (0.95, 0.50, 0.08),
    "olive": (0.45, 0.45, 0.08),
    "purple": (0.45, 0.12, 0.60),
    "teal": (0.05, 0.45, 0.47),
    "azure": (0.25, 0.60, 0.95),
    "violet": (0.62, 0.40, 0.90),
    "rose": (0.95, 0.40, 0.58),
    "black": (0.08, 0.08, 0.09),
    "white": (0.95, 0.95, 0.94),
    "wood": (0.72, 0.52, 0.32),
    "dark wood": (0.42, 0.27, 0.15),
    "steel": (0.62, 0.64, 0.67),
}
"""RGB by name; the first 18 are the variations of a coloured object."""

VARIATIONS = tuple(COLOURS)[:18]


def rgba(colour: str, alpha: float = 1.0) -> list[float]:
    return [*COLOURS[colour], alpha]


def free_body(spec: Any, name: str) -> Any:
    """A body that moves freely; its free joint has the body's name."""
    body = spec.worldbody.add_body(name=name)
    body.add_freejoint(name=name)
    return body


def fixed_body(spec: Any, name: str) -> Any:
    """A body that `World.put` places and that then stays where it is."""
    return spec.worldbody.add_body(name=name)


def box(body: Any, centre: Sequence[float], half: Sequence[float], colour: str = "wood", **more: Any) -> Any:
    import mujoco

    return _geom(body, mujoco.mjtGeom.mjGEOM_BOX, colour, pos=list(centre), size=list(half), **more)


def ball(body: Any, centre: Sequence[float], radius: float, colour: str = "orange", **more: Any) -> Any:
    import mujoco

    return _geom(body, mujoco.mjtGeom.mjGEOM_SPHERE, colour, pos=list(centre), size=[radius, 0, 0], **more)


def cylinder(
    body: Any, start: Sequence[float], end: Sequence[float], radius: float, colour: str = "steel", **more: Any
) -> Any:
    import mujoco

    return _geom(
        body, mujoco.mjtGeom.mjGEOM_CYLINDER, colour, fromto=[*start, *end], size=[radius, 0, 0], **more
    )


def capsule(
    body: Any, start: Sequence[float], end: Sequence[float], radius: float, colour: str = "steel", **more: Any
) -> Any:
    import mujoco

    return _geom(
        body, mujoco.mjtGeom.mjGEOM_CAPSULE, colour, fromto=[*start, *end], size=[radius, 0, 0], **more
    )


def ring(
    body: Any,
    centre: Sequence[float],
    normal_axis: int,
    radius: float,
    thickness: float,
    colour: str = "steel",
    segments: int = 12,
    name: str = "",
    **more: Any,
) -> list[Any]:
    """A ring of capsules: `radius` to the middle of the tube, `thickness` the tube's radius; `normal_axis` is
    0, 1 or 2. With `name` the capsules are called `name0`, `name1` and so on."""
    import math

    first, second = [axis for axis in range(3) if axis != normal_axis]
    corners = []
    for step in range(segments):
        angle = 2 * math.pi * step / segments
        corner = list(centre)
        corner[first] += radius * math.cos(angle)
        corner[second] += radius * math.sin(angle)
        corners.append(corner)
    return [
        capsule(
            body,
            corners[i],
            corners[(i + 1) % segments],
            thickness,
            colour,
            **({"name": f"{name}{i}"} if name else {}),
            **more,
        )
        for i in range(segments)
    ]


def slide(body: Any, name: str, axis: Sequence[float], travel: float, **more: Any) -> Any:
    """A sliding joint from 0 to `travel` metres."""
    import mujoco

    return body.add_joint(
        name=name, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=list(axis), range=[0, travel], limited=True, **more
    )


def spring_button(
    spec: Any, base: Any, name: str, top: float, radius: float, colour: str, travel: float
) -> Any:
    """A round cap on a spring, `top` above the origin of `base` and pressed along -z by up to `travel`; joint, body
    and geom are called `name`. It returns by itself; 4 newtons press it down."""
    cap = base.add_body(name=name, pos=[0, 0, top])
    slide(cap, name, [0, 0, -1], travel, stiffness=250, springref=-0.006, damping=3, armature=0.01)
    cylinder(cap, [0, 0, -0.012], [0, 0, 0], radius, colour, name=name, mass=0.03)
    spec.add_exclude(bodyname1=base.name, bodyname2=name)
    return cap


def sensor(body: Any, name: str, centre: Sequence[float], half: Sequence[float]) -> Any:
    """An invisible box that touches nothing; `World.sees` says whether a body reaches into it."""
    return box(body, centre, half, "lime", name=name, mass=0, group=SENSOR_GROUP, contype=0, conaffinity=0)


def _geom(body: Any, kind: Any, colour: str, **more: Any) -> Any:
    return body.add_geom(
        **{"type": kind, "rgba": rgba(colour), "friction": [0.8, 0.01, 0.0005], "condim": 4, **more}
    )
