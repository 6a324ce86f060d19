"""Writes the code of get_affordance_map for the phrases that composers use: points and regions."""

from __future__ import annotations

import re

from harness.chat.rules.code import BOX, REGION, WITHIN, along, map_code, outward, region, thing
from harness.chat.rules.frame import Frame
from harness.chat.rules.places import AMOUNT, Place, centimetres, place

_VOXEL = re.compile(r"^[\[(]\s*(-?\d+)\.?[\s,]+(-?\d+)\.?[\s,]+(-?\d+)\.?\s*[\])]$")
_ALONG = re.compile(rf"(?:a point )?{AMOUNT} from (?P<from>\[.+?\]) (?P<way>away from|towards?) (?P<x>.+)")


def write(query: str, frame: Frame) -> str | None:
    """Code for a phrase of get_affordance_map, or None."""
    if found := _ALONG.fullmatch(query):
        voxel = voxel_in(found["from"])
        if voxel is not None:
            sign = "+" if found["way"].startswith("away") else "-"
            start = [str(index) for index in voxel]
            return map_code("affordance", [*outward(found["x"]), *along(start, centimetres(found), sign)])
    if found := WITHIN.fullmatch(query):
        name, variable = thing(found["x"])
        ball = f"set_voxel_by_radius(affordance_map, {variable}.position, radius_cm={centimetres(found):g}, value=1)"
        return map_code("affordance", [f"{variable} = parse_query_obj({name!r})", ball])
    if found := REGION.fullmatch(query):
        return map_code("affordance", region("affordance", found, frame, "1"))
    spot = place(query)
    if spot is None or not all(spot.things):
        return None
    lines = _point(spot, frame)
    return None if lines is None else map_code("affordance", lines)


def _point(spot: Place, frame: Frame) -> list[str] | None:
    """Lines that set one voxel."""
    mark = "affordance_map[x, y, z] = 1"
    if spot.relation == "between":
        (first, a), (second, b) = thing(spot.things[0]), thing(spot.things[1])
        middle = f"x, y, z = ({a}.position + {b}.position) // 2"
        return [f"{a} = parse_query_obj({first!r})", f"{b} = parse_query_obj({second!r})", middle, mark]
    voxel = voxel_in(spot.things[0])
    distance = 10.0 if spot.distance is None else spot.distance
    if voxel is not None:
        at = dict(zip("xyz", map(str, voxel), strict=True))
        if spot.relation in frame.axes:
            axis, sign = frame.axes[spot.relation]
            at[axis] += f" {'+' if sign > 0 else '-'} cm2index({distance:g}, '{axis}')"
        elif spot.relation != "center":
            return None
        return [*(f"{axis} = {value}" for axis, value in at.items()), mark]
    name, variable = thing(spot.things[0])
    found = f"{variable} = parse_query_obj({name!r})"
    if spot.relation == "center":
        return [found, f"x, y, z = {variable}.position", mark]
    if spot.relation == "away":
        middle = f"center_x, center_y, center_z = {variable}.position"
        centre = ["center_x", "center_y", "center_z"]
        return [*outward(spot.things[0]), middle, *along(centre, distance, "+")]
    lines = [found, f"{BOX} = {variable}.aabb", f"center_x, center_y, center_z = {variable}.position"]
    at = {axis: f"center_{axis}" for axis in "xyz"}
    if spot.relation == "top":
        at["z"] = "max_z"
    elif spot.relation == "below top":
        at["z"] = f"max_z - cm2index({distance:g}, 'z')"
    else:
        axis, sign = frame.axes[spot.relation]
        at[axis] = (
            f"{'max' if sign > 0 else 'min'}_{axis} {'+' if sign > 0 else '-'} cm2index({distance:g}, '{axis}')"
        )
    return [*lines, *(f"{axis} = {value}" for axis, value in at.items()), mark]


def voxel_in(text: str) -> tuple[int, int, int] | None:
    found = _VOXEL.match(text.strip())
    return (int(found[1]), int(found[2]), int(found[3])) if found else None
