"""What is asked of the memory and what is changed in it: what will be out of sight, what the user has said, what is so now
where something else is written; one fact a record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.chat.rules.embodied.beliefs import Beliefs
from harness.chat.rules.embodied.goals import Beside, Likes, Prefers, Put
from harness.chat.rules.embodied.reading import Record, Situation
from harness.chat.rules.embodied.sight import Seen, Sights, kind_of
from harness.chat.rules.embodied.statements import (
    Asks,
    Holds,
    Said,
    Statement,
    Stood,
    Unknown,
    fact_key,
    read_statements,
    tags_of,
    text_of,
)

_RELATIONS = ("likes", "prefers", "beside", "stood_on", "asks_for", "holds", "said")
_MOST_QUERIES = 16


@dataclass(frozen=True)
class Create:
    statements: tuple[Statement, ...]
    """One; several where a picture shows them all and is all that is kept."""
    image: int | None = None
    """Number of a frame."""


@dataclass(frozen=True)
class Update:
    id: int
    statement: Statement
    image: int | None = None


@dataclass(frozen=True)
class Delete:
    id: int


Change = Create | Update | Delete


def queries(situation: Situation, beliefs: Beliefs) -> list[str]:
    """Tags to ask for; none of a memory that holds nothing."""
    if not situation.size:
        return []
    people = [word for word in situation.instruction.replace("'s", " ").split() if word[:1].isupper()]
    names = [kind_of(name) for name in (*beliefs.names.places, *beliefs.names.things)]
    named = [name for name in names if name.lower() in situation.instruction.lower()]
    terms = [*_RELATIONS, *named, *beliefs.walled, *(person.strip(".,:;!?") for person in people)]
    return list(dict.fromkeys(_tag(term) for term in terms))[:_MOST_QUERIES]


def _tag(term: str) -> str:
    return "_".join(term.lower().split())


def changes(situation: Situation, beliefs: Beliefs, sights: Sights) -> list[Change]:
    """In their order. `sights` are those that beliefs come from."""
    wanted = _to_remember(situation, beliefs)
    if situation.upkeep.modality == "image":
        found: list[Change] = _pictured(wanted, situation, sights)
    else:
        found = _written(wanted, situation, sights)
    return _fitted(found, situation) if situation.upkeep.refuses else found


def _to_remember(situation: Situation, beliefs: Beliefs) -> list[Statement]:
    found: list[Statement] = []
    if beliefs.is_new:
        found.append(Said(" ".join(situation.instruction.split())))
        found += beliefs.wish.facts
        found += [Unknown(place) for place in beliefs.wish.changed if place in beliefs.before]
        found += _stood(beliefs)
    for sheet in beliefs.asks:
        if sheet in beliefs.shown:
            found.append(Asks(sheet, tuple(sorted(beliefs.asks[sheet].items()))))
    for place in beliefs.walled:
        if place in beliefs.known:
            found.append(Holds(place, tuple(sorted(_inside(place, beliefs)))))
    return found


def _stood(beliefs: Beliefs) -> list[Statement]:
    """Where things are that are to be taken away."""
    moved = [
        thing for goal in beliefs.wish.goals if isinstance(goal, Put) for thing in goal.things or beliefs.at
    ]
    return [
        Stood(thing, beliefs.at[thing])
        for thing in dict.fromkeys(moved)
        if beliefs.at.get(thing) in beliefs.names.places and beliefs.at[thing] not in beliefs.walled
    ]


def _inside(place: str, beliefs: Beliefs) -> tuple[str, ...]:
    """What frames and moves show; of counted things that no frame of now shows, what was known."""
    if place in beliefs.shown:
        return beliefs.contents(place)
    counted = [name for name in beliefs.known[place] if kind_of(name) != name]
    return (*(name for name in beliefs.contents(place) if kind_of(name) == name), *counted)


def _written(wanted: Sequence[Statement], situation: Situation, sights: Sights) -> list[Change]:
    """Where a record says something else of the same, it is changed, or a newer one is added."""
    latest: dict[tuple[str, str], tuple[Record, Statement]] = {}
    doubles: list[Change] = []
    for record in sorted(situation.records, key=lambda record: (record.step, record.id)):
        for statement in read_statements(record.text):
            old = latest.get(fact_key(statement))
            if old and situation.upkeep.changes and old[0].id != record.id:
                doubles.append(Delete(old[0].id))
            latest[fact_key(statement)] = (record, statement)
    found: list[Change] = []
    for statement in wanted:
        old = latest.get(fact_key(statement))
        if old and text_of(old[1]) == text_of(statement):
            continue
        image = _image(statement, situation, sights) if situation.upkeep.modality == "both" else None
        if old and situation.upkeep.changes:
            found.append(Update(old[0].id, statement, image))
        else:
            found.append(Create((statement,), image))
    return [*doubles, *found]


def _pictured(wanted: Sequence[Statement], situation: Situation, sights: Sights) -> list[Change]:
    """Of a record only its picture will be seen again: one for what a frame shows and no picture of the memory does."""
    remembered = {id(record.shot) for record in situation.records}
    old = [seen for shot, seen in zip(sights.shots, sights.seen, strict=True) if id(shot) in remembered]
    stood = tuple(statement for statement in wanted if isinstance(statement, Stood))
    found: list[Change] = []
    for statement in wanted:
        image = _image(statement, situation, sights)
        if isinstance(statement, (Holds, Asks)) and image and not _is_pictured(statement, old):
            found.append(Create((statement,), image))
        elif isinstance(statement, (Said, Likes, Prefers, Beside)) and situation.frames:
            found.append(Create((statement,), len(situation.frames)))
    return [*found, Create(stood, len(situation.frames))] if stood else found


def _is_pictured(statement: Holds | Asks, old: Sequence[Seen]) -> bool:
    place = statement.place if isinstance(statement, Holds) else statement.sheet
    looks = [seen for seen in old if place in seen.looked]
    if isinstance(statement, Asks):
        return any(tuple(sorted(seen.drawn.get(place, {}).items())) == statement.amounts for seen in looks)
    return bool(looks) and tuple(sorted(looks[-1].inside(place))) == statement.contents


def worth_keeping(seen: Seen, beliefs: Beliefs) -> list[tuple[object, ...]]:
    """What a frame shows that will be out of sight, each as something to compare."""
    found: list[tuple[object, ...]] = [
        ("holds", place, tuple(sorted(seen.inside(place))))
        for place in sorted(seen.looked)
        if place in beliefs.walled
    ]
    found += [("asks", sheet, tuple(sorted(drawn.items()))) for sheet, drawn in sorted(seen.drawn.items())]
    found += [
        ("stood", thing, place)
        for thing, place in seen.at.items()
        if place in beliefs.names.places and place not in beliefs.walled and kind_of(thing) == thing
    ]
    return found


def _image(statement: Statement, situation: Situation, sights: Sights) -> int | None:
    """The number of the frame that shows it best."""
    place = (
        statement.place
        if isinstance(statement, Holds)
        else statement.sheet
        if isinstance(statement, Asks)
        else ""
    )
    if isinstance(statement, Stood):
        return len(situation.frames) or None
    shown = dict(zip(map(id, sights.shots), sights.seen, strict=True))
    best, number = -1, None
    for index, shot in enumerate(situation.frames, start=1):
        seen = shown[id(shot)]
        count = len(seen.inside(place)) + sum(seen.drawn.get(place, {}).values())
        if place in seen.looked and count >= best:
            best, number = count, index
    return number


def _fitted(wanted: Sequence[Change], situation: Situation) -> list[Change]:
    """What a memory takes that is full some day: what weighs least makes room, or is not written."""
    room = (situation.upkeep.cap or 0) - situation.size
    touched = {change.id for change in wanted if not isinstance(change, Create)}
    weights = {
        record.id: max(map(_weight, read_statements(record.text)), default=0)
        for record in situation.records
        if record.id not in touched
    }
    room += sum(isinstance(change, Delete) for change in wanted)
    deleted: list[Change] = []
    kept: list[Change] = [change for change in wanted if not isinstance(change, Create)]
    creates = [change for change in wanted if isinstance(change, Create)]
    for create in sorted(creates, key=lambda create: -max(map(_weight, create.statements))):
        least = min(weights, key=lambda number: (weights[number], number), default=None)
        if room <= 0 and least is not None and weights[least] < max(map(_weight, create.statements)):
            deleted.append(Delete(least))
            del weights[least]
            room += 1
        if room > 0:
            kept.append(create)
            room -= 1
    return [*deleted, *kept]


def _weight(statement: Statement) -> int:
    """How much it would be missed."""
    if isinstance(statement, (Likes, Prefers, Beside, Stood, Asks)):
        return 3
    if isinstance(statement, Holds):
        return 1 if any(kind_of(name) != name for name in statement.contents) else 2
    return 2 if isinstance(statement, Unknown) else 1


def describe(statements: Iterable[Statement]) -> tuple[tuple[str, ...], str]:
    """Tags, five at most, and text."""
    found = tuple(statements)
    tags = dict.fromkeys(_tag(tag.replace(",", " ")) for statement in found for tag in tags_of(statement))
    return tuple(tags)[:5], "; ".join(text_of(statement) for statement in found)
