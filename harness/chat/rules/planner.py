"""Plans a new instruction by analogy: the plan of the most similar example, played by the things of the new
scene. What the examples show decides what it says; a plan that the prompt calls failed is not said again."""

from __future__ import annotations

import ast
import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.chat.rules import sentence as grammar
from harness.chat.rules.analogy import AVOID, Scene, castings, resemblance, stage
from harness.chat.rules.clause import Clause
from harness.chat.rules.instruction import Instruction, parse
from harness.chat.rules.request import Example, Request

_CALL = re.compile(r"composer\(\s*f?(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')\s*\)")
_CLEARANCE = 10
_NEAR_EQUAL = 0.75
"""Scores this close count as equal when sampling is on."""
_CASTINGS = 6
"""How many ways to cast one example are considered."""
_OPPOSITES = {
    "left": "right",
    "forward": "backward",
    "up": "down",
    "clockwise": "counterclockwise",
}
_OPPOSITES |= {second: first for first, second in _OPPOSITES.items()}
_SIDES = {
    "left": "to the left of",
    "right": "to the right of",
    "front": "in front of",
    "behind": "behind",
    "beside": "to the right of",
    "above": "above",
    "below": "below",
}
_MOTIONS = frozenset({"go", "shift", "leave", "approach", "push"})


@dataclass(frozen=True)
class Plan:
    """Sentences for the composer; `source` is the query of the example that it follows."""

    sentences: tuple[str, ...]
    score: float
    source: str


@dataclass(frozen=True)
class _Solved:
    example: Example
    instruction: Instruction
    scene: Scene
    sentences: tuple[str, ...]


def write(request: Request, temperature: float = 0.0, seed: int = 0) -> tuple[str, str] | None:
    """The code and the query of the example that it follows; None if no example can be followed."""
    solved = [item for example in request.examples if (item := _solve(example)) is not None]
    asked = parse(request.query, request.objects)
    if not solved or not asked.clauses:
        return None
    plans = _plans(asked, request.objects, solved)
    failed = {sentences_of(code) for code in request.failed}
    fresh = [plan for plan in plans if plan.sentences not in failed] or plans
    if not fresh:
        return None
    chosen = fresh[0]
    revised = _revised(sentences_of(request.failed[-1]), request.critique) if request.failed else ()
    if revised and revised not in failed:
        chosen = Plan(revised, chosen.score, "the failed plan, as its critique says")
    elif temperature > 0:
        close = [plan for plan in fresh if plan.score >= fresh[0].score - _NEAR_EQUAL * min(temperature, 1.0)]
        chosen = random.Random(seed).choice(close)
    lines = [f"composer({json.dumps(said, ensure_ascii=False)})" for said in chosen.sentences]
    return "\n".join([*lines, "# done"]), chosen.source


def _revised(sentences: Sequence[str], critique: str) -> tuple[str, ...]:
    """The failed plan with what a critique says about how to do it again; empty if it says nothing of that."""
    slowly, at_top = "slowly" in critique, bool(re.search(r"\bat (?:its|the) top\b", critique))
    if not (slowly or at_top):
        return ()
    revised = []
    for said in sentences:
        if at_top:
            said = re.sub(r"\b(grasp|grab|grip|pick up) the (?!top of)", r"\1 the top of the ", said)
        revised.append(_mannered(said, "slow" if slowly else "", []))
    return tuple(revised)


def sentences_of(code: str) -> tuple[str, ...]:
    """The sentences that a plan says, in order; what is no Python string says none."""
    return tuple(said for found in _CALL.findall(code) if (said := _text(found)) is not None)


def _text(literal: str) -> str | None:
    try:
        return str(ast.literal_eval(literal))
    except (SyntaxError, ValueError):  # a wrong escape, a line break, a null byte
        return None


def _solve(example: Example) -> _Solved | None:
    sentences = sentences_of(example.code)
    if not sentences:
        return None
    objects = example.objects if example.objects is not None else _mentioned(sentences)
    instruction = parse(example.query, objects)
    if not instruction.clauses:
        return None
    return _Solved(example, instruction, stage(instruction, objects), sentences)


def _mentioned(sentences: Sequence[str]) -> tuple[str, ...]:
    """The things that a plan without a context line speaks of."""
    named = [thing for said in sentences if (read := grammar.parse(said)) for thing in read.things]
    return tuple(dict.fromkeys(named))


def _plans(asked: Instruction, objects: Sequence[str], solved: Sequence[_Solved]) -> list[Plan]:
    """All plans by analogy, best first."""
    whole = _by_analogy(
        asked, objects, [item for item in solved if len(item.scene.clauses) == len(asked.clauses)]
    )
    if len(asked.clauses) == 1:
        return whole
    pieces = [
        _plans(Instruction((clause,), asked.avoid, asked.pace), objects, solved) for clause in asked.clauses
    ]
    if not all(pieces):
        return whole
    chained = [_chain([options[min(i, len(options) - 1)] for options in pieces], solved) for i in range(3)]
    return sorted([*whole, *dict.fromkeys(chained)], key=lambda plan: -plan.score)


def _by_analogy(asked: Instruction, objects: Sequence[str], solved: Sequence[_Solved]) -> list[Plan]:
    scene = stage(asked, objects)
    plans: dict[tuple[str, ...], Plan] = {}
    for item in solved:
        score = resemblance(item.scene, scene, item.example.shown)
        used = [name for name in item.scene.objects if any(_mentions(said, name) for said in item.sentences)]
        for casting in castings(item.scene, used, scene)[:_CASTINGS]:
            sentences = _carry_over(item, used, casting.names, asked, scene)
            worth = score - casting.cost
            if sentences and (sentences not in plans or plans[sentences].score < worth):
                plans[sentences] = Plan(sentences, worth, item.example.query)
    return sorted(plans.values(), key=lambda plan: -plan.score)


def _chain(parts: Sequence[Plan], solved: Sequence[_Solved]) -> Plan:
    """Plans one after the other, with the gripper back at its start in between, in the examples' words."""
    home = next(
        (said for item in solved for said in item.sentences if _is_home(said)), "back to default pose"
    )
    sentences: list[str] = []
    for part in parts:
        if sentences and not _is_home(sentences[-1]):
            sentences.append(home)
        sentences += part.sentences
    score = sum(part.score for part in parts) / len(parts)
    return Plan(tuple(sentences), score, "; ".join(part.source for part in parts))


def _is_home(said: str) -> bool:
    read = grammar.parse(said)
    return read is not None and read.steps[-1].action == "home"


def _mentions(said: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said, re.IGNORECASE) is not None


def _carry_over(
    item: _Solved, used: Sequence[str], names: Mapping[str, str], asked: Instruction, scene: Scene
) -> tuple[str, ...]:
    """The solved plan with the new names, directions, amounts and manner."""
    carried = []
    avoided = [part.name for part in scene.parts if part.relation == AVOID and part.name]
    for said in item.sentences:
        if item.instruction.avoid and not avoided:
            said = _without_avoidance(said)
        if item.instruction.pace and not asked.pace:
            said = re.sub(r" at [\d.]+x speed\b", "", said)
        if any(_mentions(said, name) and name not in names for name in used):
            continue
        said = _renamed(said, {name: names[name] for name in used if name in names})
        for old, new in zip(item.scene.clauses, scene.clauses, strict=True):
            said = _redirected(said, old, new)
        # an example that is itself slow or avoids something shows how: nothing is added to it
        pace = "" if item.instruction.pace else asked.pace
        carried.append(_mannered(said, pace, [] if item.instruction.avoid else avoided))
    return tuple(carried)


def _renamed(said: str, names: dict[str, str]) -> str:
    if not names:
        return said
    longest_first = sorted(names, key=len, reverse=True)
    pattern = "|".join(re.escape(name) for name in longest_first)
    lower = {name.lower(): new for name, new in names.items()}
    return re.sub(
        rf"(?<!\w)(?:{pattern})(?!\w)", lambda found: lower[found[0].lower()], said, flags=re.IGNORECASE
    )


def _redirected(said: str, old: Clause, new: Clause) -> str:
    """Directions, sides and amounts of the new instruction instead of the example's."""
    if old.direction and new.direction and old.direction != new.direction:
        swap = {old.direction: new.direction}
        if old.direction in _OPPOSITES and new.direction in _OPPOSITES:
            swap[_OPPOSITES[old.direction]] = _OPPOSITES[new.direction]
        said = _renamed(said, _phrased(swap))
    for relation in old.relations & set(_SIDES):
        other = next((r for r in new.relations if r in _SIDES), relation)
        if other != relation:
            said = said.replace(_SIDES[relation], _SIDES[other])
    if old.amount is not None and new.amount is not None and old.unit == new.unit:
        unit = r"cm" if old.unit == "cm" else r" degrees"
        said = re.sub(rf"(?<![\d.]){old.amount:g}(?={unit})", f"{new.amount:g}", said)
    return said


def _phrased(swap: dict[str, str]) -> dict[str, str]:
    """Directions as sentences say them: "to the left", but "forward"."""
    sides = {"left", "right"}
    phrased: dict[str, str] = {}
    for old, new in swap.items():
        if old in sides and new not in sides:
            phrased[f"to the {old}"] = new
        elif new in sides and old not in sides:
            phrased[old] = f"to the {new}"
        else:
            phrased[old] = new
    return phrased


def _without_avoidance(said: str) -> str:
    return re.sub(r" while keeping(?: at least)? .+? (?:away )?from .+?(?= at [\d.]+x speed|$)", "", said)


def _mannered(said: str, pace: str, avoided: Sequence[str]) -> str:
    """Add what the new instruction says about pace and about what to keep away from."""
    read = grammar.parse(said)
    if read is None:
        return said
    actions = {step.action for step in read.steps}
    if avoided and actions & _MOTIONS and not read.manner.avoid:
        others = [name for name in avoided if name not in read.things]
        if others:
            said += f" while keeping at least {_CLEARANCE}cm away from the {' and the '.join(others)}"
    if pace and read.manner.speed is None and actions & (_MOTIONS | {"grasp"}):
        said += " at 0.5x speed" if pace == "slow" else " at 2x speed"
    return said
