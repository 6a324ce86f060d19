"""Place phrases and amounts in the sentences of plans: "10cm above the cup", "between the cup and the pot"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness.chat.rules.words import CENTIMETRES, DIRECTIONS, number

EFFECTOR = r"(?:robot'?s? )?(?:gripper fingers|gripper|end[- ]effector|ee|hand|robot arm|robot|arm|wrist|fingers|tool)"
"""How sentences call the end effector, as a regular expression."""
GRIPPER = rf"(?:the |its )?{EFFECTOR}"
NUMBER = (
    r"(?P<n>\d+(?:\.\d+)?|half|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty)"
)
_UNIT = rf"(?P<unit>{'|'.join(sorted((u for u in CENTIMETRES if u != 'in'), key=len, reverse=True))})"
AMOUNT = rf"(?:about |around |roughly |at least |another |a further )?{NUMBER} ?{_UNIT}\b"
"""A length; its groups are `n` and `unit`."""

RELATIONS: dict[str, str] = {
    "on top of": "above",
    "on the top of": "above",
    "directly above": "above",
    "right above": "above",
    "just above": "above",
    "above": "above",
    "over": "above",
    "onto": "above",
    "on": "above",
    "near": "above",
    "below": "below",
    "under": "below",
    "underneath": "below",
    "beneath": "below",
    "in front of": "front",
    "behind": "behind",
    "at the back of": "behind",
    "to the left of": "left",
    "to the left side of": "left",
    "on the left of": "left",
    "left of": "left",
    "to the right of": "right",
    "to the right side of": "right",
    "on the right of": "right",
    "right of": "right",
    "next to": "right",
    "beside": "right",
    "away from": "away",
    "out from": "away",
    "from": "away",
    "off": "away",
}
"""Prepositions of places, and the relation that each stands for."""
TOUCHING = frozenset({"on top of", "on the top of", "onto", "on"})
"""Prepositions that mean just above where no distance is given."""

RELATION = "|".join(sorted(RELATIONS, key=len, reverse=True))
_WAY = "|".join(sorted(DIRECTIONS, key=len, reverse=True))
_LEADING_AMOUNT = re.compile(rf"^(?:by |for )?{AMOUNT}(?! (?:{RELATION})\b)\s*")
_TRAILING_AMOUNT = re.compile(rf"\s*(?:\bby |\bfor )?{AMOUNT}$")
_LEADING_WAY = re.compile(rf"^(?:to(?:wards)? the |towards? )?(?P<way>{_WAY})(?: side)?(?: |$)(?!of\b)")
_TRAILING_WAY = re.compile(rf"(?:^| )(?:(?:to(?:wards)?|on) the |towards? )?(?P<way>{_WAY})(?: side)?$")
# Without "to the" these words belong to something else: "back to the default pose", "the front of the box".
_TO_A_SIDE = re.compile(r"(?:^| )(?:to(?:wards)?|on) the (?P<way>front|back)(?: side)?$")
_SIDES = {"front": "forward", "back": "backward"}


@dataclass(frozen=True)
class Place:
    """Where to go. `relation` is center, top, above, below, front, behind, left, right, away, between or
    "below top"; `distance` is in centimetres, None where none is given; `things` are noun phrases."""

    relation: str
    things: tuple[str, ...]
    distance: float | None = None


def noun(text: str) -> str:
    """A noun phrase without its article; empty for the end effector."""
    bare = re.sub(r"^(?:the|a|an|its|this|that) ", "", text.strip().strip("'\""))
    return "" if re.fullmatch(EFFECTOR, bare) else bare


def centimetres(found: re.Match[str]) -> float:
    """The length that a match of `AMOUNT` states."""
    return round((number(found["n"]) or 0.0) * CENTIMETRES[found["unit"]], 3)


def take_amount(text: str) -> tuple[str, float | None]:
    """A length at the start or the end of a text, and the text without it; a length that belongs to a place
    ("10cm above the cup") stays."""
    found = _LEADING_AMOUNT.search(text) or _TRAILING_AMOUNT.search(text)
    if found is None:
        return text, None
    return (text[: found.start()] + text[found.end() :]).strip(), centimetres(found)


def take_way(text: str) -> tuple[str, str]:
    """A direction at the start or the end of a text ("to the left", "up"), and the text without it."""
    if side := _TO_A_SIDE.search(text):
        return text[: side.start()].strip(), _SIDES[side["way"]]
    found = _TRAILING_WAY.search(text) or _LEADING_WAY.search(text)
    if found is None:
        return text, ""
    return (text[: found.start()] + " " + text[found.end() :]).strip(), DIRECTIONS[found["way"]]


def place(text: str) -> Place | None:
    """Read a place phrase; None for empty text. A bare noun phrase means the thing's centre."""
    text = re.sub(r"^(?:a |the )?(?:point|position|location|spot)(?: that is| which is)? ", "", text.strip())
    text = re.sub(r"^(?:at|in) (?=the |a )", "", text)
    if found := re.fullmatch(r"(?:in )?between (.+?) and (.+)", text):
        return Place("between", (noun(found[1]), noun(found[2])))
    if found := re.fullmatch(rf"{AMOUNT} (?P<rel>above|below) the top of (?P<x>.+)", text):
        relation = "above" if found["rel"] == "above" else "below top"
        return Place(relation, (noun(found["x"]),), centimetres(found))
    if found := re.fullmatch(rf"{AMOUNT} (?P<rel>{RELATION}) (?P<x>.+)", text):
        return Place(RELATIONS[found["rel"]], (noun(found["x"]),), centimetres(found))
    if found := re.fullmatch(r"(?:the |its )?(?:center|centre|middle) (?:point )?of (.+)", text):
        return Place("center", (noun(found[1]),))
    if found := re.fullmatch(r"(?:the |its )?top(?: (?:side|surface|part|end))? of (.+)", text):
        return Place("top", (noun(found[1]),))
    if found := re.fullmatch(r"the (left|right|front|back)(?: side)? of (.+)", text):
        return Place("behind" if found[1] == "back" else found[1], (noun(found[2]),))
    if found := re.fullmatch(r"(?:inside(?: of)?|into|in|at) (.+)", text):
        return Place("center", (noun(found[1]),))
    if found := re.fullmatch(rf"(?P<rel>{RELATION}) (?P<x>.+)", text):
        return Place(RELATIONS[found["rel"]], (noun(found["x"]),), 2.0 if found["rel"] in TOUCHING else None)
    return Place("center", (noun(text),)) if text else None
