"""What is to be done next, from goals and beliefs: inspect what is unknown before relying on it, obey rules and
preferences, finish what is in the hand. Where nothing tells, it guesses, as somebody has to who has forgotten."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from harness.chat.rules.embodied.beliefs import Beliefs
from harness.chat.rules.embodied.goals import Belong, Goal, Look, Portions, Put, Serve
from harness.chat.rules.embodied.mentions import alike
from harness.chat.rules.embodied.reading import Line
from harness.chat.rules.embodied.sight import kind_of
from harness.chat.rules.embodied.subtasks import Inspect, Move, Subtask, is_one, parse


@dataclass(frozen=True)
class Course:
    """The plan list, with what each of its lines means. Empty for a planner without one."""

    lines: tuple[Line, ...] = ()

    @cached_property
    def done(self) -> list[Subtask]:
        return [subtask for line in self.lines if line.state == "done" and (subtask := parse(line.text))]

    @cached_property
    def open(self) -> list[Subtask]:
        """The current one first."""
        return [subtask for line in self.lines if line.state != "done" and (subtask := parse(line.text))]


def next_subtasks(beliefs: Beliefs, course: Course) -> list[Subtask]:
    """All that is left to do, as far as it is known. Empty: nothing."""
    found: list[Subtask] = []
    for goal in beliefs.wish.goals:
        for subtask in _for_goal(goal, beliefs, course):
            if subtask not in found or _is_counted(subtask, beliefs):
                found.append(subtask)
    if beliefs.held:
        wanted = [
            subtask for subtask in found if isinstance(subtask, Move) and is_one(beliefs.held, subtask.thing)
        ]
        found = [*wanted[:1], *_without(found, wanted[:1])]
    return found


def _without(subtasks: Sequence[Subtask], first: Sequence[Subtask]) -> list[Subtask]:
    rest = list(subtasks)
    for subtask in first:
        rest.remove(subtask)
    return rest


def _is_counted(subtask: Subtask, beliefs: Beliefs) -> bool:
    return isinstance(subtask, Move) and any(
        kind_of(name) == subtask.thing and name != subtask.thing for name in beliefs.at
    )


def _for_goal(goal: Goal, beliefs: Beliefs, course: Course) -> list[Subtask]:
    if isinstance(goal, Look):
        return _look(goal, beliefs, course)
    if isinstance(goal, Belong):
        return _belong(goal, beliefs, course)
    if isinstance(goal, Serve):
        return _serve(goal, beliefs, course)
    if isinstance(goal, Portions):
        return _portions(goal, beliefs, course)
    return _put(goal, beliefs)


def _look(goal: Look, beliefs: Beliefs, course: Course) -> list[Subtask]:
    places = goal.places or beliefs.walled
    if course.lines and not beliefs.is_new:
        planned = [subtask for subtask in course.open if isinstance(subtask, Inspect)]
        return [
            subtask for subtask in planned if subtask.place in places and subtask.place not in beliefs.shown
        ]
    return [Inspect(place) for place in places if place not in beliefs.known]


def _unknown(beliefs: Beliefs, course: Course, among: Iterable[str], kind: str = "") -> list[Subtask]:
    """Looks into places of which nothing is known: those first that are planned, or in which the kind may be now."""
    planned = [subtask.place for subtask in course.open if isinstance(subtask, Inspect)]
    places = [place for place in among if place not in beliefs.known]

    def order(place: str) -> tuple[int, int]:
        if not beliefs.is_new and place in planned:
            return 0, planned.index(place)
        swapped = beliefs.wish.changed if beliefs.wish.swapped else []
        others = [other for other in swapped if other != place and place in swapped]
        hoped = [thing for other in others for thing in beliefs.before.get(other, ())]
        return (0 if kind and beliefs.names.of_kind(kind, hoped) else 1), 0

    return [Inspect(place) for place in sorted(places, key=order)]


def _put(goal: Put, beliefs: Beliefs) -> list[Subtask]:
    things = goal.things or [thing for thing in (*beliefs.at, beliefs.held) if thing]
    left = [thing for thing in _single(things, beliefs) if beliefs.at.get(thing) != goal.target]
    return [
        _move(thing, goal.target, beliefs) for thing in left if thing in beliefs.at or thing == beliefs.held
    ]


def _single(things: Iterable[str], beliefs: Beliefs) -> list[str]:
    """Each thing that is meant, by its own name."""
    present = [*beliefs.at, *([beliefs.held] if beliefs.held else [])]
    found: dict[str, None] = {}
    for thing in things:
        found.update(dict.fromkeys([name for name in present if is_one(name, thing)] or [thing]))
    return list(found)


def _move(thing: str, target: str, beliefs: Beliefs) -> Move:
    return Move(thing, target, beliefs.place_of(thing, besides=target))


def _belong(goal: Belong, beliefs: Beliefs, course: Course) -> list[Subtask]:
    things = list(goal.things) or [
        *beliefs.stood,
        *(thing for thing in beliefs.at if thing not in beliefs.stood),
    ]
    moves: list[Subtask] = []
    looks: list[Subtask] = []
    taken: dict[str, str] = {}
    for thing in sorted(things, key=lambda thing: _certainty(thing, beliefs)):
        where = beliefs.place_of(thing)
        place = (
            _home(thing, beliefs)
            or _of_its_kind(thing, where, goal, beliefs)
            or _planned(thing, beliefs, course)
        )
        if not place:
            unknown = _unknown(beliefs, course, _candidates(goal, where, beliefs), thing)
            looks += [look for look in unknown if look not in looks]
            if not unknown:
                place = _guess(thing, goal, beliefs, taken)
        if not place or where == place:
            continue
        taken[thing] = place
        if where or thing == beliefs.held:
            moves.append(_move(thing, place, beliefs))
        else:
            looks += [look for look in _unknown(beliefs, course, beliefs.walled, thing) if look not in looks]
    return [*looks, *moves]


def _certainty(thing: str, beliefs: Beliefs) -> int:
    """What is known to have a place of its own goes first, then its guests, then what has to be guessed."""
    return 0 if thing in beliefs.stood and thing not in beliefs.beside else 1 if _home(thing, beliefs) else 2


def _home(thing: str, beliefs: Beliefs) -> str:
    """Where the thing stood, or where the one stood beside which it belongs."""
    if thing in beliefs.beside:
        host = beliefs.beside[thing]
        place = beliefs.stood.get(host) or beliefs.at.get(host, "")
        return "" if place in beliefs.walled else place
    return beliefs.stood.get(thing, "")


def _planned(thing: str, beliefs: Beliefs, course: Course) -> str:
    """Where the plan takes it: what it rests on may be forgotten by now."""
    moves = [] if beliefs.is_new else [subtask for subtask in course.open if isinstance(subtask, Move)]
    return next((move.target for move in moves if is_one(thing, move.thing)), "")


def _candidates(goal: Belong, where: str, beliefs: Beliefs) -> list[str]:
    """Places in which things of a kind can be together."""
    named = [place for place in goal.where if place in beliefs.walled]
    return [place for place in named or beliefs.walled if place != where]


def _of_its_kind(thing: str, where: str, goal: Belong, beliefs: Beliefs) -> str:
    """The place that holds others of the thing's kind; also where it is already."""
    best, found = 0.0, ""
    for place in dict.fromkeys((*_candidates(goal, where, beliefs), where)):
        if place not in beliefs.walled or (place == where and len(beliefs.walled) == 1):
            continue
        others = [other for other in beliefs.contents(place) if other != thing]
        likeness = max((alike(thing, other) for other in others), default=0.0)
        if likeness > best:
            best, found = likeness, place
    return found


def _guess(thing: str, goal: Belong, beliefs: Beliefs, taken: dict[str, str]) -> str:
    """A place that nothing is said of: one in which nothing is, and that is nothing else's."""
    places = goal.where or [place for place in beliefs.names.places if place not in beliefs.walled]
    used = {*beliefs.at.values(), *beliefs.stood.values(), *taken.values()}
    if beliefs.place_of(thing) in places:
        return ""
    free = [place for place in places if place not in used]
    return next(iter((*free, *places)), "")


def _serve(goal: Serve, beliefs: Beliefs, course: Course) -> list[Subtask]:
    liked = beliefs.likes.get(goal.who, "")
    things = [thing for thing in (*beliefs.at, beliefs.held) if thing]
    fitting = list(beliefs.names.of_kind(liked, things)) if liked else things
    if any(beliefs.at.get(thing) == goal.target for thing in fitting):
        return []
    if beliefs.held in fitting:
        return [Move(beliefs.held, goal.target)]
    if fitting:
        return [_move(fitting[0], goal.target, beliefs)]
    return _unknown(beliefs, course, beliefs.walled, liked)


def _portions(goal: Portions, beliefs: Beliefs, course: Course) -> list[Subtask]:
    target = goal.target or _target_before(course, beliefs)
    planned = [subtask for subtask in course.open if isinstance(subtask, Move) and subtask.target == target]
    if course.lines and not beliefs.is_new and not _read_last(course, target):
        return list(planned)
    sheet = goal.sheet or next(iter(beliefs.asks), "")
    amounts = beliefs.asks.get(sheet, {})
    if not amounts:
        return [Inspect(sheet)] if sheet else _sheets(beliefs, target)
    wanted = Counter({kind: count * goal.times for kind, count in amounts.items()})
    if goal.who in beliefs.prefers:
        wanted = _to_taste(wanted, *beliefs.prefers[goal.who])
    if not course.lines:
        wanted = _remaining(wanted, beliefs, target, goal.more)
    each = {kind: _move(kind, target, beliefs) for kind in wanted}
    return [each[kind] for kind, count in wanted.items() for _ in range(count)]


def _read_last(course: Course, target: str) -> bool:
    """Whether the sheet was read, and nothing is planned by it yet."""
    subtasks = [parse(line.text) for line in course.lines]
    moves = [
        index
        for index, subtask in enumerate(subtasks)
        if isinstance(subtask, Move) and subtask.target == target
    ]
    looks = [index for index, subtask in enumerate(subtasks) if isinstance(subtask, Inspect)]
    return max(moves, default=-1) < max(looks, default=0)


def _target_before(course: Course, beliefs: Beliefs) -> str:
    """Where things were put before; else what can hold things and has nothing drawn on it."""
    moved = [subtask.target for subtask in course.done if isinstance(subtask, Move)]
    return next(iter((*reversed(moved), *beliefs.walled)), "")


def _sheets(beliefs: Beliefs, target: str) -> list[Subtask]:
    """Looks at places that may have something drawn on them: those on which nothing is."""
    used = {target, *beliefs.at.values(), *beliefs.known}
    return [Inspect(place) for place in beliefs.names.places if place not in used]


def _to_taste(wanted: Counter[str], better: str, usual: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for kind, count in wanted.items():
        found[better if kind.lower() == usual.lower() else kind] += count
    return found


def _remaining(wanted: Counter[str], beliefs: Beliefs, target: str, more: bool) -> Counter[str]:
    """What is not there yet, for who sees nothing but the place. Of one that held something before, it takes what is
    there for whole batches and the rest for the one that is begun."""
    there = Counter(kind_of(name) for name in beliefs.contents(target))
    if more:
        whole = min((there[kind] // count for kind, count in wanted.items()), default=0)
        there -= Counter({kind: count * whole for kind, count in wanted.items()})
    return wanted - there
