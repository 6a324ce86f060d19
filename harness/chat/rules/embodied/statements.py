"""How a belief is written down in a record, and how it is read again. What is not written in these words says nothing:
nobody but this model keeps its memory."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from harness.chat.rules.embodied.goals import Beside, Likes, Prefers
from harness.chat.rules.embodied.sight import kind_of


@dataclass(frozen=True)
class Holds:
    """What a place holds, by kind."""

    place: str
    contents: tuple[str, ...]
    """Counted kinds once for each of it."""


@dataclass(frozen=True)
class Unknown:
    """The user has put other things into a place."""

    place: str


@dataclass(frozen=True)
class Stood:
    """Where a thing was when the user spoke."""

    thing: str
    place: str


@dataclass(frozen=True)
class Asks:
    """What is drawn on a place."""

    sheet: str
    amounts: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Said:
    """The user's words."""

    text: str


Statement = Likes | Prefers | Beside | Holds | Unknown | Stood | Asks | Said

_LIKES = re.compile(r"(?P<who>.+?) likes (?P<what>.+)")
_PREFERS = re.compile(r"(?P<who>.+?) prefers (?P<better>.+?) to (?P<usual>.+)")
_BESIDE = re.compile(r"(?P<guest>.+?) belongs beside (?P<host>.+)")
_HOLDS = re.compile(r"(?P<place>.+?) holds (?P<contents>.+)")
_UNKNOWN = re.compile(r"what (?P<place>.+?) holds is not known: the user has changed it")
_STOOD = re.compile(r"(?P<thing>.+?) stood on (?P<place>.+)")
_ASKS = re.compile(r"(?P<sheet>.+?) asks for (?P<amounts>\d+ .+)")
_AMOUNT = re.compile(r"(?P<count>\d+) (?P<kind>.+)")
SAID = "The user said: "
_NOTHING = "nothing"


def text_of(statement: Statement) -> str:
    """A sentence."""
    if isinstance(statement, Likes):
        return f"{statement.who} likes {statement.what}."
    if isinstance(statement, Prefers):
        return f"{statement.who} prefers {statement.better} to {statement.usual}."
    if isinstance(statement, Beside):
        return f"{statement.guest} belongs beside {statement.host}."
    if isinstance(statement, Holds):
        return f"{statement.place} holds {_listed(_counted(statement.contents))}."
    if isinstance(statement, Unknown):
        return f"what {statement.place} holds is not known: the user has changed it."
    if isinstance(statement, Stood):
        return f"{statement.thing} stood on {statement.place}."
    if isinstance(statement, Asks):
        return (
            f"{statement.sheet} asks for {_listed(f'{count} {kind}' for kind, count in statement.amounts)}."
        )
    return SAID + statement.text


def tags_of(statement: Statement) -> tuple[str, ...]:
    """What it is about, and its kind."""
    if isinstance(statement, Likes):
        return statement.who, "likes", statement.what
    if isinstance(statement, Prefers):
        return statement.who, "prefers", statement.better, statement.usual
    if isinstance(statement, Beside):
        return statement.guest, statement.host, "beside"
    if isinstance(statement, Holds):
        return statement.place, "holds", *dict.fromkeys(map(kind_of, statement.contents[:3]))
    if isinstance(statement, Unknown):
        return statement.place, "holds"
    if isinstance(statement, Stood):
        return statement.thing, statement.place, "stood_on"
    if isinstance(statement, Asks):
        return statement.sheet, "asks_for"
    return "user", "said"


def read_statements(text: str) -> tuple[Statement, ...]:
    """What a record's text says; empty if it is none of these sentences."""
    if text.startswith(SAID):
        return (Said(text.removeprefix(SAID)),)
    found = (_one(line.strip().rstrip(".")) for part in text.split("\n") for line in part.split("; "))
    return tuple(statement for statement in found if statement is not None)


def _one(line: str) -> Statement | None:
    if found := _UNKNOWN.fullmatch(line):
        return Unknown(found["place"])
    if found := _PREFERS.fullmatch(line):
        return Prefers(found["who"], found["better"], found["usual"])
    if found := _LIKES.fullmatch(line):
        return Likes(found["who"], found["what"])
    if found := _BESIDE.fullmatch(line):
        return Beside(found["guest"], found["host"])
    if found := _ASKS.fullmatch(line):
        amounts = [_AMOUNT.fullmatch(part) for part in _unlisted(found["amounts"])]
        return Asks(found["sheet"], tuple((part["kind"], int(part["count"])) for part in amounts if part))
    if found := _HOLDS.fullmatch(line):
        parts = [] if found["contents"] == _NOTHING else _unlisted(found["contents"])
        return Holds(found["place"], tuple(name for part in parts for name in _uncounted(part)))
    if found := _STOOD.fullmatch(line):
        return Stood(found["thing"], found["place"])
    return None


def fact_key(statement: Statement) -> tuple[str, str]:
    """Of two statements with the same key the later one counts."""
    if isinstance(statement, (Holds, Unknown)):
        return "holds", statement.place.lower()
    if isinstance(statement, Stood):
        return "stood", statement.thing.lower()
    if isinstance(statement, Asks):
        return "asks", statement.sheet.lower()
    if isinstance(statement, Beside):
        return "beside", statement.guest.lower()
    if isinstance(statement, Said):
        return "said", statement.text
    return type(statement).__name__.lower(), statement.who.lower()


def _counted(contents: Iterable[str]) -> list[str]:
    """Numbered names by their kind: "2 nuts"; others as they are."""
    counts: dict[str, int] = {}
    for name in contents:
        counts[kind_of(name)] = counts.get(kind_of(name), 0) + 1
    numbered = {kind_of(name) for name in contents if kind_of(name) != name}
    return [f"{count} {kind}" if kind in numbered or count > 1 else kind for kind, count in counts.items()]


def _uncounted(part: str) -> list[str]:
    found = _AMOUNT.fullmatch(part)
    return [f"{found['kind']} {index + 1}" for index in range(int(found["count"]))] if found else [part]


def _listed(parts: Iterable[str]) -> str:
    return ", ".join(parts) or _NOTHING


def _unlisted(text: str) -> list[str]:
    return [part for part in text.split(", ") if part]
