"""The named things of CALVIN's table, by the words of its sentences: body, link, and the part of the link that a name
means. Handles are no links of their own, so a box in the link's frame cuts them out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Box = tuple[tuple[float, float, float], tuple[float, float, float]]
_FAR = 9.0


@dataclass(frozen=True)
class Part:
    """`block` is calvin_env's name of a block; without one the part belongs to the table. `box` is its lower and upper
    corner in the frame of the link, metres; None for the whole link."""

    block: str = ""
    link: str = ""
    box: Box | None = None


PARTS: Mapping[str, Part] = {
    "red block": Part(block="block_red"),
    "blue block": Part(block="block_blue"),
    "pink block": Part(block="block_pink"),
    # The drawer's frame has z to the front; its handle is a bar 24 cm wide. "The handle" of CALVIN's sentences is this one.
    "drawer": Part(link="drawer_link", box=((-_FAR, -_FAR, -_FAR), (_FAR, _FAR, 0.185))),
    "drawer handle": Part(link="drawer_link", box=((-_FAR, -_FAR, 0.228), (_FAR, _FAR, _FAR))),
    # The door's frame lies in its sloped panel, z away from it.
    "sliding door": Part(link="slide_link"),
    "sliding door grip": Part(link="slide_link", box=((-_FAR, -_FAR, 0.03), (_FAR, _FAR, _FAR))),
    "sliding cabinet": Part(link="plank_link"),
    "switch": Part(link="switch_link"),
    "button": Part(link="button_link"),
    "led light": Part(link="led_link"),
    "light bulb": Part(link="light_link"),
}
"""In the order in which scenes list them. Names may share parts."""
EFFECTOR_NAMES = ("gripper", "arm", "robot", "end effector", "fingers")
SURFACE_NAMES = ("table", "desk", "table surface")
