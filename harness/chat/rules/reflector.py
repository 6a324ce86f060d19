"""Judges an attempt from what a camera saw before and after it: what moved, what is held, what to do next time.
It compares boxes; it does not look at the pixels."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from harness.chat.rules import sentence as grammar
from harness.chat.rules.naming import match
from harness.chat.rules.planner import sentences_of
from harness.chat.rules.request import fenced_entries
from harness.protocols import Message

_MARK = re.compile(r"^- (?P<name>.+): (?P<box>\d+ \d+ \d+ \d+)$", re.MULTILINE)
_HALVES = re.compile(r"Before the attempt:(?P<before>.*)After the attempt:(?P<after>.*)", re.DOTALL)
_MOVED = 4.0
"""Pixels by which the middle of a box has to shift."""
_GRIPPER = "gripper"
Box = tuple[float, ...]


def write(messages: Sequence[Message]) -> str | None:
    """A critique in sentences; None if the messages show no attempt."""
    text = "\n".join(message.text for message in messages if message.role == "user")
    halves = _HALVES.search(text)
    if halves is None:
        return None
    before, after = _boxes(halves["before"]), _boxes(halves["after"])
    plans = [sentences_of(code) for _, code in fenced_entries(text)]
    handled = _handled(plans[-1] if plans else ())
    closed = "The gripper is closed" in halves["after"]
    moved = [name for name, box in after.items() if name in before and _shift(before[name], box) > _MOVED]
    moved = [name for name in moved if name != _GRIPPER]
    said = [f"Moved: {', '.join(moved)}." if moved else "Nothing moved."]
    held = [name for name in handled if closed and _overlap(after.get(name), after.get(_GRIPPER))]
    said.append(f"The gripper holds the {held[0]}." if held else "The gripper holds nothing.")
    target = _named(handled, after)
    if target and target not in moved and not held:
        said.append(f"The {target} was missed or not gripped: do the same again more slowly.")
    elif target and target in moved and not held:
        said.append(
            f"The {target} moved but not far enough or slipped: hold it at its top and go more slowly."
        )
    else:
        said.append("The steps were carried out but did not reach the goal: try another way.")
    return " ".join(said)


def _boxes(text: str) -> dict[str, Box]:
    return {found["name"]: tuple(map(float, found["box"].split())) for found in _MARK.finditer(text)}


def _handled(sentences: Sequence[str]) -> list[str]:
    """What the program grasped, pushed or pressed, in order."""
    read = [step for said in sentences if (parsed := grammar.parse(said)) for step in parsed.steps]
    return [step.thing for step in read if step.action in ("grasp", "push", "press") and step.thing]


def _named(handled: Sequence[str], seen: Mapping[str, Box]) -> str:
    """The first thing that was handled, by the name that the picture gives it."""
    for thing in handled:
        fits = [(hit.score, name) for name in seen if (hit := match(thing, name)) is not None]
        if fits:
            return max(fits)[1]
    return ""


def _shift(first: Box, second: Box) -> float:
    across = (first[0] + first[2] - second[0] - second[2]) / 2
    down = (first[1] + first[3] - second[1] - second[3]) / 2
    return float((across**2 + down**2) ** 0.5)


def _overlap(first: Box | None, second: Box | None) -> bool:
    if first is None or second is None:
        return False
    level = min(first[2], second[2]) - max(first[0], second[0])
    upright = min(first[3], second[3]) - max(first[1], second[1])
    return level > 0 and upright > -3
