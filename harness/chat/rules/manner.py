"""How a sentence says to move: what to keep away from, speed, gripper and orientation."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness.chat.rules.places import AMOUNT, GRIPPER, centimetres

_END = r"(?= at \S+ ?(?:x|times|speed)| with |, |$)"
_STAY = re.compile(
    r",? ?\b(?:and |but |while )*(?:keep(?:ing)?|stay(?:ing)?|remain(?:ing)?)(?: at least)?"
    rf"(?: {AMOUNT})?(?: away| clear| far)? (?:from|of) (?P<x>.+?){_END}"
)
_SHUN = re.compile(
    rf",? ?\b(?:and |but |while |without )*(?:avoid(?:ing)?|touching|hitting) (?P<x>.+?){_END}"
)
_USUAL = r"(?: of)?(?: the)?(?: usual| normal| default)?"
_SPEED = re.compile(
    rf",? ?\b(?:(?:and|while) (?:moving )?)?(?:at|with)(?: an?)? (?:(?P<factor>\d*\.?\d+) ?(?:x|times){_USUAL} speed"
    rf"|(?P<word>half|quarter|double|twice){_USUAL} speed|speed (?:of )?(?P<plain>\d*\.?\d+)x?)"
)
_SPEED_WORDS = {"half": 0.5, "quarter": 0.25, "double": 2.0, "twice": 2.0}
_ADVERBS = (
    (re.compile(r",? ?\b(?:very )?(?:slowly|carefully|gently)\b"), 0.5),
    (re.compile(r",? ?\b(?:quickly|fast)\b"), 2.0),
)
_HAND = re.compile(
    rf",? ?(?:with|while keeping|keeping) {GRIPPER} "
    r"(?:(?P<state>opened|open|closed|close)|(?:facing|pointing|pointed) (?P<facing>[^,]+))"
)
_FACING = re.compile(r",? while facing (?P<facing>[^,]+)")


@dataclass(frozen=True)
class Manner:
    """`avoid` holds a distance in centimetres (None if not given) and a phrase that may join several things
    with "and"; `speed` is a factor; `gripper` is "open", "closed" or empty; `facing` is a phrase or empty."""

    avoid: tuple[tuple[float | None, str], ...] = ()
    speed: float | None = None
    gripper: str = ""
    facing: str = ""


def take_manner(text: str) -> tuple[str, Manner]:
    """The sentence without the parts that say how, and what they say."""
    avoid: list[tuple[float | None, str]] = []
    speed: float | None = None
    gripper = facing = ""
    while found := _STAY.search(text) or _SHUN.search(text):
        measured = "n" in found.re.groupindex and found["n"]
        avoid.append((centimetres(found) if measured else None, found["x"]))
        text = _without(text, found)
    if found := _SPEED.search(text):
        speed = _SPEED_WORDS[found["word"]] if found["word"] else float(found["factor"] or found["plain"])
        text = _without(text, found)
    for adverb, factor in _ADVERBS:
        if found := adverb.search(text):
            text, speed = _without(text, found), speed or factor
    if found := _HAND.search(text):
        if found["state"]:
            gripper = "open" if found["state"].startswith("open") else "closed"
        facing = found["facing"] or ""
        text = _without(text, found)
    if found := _FACING.search(text):
        facing, text = found["facing"], _without(text, found)
    return text.strip(" ,"), Manner(tuple(avoid), speed, gripper, facing)


def _without(text: str, found: re.Match[str]) -> str:
    return (text[: found.start()] + text[found.end() :]).strip()
