"""Lines of code that the map programs have in common: finding a thing, its box, the way it faces."""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.chat.rules.frame import Frame
from harness.chat.rules.places import AMOUNT, RELATION, RELATIONS, noun
from harness.chat.rules.words import word_set

BOX = "(min_x, min_y, min_z), (max_x, max_y, max_z)"
LEVEL = "[1, 1, 0]"
WITHIN = re.compile(
    rf"(?:a point |anywhere |everywhere )?(?:within|at most) {AMOUNT} (?:of|from|around) (?P<x>.+)"
)
REGION = re.compile(rf"(?:anywhere|everywhere|the (?:space|area|region)) (?P<rel>{RELATION}) (?P<x>.+)")
_TAKEN = word_set(
    "np x y z min_x max_x min_y max_y min_z max_z center_x center_y center_z outward current delta detect execute "
    "cm2index index2cm ret_val is in on for as if and or not from import with lambda def class return while print"
)
"""Words that cannot be the name of a variable: Python's, the task API's and those of the lines here."""


def map_code(kind: str, lines: Sequence[str]) -> str:
    return "\n".join([f"{kind}_map = get_empty_{kind}_map()", *lines, f"ret_val = {kind}_map"])


def thing(phrase: str) -> tuple[str, str]:
    """A noun phrase without its article, and a variable name made of it."""
    name = noun(re.sub(r"^the (?:center|centre|middle) of ", "", phrase)) or phrase.removeprefix("the ")
    variable = re.sub(r"\W+", "_", name.lower()).strip("_") or "thing"
    # a keyword, a number in front, or a name of the task API must not become a variable
    return name, variable if variable[0].isalpha() and variable not in _TAKEN else f"the_{variable}"


def outward(phrase: str) -> list[str]:
    """Lines that find the level direction in which a thing faces."""
    name, variable = thing(phrase)
    return [
        f"{variable} = parse_query_obj({name!r})",
        f"outward = {variable}.normal * np.array({LEVEL})",
        "outward = outward / np.linalg.norm(outward)",
    ]


def along(start: Sequence[str], distance: float, sign: str) -> list[str]:
    moved = [
        f"{axis} = {value} {sign} cm2index({distance:g} * outward[{i}], '{axis}')"
        for i, (axis, value) in enumerate(zip("xy", start[:2], strict=True))
    ]
    return [*moved, f"z = {start[2]}", "affordance_map[x, y, z] = 1"]


def region(kind: str, found: re.Match[str], frame: Frame, value: str) -> list[str]:
    """Lines that fill the space on one side of a thing."""
    name, variable = thing(found["x"])
    axis, sign = frame.axes.get(RELATIONS[found["rel"]], ("z", 1))
    spans = {a: f"min_{a}:max_{a} + 1" for a in "xyz"}
    spans[axis] = f"max_{axis}:" if sign > 0 else f":min_{axis} + 1"
    lines = [f"{variable} = parse_query_obj({name!r})", f"{BOX} = {variable}.aabb"]
    return [*lines, f"{kind}_map[{', '.join(spans.values())}] = {value}"]
