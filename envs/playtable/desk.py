"""The desk and everything on it, the same for all tasks: what can be moved, what is shown, where blocks go.

Positions at joint 0, travels and sizes of blocks are those of CALVIN's scene D (environments fact page); the shapes
are our own, and the shelf is open at the top, since the gripper comes from above. World frame, metres."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from envs.mujoco import parts
from envs.playtable.setting import DESK_TOP

if TYPE_CHECKING:
    import numpy as np

    from envs.mujoco.world import World

BLOCKS: Mapping[str, tuple[float, float, float]] = {
    "red": (0.056, 0.04, 0.04),
    "blue": (0.04, 0.04, 0.04),
    "pink": (0.08, 0.04, 0.04),
}
"""Full sizes of the blocks along their own axes; the longest is held across."""
HALF = 0.02
"""Half the height of every block."""
DRAWER_TRAVEL = 0.22
DOOR_TRAVEL = 0.28
SWITCH_TRAVEL = 0.088
SWITCH_TRIPS = 0.044
BUTTON_TRAVEL = 0.02
BUTTON_TRIPS = 0.01
SHELF_TOP = 0.46
"""Height of the shelf's floor."""
SHELF = {"left": (-0.28, -0.15), "right": (-0.12, 0.02)}
"""Where blocks lie on the shelf along x; one half is behind the door."""
SHELF_DEPTH = (0.095, 0.120)
DRAWER_FLOOR = 0.320
DRAWER = ((0.09, 0.27), (-0.345, -0.315))
"""Where blocks lie in the drawer when it is open: x, y."""
FREE = ((-0.28, 0.24), (-0.145, -0.045))
"""Where blocks lie on the desk: x, y."""
BUTTON = (-0.12, -0.12)
OBJECTS = {
    "red block": ("red_block",),
    "blue block": ("blue_block",),
    "pink block": ("pink_block",),
    "drawer": ("drawer",),
    "drawer bar": ("drawer_bar",),
    "sliding door": ("door",),
    "door grip": ("door_grip",),
    "shelf": ("shelf",),
    "switch lever": ("lever",),
    "led button": ("led_button",),
    "led": ("led",),
    "bulb": ("bulb",),
}


def build(spec: Any) -> None:
    """Add it all to a `mujoco.MjSpec`."""
    desk = parts.fixed_body(spec, "desk_body")
    _add_top(desk)
    _add_drawer(spec, desk)
    _add_shelf(desk)
    _add_lights(desk)
    _add_door(spec, desk)
    _add_switch(spec, desk)
    _add_button(spec, desk)
    for name, size in BLOCKS.items():
        body = parts.free_body(spec, f"{name}_block")
        colour = "rose" if name == "pink" else name
        half = [side / 2 for side in size]
        # Light, and rougher than the desk: a block is pushed by its side and held by its faces.
        parts.box(body, (0, 0, 0), half, colour, mass=0.05, friction=[0.9, 0.01, 0.0005])


def lay_out(world: World, rng: np.random.Generator) -> None:
    """The usual scene: drawer, door, switch and lights at random, the blocks on the desk.

    Tasks then change what they need; what they want elsewhere they `put` there."""
    start(world, "drawer", 0.0)
    start(world, "door", DOOR_TRAVEL * float(rng.integers(2)))
    start(world, "lever", SWITCH_TRAVEL * float(rng.integers(2)))
    world.memo["led"] = bool(rng.integers(2))
    world.reserve(*BUTTON, 0.04)
    for name in rng.permutation(list(BLOCKS)).tolist():
        x, y = world.spot(rng, 0.045, *FREE)
        put_block(world, name, x, y, DESK_TOP, float(rng.uniform(-math.pi / 2, math.pi / 2)))


def start(world: World, joint: str, position: float) -> None:
    """Set a slide, metres."""
    world.data.qpos[world.model.joint(joint).qposadr[0]] = position


def put_block(world: World, name: str, x: float, y: float, surface: float, yaw: float) -> None:
    world.put(f"{name}_block", x, y, surface + HALF + 0.001, yaw)


def put_on_shelf(world: World, rng: np.random.Generator, name: str) -> None:
    """In the half that the door leaves open."""
    x, y = float(rng.uniform(*SHELF[open_half(world)])), float(rng.uniform(*SHELF_DEPTH))
    put_block(world, name, x, y, SHELF_TOP, float(rng.uniform(-0.3, 0.3)))


def open_half(world: World) -> str:
    """The half of the shelf that the door does not cover: left or right."""
    return "left" if world.joint("door") < DOOR_TRAVEL / 2 else "right"


def put_in_drawer(world: World, rng: np.random.Generator, name: str) -> None:
    """Opens the drawer, too."""
    start(world, "drawer", DRAWER_TRAVEL)
    (left, right), (front, back) = DRAWER
    x, y = float(rng.uniform(left, right)), float(rng.uniform(front, back))
    put_block(world, name, x, y, DRAWER_FLOOR, float(rng.uniform(-0.5, 0.5)))


def run_lights(world: World) -> None:
    """The bulb follows the switch, the led changes at each press of the button; both show it."""
    memo = world.memo
    pressed = world.joint("led_button") > BUTTON_TRIPS
    if pressed and not memo.get("pressed", False):
        memo["led"] = not memo.get("led", False)
    memo["pressed"] = pressed
    for lamp, lit, colour in (
        ("led", memo["led"], (0.2, 0.95, 0.3)),
        ("bulb", bulb(world), (1.0, 0.9, 0.25)),
    ):
        if memo.get(f"{lamp} shows") is not lit:
            world.paint(lamp, colour if lit else (0.35, 0.36, 0.38))
            memo[f"{lamp} shows"] = lit


def bulb(world: World) -> bool:
    """Whether the bulb is lit."""
    return world.joint("lever") > SWITCH_TRIPS


def _add_top(desk: Any) -> None:
    """A slab with the drawer's place below it, on four legs."""
    parts.box(desk, (0, 0.02, DESK_TOP - 0.012), (0.40, 0.21, 0.012), "wood", name="desk")
    for x in (-0.37, 0.37):
        for y in (-0.20, 0.20):
            parts.box(desk, (x, y, (DESK_TOP - 0.024) / 2), (0.02, 0.02, (DESK_TOP - 0.024) / 2), "dark wood")


def _add_drawer(spec: Any, desk: Any) -> None:
    """A tray on a slide below the slab, with a bar along its front."""
    parts.box(desk, (0.02, 0.0, 0.36), (0.006, 0.20, 0.055), "dark wood")
    parts.box(desk, (0.34, 0.0, 0.36), (0.006, 0.20, 0.055), "dark wood")
    drawer = desk.add_body(name="drawer")
    parts.slide(drawer, "drawer", [0, -1, 0], DRAWER_TRAVEL, damping=6, frictionloss=1.2, armature=0.1)
    front, back, low, high = -0.205, 0.0, 0.312, 0.365
    middle = (front + back) / 2
    parts.box(drawer, (0.18, middle, low + 0.004), (0.145, (back - front) / 2, 0.004), "wood", mass=0.1)
    for x in (0.037, 0.323):
        parts.box(drawer, (x, middle, 0.338), (0.003, (back - front) / 2, 0.022), "wood", mass=0.05)
    parts.box(drawer, (0.18, back - 0.003, 0.338), (0.145, 0.003, 0.022), "wood", mass=0.05)
    parts.box(drawer, (0.18, front, (low + high) / 2), (0.155, 0.006, (high - low) / 2), "teal", mass=0.1)
    bar = drawer.add_body(name="drawer_bar")
    # It stands out five centimetres further than CALVIN's, so that a gripper from above clears the desk.
    parts.box(bar, (0.18, -0.295, 0.355), (0.12, 0.007, 0.007), "steel", mass=0.02)
    for x in (0.075, 0.285):
        parts.box(bar, (x, -0.25, 0.355), (0.006, 0.04, 0.006), "steel", mass=0.01)
    spec.add_exclude(bodyname1="drawer", bodyname2="desk_body")


def _add_shelf(desk: Any) -> None:
    """Behind the door: a floor two centimetres above the desk, a back and two sides."""
    shelf = desk.add_body(name="shelf")
    low, high, back = DESK_TOP, 0.495, 0.20
    parts.box(shelf, (-0.12, 0.12, (low + SHELF_TOP) / 2), (0.22, 0.075, (SHELF_TOP - low) / 2), "dark wood")
    parts.box(shelf, (-0.12, back, (low + high) / 2), (0.23, 0.006, (high - low) / 2), "dark wood")
    for x in (-0.345, 0.105):
        parts.box(shelf, (x, 0.12, (low + 0.50) / 2), (0.006, 0.08, (0.50 - low) / 2), "dark wood")


def _add_lights(desk: Any) -> None:
    """At the desk's back edge, seven centimetres behind CALVIN's, out of the gripper's way."""
    for x, height, radius, name in ((-0.12, 0.656, 0.02, "led"), (0.30, 0.67, 0.03, "bulb")):
        parts.capsule(desk, (x, 0.225, DESK_TOP), (x, 0.225, height - radius), 0.005, "steel")
        parts.ball(desk, (x, 0.225, height), radius, "grey", name=name)


def _add_door(spec: Any, desk: Any) -> None:
    """A panel on a rail in front of the shelf; it covers the right half and slides to the left."""
    parts.box(desk, (-0.06, 0.04, DESK_TOP + 0.004), (0.30, 0.008, 0.004), "steel")
    door = desk.add_body(name="door")
    parts.slide(door, "door", [-1, 0, 0], DOOR_TRAVEL, damping=6, frictionloss=1.0, armature=0.1)
    parts.box(door, (0.02, 0.04, 0.480), (0.07, 0.004, 0.028), "azure", mass=0.15)
    grip = door.add_body(name="door_grip")
    parts.box(grip, (0.04, 0.012, 0.535), (0.010, 0.010, 0.030), "navy", mass=0.03)
    parts.box(grip, (0.04, 0.026, 0.51), (0.008, 0.014, 0.006), "navy", mass=0.01)
    spec.add_exclude(bodyname1="door", bodyname2="desk_body")
    spec.add_exclude(bodyname1="door", bodyname2="shelf")


def _add_switch(spec: Any, desk: Any) -> None:
    """A lever on a slope: it slides up, away from the front, and stays where it is left."""
    along = (0.0, 0.5, 0.866)
    low = (0.30, 0.040, 0.475)
    tip = tuple(start + 0.12 * part for start, part in zip(low, along, strict=True))
    parts.capsule(desk, low, tip, 0.008, "grey")
    parts.box(desk, (0.30, 0.06, 0.457), (0.035, 0.03, 0.017), "grey")
    lever = desk.add_body(name="lever")
    parts.slide(lever, "lever", along, SWITCH_TRAVEL, damping=5, frictionloss=1.5, armature=0.05)
    parts.box(lever, (0.30, 0.019, 0.524), (0.022, 0.016, 0.008), "maroon", mass=0.02)
    lever.gravcomp = 1
    spec.add_exclude(bodyname1="lever", bodyname2="desk_body")


def _add_button(spec: Any, desk: Any) -> None:
    base = desk.add_body(name="button_base", pos=[*BUTTON, DESK_TOP])
    parts.cylinder(base, (0, 0, 0), (0, 0, 0.02), 0.03, "steel")
    parts.spring_button(spec, base, "led_button", 0.047, 0.022, "orange", BUTTON_TRAVEL)
