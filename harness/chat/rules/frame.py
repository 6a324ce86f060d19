"""Which way is left? The axes as the system message states them, and the axes and turns that the examples of the map
programs use, read off their code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.chat.rules.places import place
from harness.chat.rules.request import Example

_OFFSET = re.compile(r"^([xyz]) = .*?([+-]) cm2index\(\s*[\d.]+\s*,", re.MULTILINE)
_TURN = re.compile(r"euler2quat\(\s*0\s*,\s*0\s*,\s*(-?)")
_LOCAL = re.compile(r"qmult\(\s*(?:current|now|start)\w*\s*,")
_STATED = re.compile(r"\b([xyz])(?: points| runs| goes)? from (?:its |the )?(\w+) to (?:its |the )?(\w+)")
_ENDS = {
    "left": "left",
    "right": "right",
    "front": "front",
    "back": "behind",
    "bottom": "below",
    "down": "below",
    "top": "above",
    "up": "above",
}
_OPPOSITE = {"left": "right", "front": "behind", "above": "below"}

DEFAULT = {
    "left": ("y", -1),
    "right": ("y", 1),
    "front": ("x", 1),
    "behind": ("x", -1),
    "above": ("z", 1),
    "below": ("z", -1),
}
"""The usual convention: x points from back to front, y from left to right, z from bottom to top."""


@dataclass(frozen=True)
class Frame:
    """`axes` maps a relation to its axis and sign. A clockwise turn is `clockwise` times a positive one about
    z: the gripper's own z axis if `local`, else the world's."""

    axes: dict[str, tuple[str, int]] = field(default_factory=lambda: dict(DEFAULT))
    clockwise: int = 1
    local: bool = True


def read_frame(examples: Sequence[Example], stated: str = "") -> Frame:
    """What the examples show; where they show nothing, what the text `stated` says of the axes, and else the usual
    convention."""
    shown: dict[str, tuple[str, int]] = {}
    for example in examples:
        spot = place(example.query.rstrip(". "))
        offsets = _OFFSET.findall(example.code)
        if spot is not None and spot.relation in DEFAULT and len(offsets) == 1:
            axis, sign = offsets[0]
            shown[spot.relation] = (axis, 1 if sign == "+" else -1)
    for one, other in _OPPOSITE.items():
        for known, unknown in ((one, other), (other, one)):
            if known in shown and unknown not in shown:
                axis, direction = shown[known]
                shown[unknown] = (axis, -direction)
    clockwise, local = 1, True
    for example in examples:
        turn = _TURN.search(example.code)
        if turn and "clockwise" in example.query:
            against = bool(re.search(r"(?:counter|anti)-?clockwise", example.query))
            clockwise = -1 if bool(turn[1]) != against else 1
            local = bool(_LOCAL.search(example.code))
    return Frame(DEFAULT | _stated(stated) | shown, clockwise, local)


def _stated(text: str) -> dict[str, tuple[str, int]]:
    """The axes of "x points from left to right"."""
    axes: dict[str, tuple[str, int]] = {}
    for axis, start, end in _STATED.findall(text):
        if start in _ENDS and end in _ENDS:
            axes |= {_ENDS[start]: (axis, -1), _ENDS[end]: (axis, 1)}
    return axes
