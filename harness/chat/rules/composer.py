"""Writes what a sentence of a plan becomes: which thing moves, the phrases for the map programs, and the calls."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from harness.chat.rules import sentence as grammar
from harness.chat.rules.manner import Manner
from harness.chat.rules.places import Place, noun
from harness.chat.rules.request import Example
from harness.chat.rules.sentence import Step

_PHRASES = {
    "up": "above",
    "down": "below",
    "left": "to the left of",
    "right": "to the right of",
    "forward": "in front of",
    "backward": "behind",
}
_RELATIONS = {
    "above": "above",
    "below": "below",
    "front": "in front of",
    "behind": "behind",
    "left": "to the left of",
    "right": "to the right of",
    "away": "away from",
    "below top": "below the top of",
}
_SHIFT, _HOVER, _LEAVE, _PRESS_DEPTH, _CLEARANCE, _QUARTER = 10.0, 10.0, 20.0, 3.0, 10.0, 90.0
"""What sentences mean that give no number: centimetres, and degrees for the last."""

_MOVABLE = re.compile(r"parse_query_obj\((['\"])(.+?)\1\)")


def write(query: str, examples: Sequence[Example]) -> str | None:
    """The code for a sentence; None for one that the grammar does not cover."""
    said = grammar.parse(query)
    if said is None:
        return None
    effector = _effector(examples)
    blocks = [_block(step, said.manner, effector) for step in said.steps]
    return "\n".join(blocks)


def _effector(examples: Sequence[Example]) -> str:
    """How the examples call the end effector: what moves in most of them."""
    names = Counter(found[1] for example in examples for found in _MOVABLE.findall(example.code))
    return names.most_common(1)[0][0] if names else "gripper"


def _block(step: Step, manner: Manner, effector: str) -> str:
    if step.action == "home":
        return "reset_to_default_pose()"
    if step.action == "twist":
        held = _block(Step("grasp", step.thing), manner, effector)
        return held + "\n" + _block(Step("turn", way=step.way, amount=step.amount), manner, effector)
    movable = step.thing if step.action == "push" and step.thing else effector
    maps: dict[str, str] = {}
    target = _target(step)
    if target:
        maps["affordance"] = _literal(target)
    if manner.avoid:
        maps["avoidance"] = _literal(_avoidance(manner))
    if turned := _orientation(step) or (f"face {_facing(manner.facing)}" if manner.facing else ""):
        maps["rotation"] = _literal(turned)
    if manner.speed is not None:
        maps["velocity"] = _literal(f"{manner.speed:g}x speed")
    if opening := _opening(step, manner):
        maps["gripper"] = _literal(opening)
    lines = [f"movable = parse_query_obj({movable!r})"]
    lines += [f"{kind}_map = get_{kind}_map({phrase})" for kind, phrase in maps.items()]
    lines.append(f"execute({', '.join(['movable', *(f'{kind}_map={kind}_map' for kind in maps)])})")
    return "\n".join(lines)


def _target(step: Step) -> str:
    """The phrase for get_affordance_map; empty for a step that stays where it is."""
    if step.action == "press":
        depth = _PRESS_DEPTH if step.amount is None else step.amount
        return f"a point {depth:g}cm below the top of the {step.thing}"
    if step.action == "grasp":
        spot = step.place or Place("center", (step.thing,))
        return _spot(spot)
    if step.action in ("shift", "push") and step.way:
        amount = _SHIFT if step.amount is None else step.amount
        return f"a point {amount:g}cm {_PHRASES.get(step.way, 'above')} {{movable.position}}"
    if step.action == "leave":
        return f"a point {step.amount or _LEAVE:g}cm from {{movable.position}} away from the {step.thing}"
    if step.action == "approach":
        return f"a point {step.amount or _LEAVE:g}cm from {{movable.position}} towards the {step.thing}"
    return _spot(step.place) if step.place else ""


def _spot(spot: Place) -> str:
    if spot.relation == "between":
        return f"a point between the {spot.things[0]} and the {spot.things[1]}"
    if spot.relation in ("center", "top"):
        return f"a point at the {spot.relation} of the {spot.things[0]}"
    distance = _HOVER if spot.distance is None else spot.distance
    return f"a point {distance:g}cm {_RELATIONS[spot.relation]} the {spot.things[0]}"


def _avoidance(manner: Manner) -> str:
    parts = []
    for distance, joined in manner.avoid:
        things = " and ".join(f"the {noun(thing)}" for thing in joined.split(" and "))
        parts.append(f"{_CLEARANCE if distance is None else distance:g}cm from {things}")
    return ", ".join(parts)


def _orientation(step: Step) -> str:
    degrees = _QUARTER if step.amount is None else step.amount
    if step.action == "turn":
        return f"turn {step.way} by {degrees:g} degrees"
    if step.action == "tilt":
        return f"tilt by {degrees:g} degrees towards {step.way}"
    return f"face {_facing(step.thing)}" if step.action == "face" else ""


def _facing(phrase: str) -> str:
    bare = noun(phrase) or phrase
    return bare if bare in _PHRASES else f"the {bare}"


def _opening(step: Step, manner: Manner) -> str:
    if step.action == "grasp":
        return f"open everywhere except 1cm around the {step.thing}"
    if step.action in ("close", "press") or (step.action == "push" and not step.thing):
        return "closed everywhere"
    if step.action == "open":
        return "open everywhere"
    return f"{manner.gripper} everywhere" if manner.gripper else ""


def _literal(phrase: str) -> str:
    return ("f" if "{" in phrase else "") + repr(phrase)
