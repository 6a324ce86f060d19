"""Writes the code of the map programs other than get_affordance_map, for the phrases that composers use."""

from __future__ import annotations

import re
from collections.abc import Callable

from harness.chat.rules import affordance, words
from harness.chat.rules.code import LEVEL, REGION, WITHIN, map_code, region, thing
from harness.chat.rules.frame import Frame
from harness.chat.rules.places import AMOUNT, centimetres

_LOW = re.compile(rf"(?:everything |anything )?(?:lower|below) than {AMOUNT} above (?P<x>.+)")
_SPEED = re.compile(
    r"(?P<factor>\d*\.?\d+) ?(?:x|times)?(?: the)?(?: usual)? ?(?:speed)?(?: (?P<where>(?:within|above|everywhere|in|near|around).*))?"
)
_EXCEPT = re.compile(rf"(?:except|but)(?: for)?(?: within)? {AMOUNT} (?:around|of|from) (?P<x>.+)")
_NUMERAL = r"(\d+(?:\.\d+)?)"
_WAYS = {
    "up": "above",
    "down": "below",
    "left": "left",
    "right": "right",
    "forward": "front",
    "backward": "behind",
}


def avoidance(query: str, frame: Frame) -> str | None:
    """Code for a phrase of get_avoidance_map, or None."""
    if found := REGION.fullmatch(query):
        return map_code("avoidance", region("avoidance", found, frame, "1"))
    if found := _LOW.fullmatch(query):
        name, variable = thing(found["x"])
        return map_code(
            "avoidance",
            [
                f"{variable} = parse_query_obj({name!r})",
                f"x, y, z = {variable}.position",
                f"avoidance_map[:, :, :z + cm2index({centimetres(found):g}, 'z')] = 1",
            ],
        )
    lines: list[str] = []
    for part in re.split(r", (?:and )?(?=[\d.]+ ?\w+ (?:away )?from)", query):
        measured = re.fullmatch(rf"(?:at least )?{AMOUNT} (?:away )?(?:from|of|around) (?P<x>.+)", part)
        joined, radius = (measured["x"], centimetres(measured)) if measured else (part, 10.0)
        for one in re.split(r",? and |, ", re.sub(r"^(?:away )?from ", "", joined)):
            lines += _keep_off(one, radius)
    return map_code("avoidance", lines) if lines else None


def velocity(query: str, frame: Frame) -> str | None:
    """Code for a phrase of get_velocity_map, or None."""
    text = query
    for word, factor in (
        ("slow", "0.5"),
        ("half", "0.5"),
        ("quarter", "0.25"),
        ("quick", "2"),
        ("fast", "2"),
        ("double", "2"),
    ):
        text = re.sub(rf"^(?:move )?{word}\w*(?: speed)?", f"{factor}x speed", text)
    found = _SPEED.fullmatch(text)
    if found is None:
        return None
    value, where = found["factor"], found["where"] or "everywhere"
    if where == "everywhere":
        return map_code("velocity", [f"velocity_map[:] = {value}"])
    if near := WITHIN.fullmatch(where):
        name, variable = thing(near["x"])
        ball = f"set_voxel_by_radius(velocity_map, {variable}.position, radius_cm={centimetres(near):g}, value={value})"
        return map_code("velocity", [f"{variable} = parse_query_obj({name!r})", ball])
    side = REGION.fullmatch(f"anywhere {where}")
    return map_code("velocity", region("velocity", side, frame, value)) if side else None


def rotation(query: str, frame: Frame) -> str | None:
    """Code for a phrase of get_rotation_map, or None."""
    if found := re.search(rf"{_NUMERAL} ?degrees?", query):
        return _turned(query, float(found[1]), frame)
    found = re.fullmatch(r"(?:face|look|point)(?:ing)?(?: at| to(?:wards)?)?(?: straight)? (?P<x>.+)", query)
    if found is None:
        return None
    way = words.DIRECTIONS.get(found["x"])
    if way in _WAYS:
        return map_code("rotation", [f"rotation_map[:, :, :] = pointat2quat({_direction(way, frame)})"])
    name, variable = thing(found["x"])
    return map_code(
        "rotation",
        [
            f"{variable} = parse_query_obj({name!r})",
            "# level, against the direction in which it faces",
            f"outward = {variable}.normal * np.array({LEVEL})",
            "rotation_map[:, :, :] = pointat2quat(-outward)",
        ],
    )


def gripper(query: str, frame: Frame) -> str | None:
    """Code for a phrase of get_gripper_map, or None."""
    found = re.match(
        r"(?:the )?(?:gripper )?(?:is |stays |keep )?(?P<state>open|closed?)\b(?: everywhere)?,? ?(?P<rest>.*)",
        query,
    )
    if found is None:
        return None
    value = 1 if found["state"] == "open" else 0
    lines = [f"gripper_map[:, :, :] = {value}"]
    if found["rest"]:
        near = _EXCEPT.fullmatch(found["rest"])
        if near is None:
            return None
        name, variable = thing(near["x"])
        lines += [
            f"{variable} = parse_query_obj({name!r})",
            f"set_voxel_by_radius(gripper_map, {variable}.position, radius_cm={centimetres(near):g}, value={1 - value})",
        ]
    return map_code("gripper", lines)


WRITERS: dict[str, Callable[[str, Frame], str | None]] = {
    "get_affordance_map": affordance.write,
    "get_avoidance_map": avoidance,
    "get_velocity_map": velocity,
    "get_rotation_map": rotation,
    "get_gripper_map": gripper,
}


def _keep_off(phrase: str, radius: float) -> list[str]:
    name, variable = thing(phrase)
    found = f"{variable} = parse_query_obj({name!r})"
    if phrase.startswith(("all ", "both ", "every ")):
        return [
            found,
            f"for one in {variable}:",
            f"    set_voxel_by_radius(avoidance_map, one.position, radius_cm={radius:g}, value=1)",
        ]
    return [found, f"set_voxel_by_radius(avoidance_map, {variable}.position, radius_cm={radius:g}, value=1)"]


def _direction(way: str, frame: Frame) -> str:
    axis, sign = frame.axes[_WAYS[way]]
    vector = [0, 0, 0]
    vector["xyz".index(axis)] = sign
    return str(vector)


def _turned(query: str, degrees: float, frame: Frame) -> str:
    lines = ["current = rotation_map[0, 0, 0]"]
    if "tilt" in query:
        way = next(
            (words.DIRECTIONS[w] for w in query.split() if words.DIRECTIONS.get(w) in _WAYS), "forward"
        )
        axis, sign = frame.axes[_WAYS[way]]
        # z turns towards x about +y, and towards y about -x
        about = {"x": "y", "y": "x"}.get(axis, "y")
        minus = "-" if (sign > 0) == (axis == "y") else ""
        angles = [f"{minus}np.pi * {degrees:g} / 180" if a == about else "0" for a in "xyz"]
        turn = "qmult(delta, current)"
    else:
        against = re.search(r"(?:counter|anti)-?clockwise", query) is not None
        minus = "-" if (frame.clockwise > 0) == against else ""
        angles = ["0", "0", f"{minus}np.pi * {degrees:g} / 180"]
        turn = "qmult(current, delta)" if frame.local else "qmult(delta, current)"
    lines.append(f"delta = euler2quat({', '.join(angles)})")
    return map_code("rotation", [*lines, f"rotation_map[:, :, :] = {turn}"])
