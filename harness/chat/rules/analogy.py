"""Which solved example is most like a new instruction, and who in the new scene plays which of its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, permutations

from harness.chat.rules.clause import OBJECT, Clause, Role
from harness.chat.rules.instruction import Instruction
from harness.chat.rules.naming import alike, content, match, siblings
from harness.chat.rules.words import likeness, word_set

_GROUPS = (
    (word_set("off from of"), 0.9),
    (word_set("out off from of"), 0.6),
    (word_set("in on above to"), 0.6),
    (word_set("left right front behind beside"), 0.8),
)
"""Relations that can stand in for one another, and how well."""

_KIND, _VERB, _RELATION, _SHAPE, _MODE, _WORD, _SHOWN = 4.0, 0.5, 2.0, 1.5, 0.5, 0.3, 0.8
"""Weights of what makes two instructions alike: kind of action, same verb, relations, shape of the scene,
having a direction or not and something to avoid or not, shared words (each, at most three), and having been
looked up for this instruction."""
_GUESS = 0.3
"""What each part that the words do not hand out costs."""
AVOID = "avoid"
"""Relation of things to keep away from."""
_BY_MEANS = word_set("open close on off")
"""Kinds of action that are goals: who opens or switches off a thing may well handle another one."""

_ABSENT, _IN_ORDER = -2.0, 0.1
"""Worth of leaving a part of the plan out, and of handing parts out in the order of the lists."""
_MANY = 120
"""How many ways to hand out the unnamed parts are considered."""


@dataclass(frozen=True)
class Part:
    """A role of an instruction and who plays it; `name` is empty if the words do not tell. `kind` is that of
    `naming.Match`, or "none"."""

    clause: int
    relation: str
    phrase: str
    name: str = ""
    kind: str = "none"


@dataclass(frozen=True)
class Scene:
    """An instruction read against the names of its scene."""

    clauses: tuple[Clause, ...]
    objects: tuple[str, ...]
    parts: tuple[Part, ...]

    @property
    def unnamed(self) -> tuple[str, ...]:
        """Names that no role claims."""
        named = {part.name for part in self.parts}
        return tuple(name for name in self.objects if name not in named)


def stage(instruction: Instruction, objects: Sequence[str]) -> Scene:
    """Give each role the name that its words fit best; no two roles share one."""
    clauses = instruction.clauses
    whole = " ".join(role.phrase for clause in clauses for role in clause.roles)
    roles = [(i, role) for i, clause in enumerate(clauses) for role in clause.roles]
    roles += [(0, Role(AVOID, phrase)) for phrase in instruction.avoid]
    fits = []
    for j, (_, role) in enumerate(roles):
        for name in objects:
            hit = match(role.phrase, name)
            if hit is not None:
                context = match(whole, name)
                fits.append((hit.score + 0.2 * (context.score if context else 0), -j, name, hit.kind))
    chosen: dict[int, tuple[str, str]] = {}
    said: dict[tuple[str, str], str] = {}
    for _, minus_j, name, kind in sorted(fits, key=lambda fit: (-fit[0], -fit[1])):
        role = roles[-minus_j][1]
        same_thing = said.get((role.phrase, name)) == name
        if -minus_j not in chosen and (same_thing or name not in {n for n, _ in chosen.values()}):
            chosen[-minus_j] = (name, kind)
            said[role.phrase, name] = name
    parts = [
        Part(i, role.relation, role.phrase, *chosen.get(j, ("", "none"))) for j, (i, role) in enumerate(roles)
    ]
    return Scene(tuple(clauses), tuple(objects), tuple(parts))


def resemblance(solved: Scene, asked: Scene, shown: bool = False) -> float:
    """How alike two instructions and their scenes are; scenes must have equally many clauses."""
    total = 0.0
    for old, new in zip(solved.clauses, asked.clauses, strict=True):
        total += _KIND * likeness(old.kinds, new.kinds) + _VERB * (old.verb == new.verb)
        total += _RELATION * _relations(old.relations, new.relations)
        total += _MODE * (bool(_level(old)) == bool(_level(new)))
    total /= len(asked.clauses)
    total += _MODE * (_avoids(solved) == _avoids(asked))
    total += _SHAPE * _shapes(solved, asked)
    total += _WORD * min(3, len(_vocabulary(solved) & _vocabulary(asked)))
    return total + _SHOWN * shown


def relation_fit(first: str, second: str) -> float:
    """How well one relation can stand for another, 0 to 1."""
    if first == second:
        return 1.0
    return next((value for group, value in _GROUPS if first in group and second in group), 0.0)


@dataclass(frozen=True)
class Casting:
    """Name in the solved plan to name in the new scene; a name that nobody can play is missing. `cost` is 0
    where the words decide everything."""

    names: Mapping[str, str]
    cost: float = 0.0


def castings(solved: Scene, used: Sequence[str], asked: Scene) -> list[Casting]:
    """Ways to replace the names `used` in the solved plan, most plausible first. What the words of the two
    instructions decide is the same in all of them."""
    fixed: dict[str, str] = {}
    slots: list[str] = []
    taken: set[int] = set()
    for part in sorted(solved.parts, key=lambda part: part.relation != OBJECT):
        if not part.name or part.name in fixed or part.name in slots:
            continue
        index = _counterpart(part, asked, taken)
        if index is None and part.relation == AVOID:
            continue
        if index is not None:
            taken.add(index)
        if index is not None and asked.parts[index].name:
            fixed[part.name] = _like_part(part, asked.parts[index], asked)
        elif part.name in used or index is not None:
            slots.append(part.name)
    avoided = {part.name for part in solved.parts if part.relation == AVOID}
    slots += [name for name in used if name not in fixed and name not in slots and name not in avoided]
    slots.sort(key=solved.objects.index)
    if not slots:
        return [Casting(fixed)]
    free = [name for name in asked.objects if name in asked.unnamed]
    acted_on = _acted_on(asked)
    if acted_on and acted_on not in {fixed[name] for name in used if name in fixed}:
        free.append(acted_on)
    free += [""] * max(0, len(slots) - len(free))
    ways = []
    for order in islice(permutations(range(len(free)), len(slots)), _MANY):
        handed = {slot: free[i] for slot, i in zip(slots, order, strict=True) if free[i]}
        worth = sum(_suits(slot, name, solved, asked, fixed) for slot, name in handed.items())
        worth += sum(_ABSENT for slot in slots if slot not in handed and slot in used)
        worth += _IN_ORDER * sum(a < b for a, b in pairwise(order)) - 0.01 * sum(order)
        ways.append((worth, handed))
    ways.sort(key=lambda way: -way[0])
    guesses = _GUESS * sum(slot in used for slot in slots)
    return [Casting(fixed | handed, guesses + (ways[0][0] - worth)) for worth, handed in ways]


def _like_part(old: Part, new: Part, asked: Scene) -> str:
    """Who plays the part; where the example means a piece of what it names ("locker", by its handle), a piece of
    what the instruction names if the scene has one."""
    if old.kind != "part" or new.kind == "part":
        return new.name
    pieces = [name for name in asked.unnamed if (hit := match(new.phrase, name)) and hit.kind == "part"]
    return pieces[0] if pieces else new.name


def _counterpart(part: Part, asked: Scene, taken: set[int]) -> int | None:
    best, best_fit = None, 0.0
    for i, other in enumerate(asked.parts):
        if i in taken or other.clause != part.clause:
            continue
        fit = relation_fit(part.relation, other.relation)
        if fit > best_fit:
            best, best_fit = i, fit
    return best


def _suits(slot: str, name: str, solved: Scene, asked: Scene, fixed: Mapping[str, str]) -> float:
    """Hints that `name` can play the part of `slot`: a shared word, a name that belongs to the thing that is
    acted on, being one of a kind, and the same order in the two lists of things."""
    worth = 0.0
    acted_on = _acted_on(asked)
    if name == acted_on:
        # "turn off the tap": something else is handled; "twist the tap": the tap is
        return -1.0 if _BY_MEANS & asked.clauses[0].kinds else 0.2
    if any(alike(a, b) for a in content(slot) for b in content(name)):
        worth += 1.0
    if match(" ".join(part.phrase for part in asked.parts if part.relation == OBJECT), name) is not None:
        worth += 0.5
    if siblings(name, asked.objects):
        worth -= 0.5
    old = _acted_on(solved)
    if old in fixed and slot != old:
        before = solved.objects.index(old) < solved.objects.index(slot)
        same = before == (asked.objects.index(fixed[old]) < asked.objects.index(name))
        worth += 0.25 if same else -0.25
    return worth


def _acted_on(scene: Scene) -> str:
    return next((part.name for part in scene.parts if part.relation == OBJECT), "")


def _avoids(scene: Scene) -> bool:
    return any(part.relation == AVOID for part in scene.parts)


def _relations(old: frozenset[str], new: frozenset[str]) -> float:
    if not old and not new:
        return 1.0
    if not old or not new:
        return 0.3
    matched = sum(max(relation_fit(a, b) for b in old) for a in new)
    return matched / max(len(old), len(new))


def _shapes(solved: Scene, asked: Scene) -> float:
    """Agreement in how the things acted on are named, whether there are several of their kind, and whether
    the scene has things that go unmentioned."""
    old, new = _shape(solved), _shape(asked)
    return sum(a == b for a, b in zip(old, new, strict=True)) / len(new)


def _shape(scene: Scene) -> tuple[object, ...]:
    acted_on = next((part for part in scene.parts if part.relation == OBJECT), None)
    if acted_on is None or not acted_on.name:
        return ("none", False, bool(scene.unnamed))
    kin = siblings(acted_on.name, scene.objects)
    others = [name for name in scene.unnamed if name not in kin]
    kind = "part" if acted_on.kind in ("part", "some") else acted_on.kind
    return (kind, bool(kin), bool(others))


def _level(clause: Clause) -> str:
    return clause.direction if clause.direction not in ("up", "down") else ""


def _vocabulary(scene: Scene) -> set[str]:
    words = {word for name in scene.objects for word in content(name)}
    return words | {word for part in scene.parts for word in content(part.phrase)}
