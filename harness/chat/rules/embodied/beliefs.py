"""What is believed of the world: what records say and frames show, newer evidence going before older. What nothing shows
or says is not believed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from harness.chat.rules.embodied.goals import Beside, Likes, Prefers, Wish, read_wish
from harness.chat.rules.embodied.mentions import Names
from harness.chat.rules.embodied.reading import Situation
from harness.chat.rules.embodied.sight import TABLE, Seen, Sights, kind_of
from harness.chat.rules.embodied.statements import (
    Asks,
    Holds,
    Said,
    Statement,
    Stood,
    Unknown,
    read_statements,
)
from harness.chat.rules.embodied.subtasks import Inspect, Move, parse

SPOKEN = "The user has just said"
_MISSED = 2
"""Looks into a place that do not show a thing before it is believed to be gone; the hand may hide it."""


@dataclass
class Beliefs:
    names: Names
    walled: tuple[str, ...]
    """Places that can hide what is in them, from left to right."""
    wish: Wish
    """What the user has said last."""
    is_new: bool
    """Whether that was just now."""
    held: str = ""
    at: dict[str, str] = field(default_factory=dict)
    """Thing to place."""
    known: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Place that was looked into, to what it holds."""
    asks: dict[str, dict[str, int]] = field(default_factory=dict)
    """Place on which something is drawn, to what: kind to number."""
    likes: dict[str, str] = field(default_factory=dict)
    prefers: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Person to the better and the usual."""
    beside: dict[str, str] = field(default_factory=dict)
    """Guest to host."""
    stood: dict[str, str] = field(default_factory=dict)
    """Thing to where it was when the user spoke."""
    before: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Place that the user has changed, to what it held."""
    shown: set[str] = field(default_factory=set)
    """Places that frames of now show the inside of, or what is drawn on them."""

    def place_of(self, name: str, besides: str = "") -> str:
        """Where a thing is, or one of a kind that is not at `besides`; empty if that is not known."""
        if name in self.at:
            return self.at[name]
        places = (place for thing, place in self.at.items() if kind_of(thing) == name)
        return next((place for place in places if place != besides), "")

    def contents(self, place: str) -> tuple[str, ...]:
        """What is believed to be there."""
        return tuple(thing for thing, where in self.at.items() if where == place)


def believe(situation: Situation, sights: Sights) -> Beliefs:
    """All evidence of one request. `sights` are of all its pictures."""
    said = {record.id: read_statements(record.text) for record in situation.records}
    names = _names(situation, sights, [statement for found in said.values() for statement in found])
    wish = read_wish(situation.instruction, names)
    is_new = any(note.startswith(SPOKEN) for note in situation.notes)
    gathering = _Gathering(Beliefs(names, sights.walled, wish, is_new), _since(situation, wish, is_new))
    evidence: list[tuple[int, int, tuple[Statement, ...] | Seen]] = [
        (record.step, 0, said[record.id]) for record in situation.records if record.text
    ]
    # A picture's caption says more than the picture.
    captioned = {id(record.shot) for record in situation.records if record.text}
    evidence += [
        (shot.step, 1, seen)
        for shot, seen in zip(sights.shots, sights.seen, strict=True)
        if id(shot) not in captioned
    ]
    first = _first(situation)
    for step, _, found in sorted(evidence, key=lambda item: item[:2]):
        if isinstance(found, Seen):
            gathering.show(found, is_now=step >= first)
        else:
            for statement in found:
                gathering.take(statement, step)
    beliefs = gathering.beliefs
    for fact in wish.facts:
        gathering.take(fact, situation.step)
    for place in wish.changed:
        if is_new and place not in beliefs.shown:
            gathering.forget(place)
    now = [seen for shot, seen in zip(sights.shots, sights.seen, strict=True) if shot in situation.frames]
    if now:
        beliefs.held = now[-1].held
        _drop_unseen(beliefs, now)
    return beliefs


@dataclass
class _Gathering:
    beliefs: Beliefs
    since: Mapping[str, int]
    """Place to the control step before which nothing is worth anything."""
    _missed: Counter[tuple[str, str]] = field(default_factory=Counter)

    def take(self, statement: Statement, step: int) -> None:
        found = self.beliefs
        if isinstance(statement, Likes):
            found.likes[statement.who.lower()] = statement.what
        elif isinstance(statement, Prefers):
            found.prefers[statement.who.lower()] = (statement.better, statement.usual)
        elif isinstance(statement, Beside):
            found.beside[statement.guest] = statement.host
        elif isinstance(statement, Stood):
            found.stood[statement.thing] = statement.place
        elif isinstance(statement, Asks):
            found.asks[statement.sheet] = dict(statement.amounts)
        elif isinstance(statement, Said):
            for fact in read_wish(statement.text, found.names).facts:
                self.take(fact, step)
        elif isinstance(statement, Unknown):
            self.forget(statement.place)
        elif isinstance(statement, Holds):
            self._empty(statement.place)
            found.known[statement.place] = statement.contents
            found.at.update(
                (thing, statement.place) for thing in statement.contents if kind_of(thing) == thing
            )
            if step < self.since.get(statement.place, 0):
                self.forget(statement.place)

    def show(self, seen: Seen, is_now: bool) -> None:
        found = self.beliefs
        current = {place for place in found.names.places if seen.step >= self.since.get(place, 0)}
        for thing, place in seen.at.items():
            if place == TABLE or place in current:
                found.at[thing] = place
        if seen.held:
            found.at.pop(seen.held, None)
        for place in seen.looked & current:
            for thing in found.contents(place):
                self._missed[place, thing] = 0 if thing in seen.at else self._missed[place, thing] + 1
                if self._missed[place, thing] >= _MISSED:
                    del found.at[thing]
            found.known[place] = found.contents(place)
            if is_now:
                found.shown.add(place)
        if not is_now:
            self._recall(seen)
        for sheet, drawn in seen.drawn.items():
            known = found.asks.setdefault(sheet, {})
            known.update({kind: max(count, known.get(kind, 0)) for kind, count in drawn.items()})
            if is_now:
                found.shown.add(sheet)

    def _recall(self, seen: Seen) -> None:
        """Of a picture from the past: where things stood at first."""
        for thing, place in seen.at.items():
            if (
                place in self.beliefs.names.places
                and place not in self.beliefs.walled
                and kind_of(thing) == thing
            ):
                self.beliefs.stood.setdefault(thing, place)

    def forget(self, place: str) -> None:
        """The user has put other things there."""
        if place in self.beliefs.known:
            self.beliefs.before[place] = self.beliefs.known.pop(place)
        self._empty(place)

    def _empty(self, place: str) -> None:
        for thing in self.beliefs.contents(place):
            del self.beliefs.at[thing]


def _since(situation: Situation, wish: Wish, is_new: bool) -> dict[str, int]:
    """From when on evidence counts for the places that the user says are changed. When that was said is known where it
    was just now; a plan that still has to look there says the same. Who has no plan only trusts the latest frames."""
    if not wish.changed or not situation.frames:
        return {}
    if is_new:
        return dict.fromkeys(wish.changed, situation.frames[-1].step)
    subtasks = [parse(line.text) for line in situation.plan if line.state != "done"]
    unseen = {subtask.place for subtask in subtasks if isinstance(subtask, Inspect)}
    if situation.role in ("flat", "single step"):
        unseen = set(wish.changed)
    return {place: _first(situation) for place in wish.changed if place in unseen}


def _first(situation: Situation) -> int:
    return min((shot.step for shot in situation.frames), default=0)


def _drop_unseen(beliefs: Beliefs, now: Collection[Seen]) -> None:
    """What stands in the open is seen where it is, or it is not there any more."""
    visible = {thing for seen in now for thing in (*seen.at, seen.held)}
    for thing, place in list(beliefs.at.items()):
        if place not in beliefs.walled and thing not in visible:
            del beliefs.at[thing]


def _names(situation: Situation, sights: Sights, statements: Iterable[Statement]) -> Names:
    """Of what is seen, planned and remembered."""
    things, places = list(sights.things), list(sights.places)
    for line in situation.plan:
        subtask = parse(line.text)
        if isinstance(subtask, Move):
            things.append(subtask.thing)
            places += [place for place in (subtask.source, subtask.target) if place and not sights.places]
        elif isinstance(subtask, Inspect) and not sights.places:
            places.append(subtask.place)
    for statement in statements:
        if isinstance(statement, Holds):
            things += statement.contents
        elif isinstance(statement, Stood):
            things.append(statement.thing)
        elif isinstance(statement, Beside):
            things += (statement.guest, statement.host)
        elif isinstance(statement, Asks):
            things += (kind for kind, _ in statement.amounts)
    known = {place.lower() for place in places}
    return Names([thing for thing in things if thing.lower() not in known and thing != TABLE], places)
