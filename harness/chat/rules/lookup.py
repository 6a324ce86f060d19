"""Writes the code of parse_query_obj: which of the listed things a phrase means."""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.chat.rules.frame import Frame
from harness.chat.rules.naming import family, ranked
from harness.chat.rules.places import EFFECTOR
from harness.chat.rules.request import Example
from harness.chat.rules.words import singular

_DETECTED = re.compile(r"detect\((['\"])(.+?)\1\)")
_SURFACE = re.compile(
    r"(?:table(?: ?top)?|desk|counter|workspace|support(?:ing)? surface|surface|ground|floor)"
)
_EXTREME = {
    "leftmost": "left",
    "rightmost": "right",
    "frontmost": "front",
    "front": "front",
    "backmost": "behind",
    "rearmost": "behind",
    "topmost": "above",
    "highest": "above",
    "uppermost": "above",
    "bottommost": "below",
    "lowest": "below",
}
_NEAREST = re.compile(
    r"(?:the )?(?P<x>.+?) (?:that is |which is )?(?:the )?(?P<how>closest|nearest|farthest|furthest) (?:to|from) (?P<to>.+)"
)
_NEAREST_FIRST = re.compile(
    r"(?:the )?(?P<how>closest|nearest|farthest|furthest) (?P<x>.+?) (?:to|from) (?P<to>.+)"
)


def write(query: str, objects: Sequence[str], examples: Sequence[Example], frame: Frame) -> str:
    """Code that finds what the phrase means; it returns None where no listed name shares a word with it."""
    phrase = re.sub(r"^(?:the|a|an) ", "", query.strip())
    aliases = _aliases(examples)
    for name in (*objects, *aliases):
        if phrase.lower() == name.lower():
            return _one(name)
    if re.fullmatch(EFFECTOR, phrase.lower()) and (
        known := [a for a in aliases if re.fullmatch(EFFECTOR, a)]
    ):
        return _one(known[0])
    if found := _NEAREST.fullmatch(query) or _NEAREST_FIRST.fullmatch(query):
        many = _many(found["x"], objects)
        other = _best(found["to"], (*objects, *aliases))
        if len(many) > 1 and other:
            pick = 0 if found["how"] in ("closest", "nearest") else -1
            key = "np.linalg.norm(thing.position - other.position)"
            return _sorted(many, key, pick, [f"other = detect({other!r})"])
    first, _, rest = phrase.partition(" ")
    many = _many(rest, objects)
    if first in _EXTREME and len(many) > 1 and not any(first in name.lower().split() for name in objects):
        axis, sign = frame.axes[_EXTREME[first]]
        return _sorted(many, f"thing.position[{'xyz'.index(axis)}]", -1 if sign > 0 else 0, [])
    if _is_plural(phrase) and len(many := _many(phrase, objects)) > 1:
        return f"things = [{', '.join(f'detect({name!r})' for name in many)}]\nret_val = things"
    best = _best(phrase, objects)
    if best is None and _SURFACE.fullmatch(phrase.lower()):
        surfaces = [a for a in aliases if _SURFACE.fullmatch(a)]
        return _one(surfaces[0] if surfaces else phrase)
    return _one(best) if best is not None else "ret_val = None"


def _aliases(examples: Sequence[Example]) -> list[str]:
    """Names that the examples detect although no list has them: the end effector and the surface."""
    found = {
        name: None
        for example in examples
        for _, name in _DETECTED.findall(example.code)
        if example.objects is not None and name not in example.objects
    }
    return list(found) or ["gripper", "table"]


def _best(phrase: str, names: Sequence[str]) -> str | None:
    hits = ranked(phrase, names)
    return hits[0].name if hits else None


def _many(phrase: str, objects: Sequence[str]) -> list[str]:
    """All names of one family that fit the phrase equally well."""
    hits = ranked(phrase, objects)
    if not hits:
        return []
    kin = family(hits[0].name)
    return [hit.name for hit in hits if family(hit.name) == kin and hit.score >= hits[0].score - 0.3]


def _is_plural(phrase: str) -> bool:
    last = phrase.split()[-1] if phrase.split() else ""
    return singular(last) != last or phrase.startswith(("all ", "both "))


def _one(name: str) -> str:
    return f"thing = detect({name!r})\nret_val = thing"


def _sorted(names: Sequence[str], key: str, pick: int, before: Sequence[str]) -> str:
    things = f"things = [{', '.join(f'detect({name!r})' for name in names)}]"
    return "\n".join(
        [things, *before, f"things = sorted(things, key=lambda thing: {key})", f"ret_val = things[{pick}]"]
    )
