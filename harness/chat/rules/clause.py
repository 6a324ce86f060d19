"""One clause of an instruction: verb, particles, who plays which role, direction and amount, and the kinds of
action that all of them allow. It knows English function words and verbs, not things."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.chat.rules import words
from harness.chat.rules.words import RELATIONS, word_set

OBJECT = "object"
"""Relation of the direct object."""
GOALS = word_set("in on to above below left right front behind beside between")
SOURCES = word_set("out off from of")
LEAD_IN = word_set(
    "please can could would will you i i'd we want need needs like to your task job is goal robot should must try "
    "make sure ahead let us let's have kindly now just simply first next finally also again carefully the"
)
"""Words that come before the verb of a request."""
_TAKE_OR_OPEN = frozenset({"take", "open"})
"""What "pull it" and "slide it out" leave open."""
_CARRYING = word_set("place take grasp slide")


@dataclass(frozen=True)
class Role:
    relation: str
    phrase: str


@dataclass(frozen=True)
class Clause:
    """One thing to do. `kinds` are the kinds of action that the words allow; `amount` is in centimetres or,
    where `unit` is "degrees", in degrees."""

    verb: str
    kinds: frozenset[str]
    roles: tuple[Role, ...] = ()
    direction: str = ""
    amount: float | None = None
    unit: str = ""
    refers: bool = False
    """Whether the direct object is missing, a pronoun or a "that ...", so stands for something named before."""

    def phrase(self, relation: str) -> str:
        return next((role.phrase for role in self.roles if role.relation == relation), "")

    @property
    def relations(self) -> frozenset[str]:
        return frozenset(role.relation for role in self.roles) - {OBJECT}


@dataclass
class _Draft:
    verb: str
    particles: set[str] = field(default_factory=set)
    roles: list[Role] = field(default_factory=list)
    direction: str = ""
    amount: float | None = None
    unit: str = ""
    refers: bool = True


def read_clause(segment: Sequence[str]) -> Clause:
    """Read the words of one clause; words before its verb that only make it a request do not matter."""
    start = 0
    while start < len(segment) - 1 and (
        segment[start] in LEAD_IN
        or segment[start] in words.FILLER
        or segment[start] in words.SLOWLY | words.QUICKLY
    ):
        start += 1
    said = list(segment[start:])
    if said[0] == "go" and len(said) > 1 and said[1] in ("ahead", "and"):
        said = said[2:] or said
    first = words.verb(said[0]) or said[0]
    draft = _Draft(first)
    _complements(draft, said[1:])
    return _finish(draft)


def _complements(draft: _Draft, said: list[str]) -> None:
    """Read what follows the verb, left to right, into roles, particles, direction and amount."""
    relation, i = OBJECT, 0
    phrase: list[str] = []

    def close() -> None:
        text = noun_phrase(phrase)
        if relation == OBJECT:
            draft.refers = not text or text in words.PRONOUNS or phrase[0] in words.DEMONSTRATIVES
        if text:
            draft.roles.append(Role(relation, text))

    while i < len(said):
        taken, meaning = _relation_at(said, i)
        amount = _amount_at(said, i)
        turn = _direction_at(said, i)
        if turn and not (taken and taken > turn[0]):
            draft.direction = (
                turn[1] if not draft.direction or turn[1] not in ("up", "down") else draft.direction
            )
            draft.particles.add(turn[1])
            i += turn[0]
        elif amount:
            draft.amount, draft.unit = amount[1], amount[2]
            i += amount[0]
        elif _is_particle(said, i, first=not phrase and relation == OBJECT):
            draft.particles.add(said[i])
            i += 1
        elif taken:
            close()
            relation, phrase = meaning, []
            i += taken
        else:
            phrase.append(said[i])
            i += 1
    close()


def _is_particle(said: list[str], i: int, first: bool) -> bool:
    """Whether a word belongs to the verb ("take off the coat", "push it shut") and does not start a phrase."""
    last = i + 1 == len(said)
    if said[i] in ("open", "shut", "closed", "away"):
        return first or last
    return said[i] in ("off", "on", "out") and _relation_at(said, i)[0] == 1 and (first or last)


def _relation_at(said: list[str], i: int) -> tuple[int, str]:
    for length in (4, 3, 2, 1):
        text = " ".join(said[i : i + length])
        if len(said) - i >= length and text in RELATIONS:
            return length, RELATIONS[text]
    return 0, ""


def _amount_at(said: list[str], i: int) -> tuple[int, float, str] | None:
    value = words.number(said[i])
    unit = said[i + 1] if i + 1 < len(said) else ""
    if value is None:
        return None
    if unit in words.CENTIMETRES:
        return 2, value * words.CENTIMETRES[unit], "cm"
    if unit in ("degree", "degrees"):
        return 2, value, "degrees"
    return None


def _direction_at(said: list[str], i: int) -> tuple[int, str] | None:
    """Directions that stand alone: "up", "to the left", "all the way to the right end"."""
    j = i
    if said[j : j + 3] == ["all", "the", "way"]:
        j += 3
    if said[j : j + 2] in (["to", "the"], ["towards", "the"], ["on", "the"]):
        j += 2
    if j >= len(said) or said[j] not in words.DIRECTIONS:
        return None
    direction, j = words.DIRECTIONS[said[j]], j + 1
    if j < len(said) and said[j] in ("end", "side", "hand", "edge"):
        j += 1
        if said[j : j + 1] == ["side"]:
            j += 1
    elif j < len(said) and (said[j] == "of" or (direction in ("left", "right") and said[j] not in RELATIONS)):
        return None
    return j - i, direction


def noun_phrase(said: Sequence[str]) -> str:
    """A noun phrase without articles, fillers and adverbs."""
    dropped = words.DETERMINERS | words.FILLER | words.SLOWLY | words.QUICKLY | {",", '"', "'"}
    return " ".join(word for word in said if word not in dropped)


def _finish(draft: _Draft) -> Clause:
    """Settle the kinds of action that verb, particles and relations allow together."""
    roles, particles = draft.roles, draft.particles
    kinds = words.KINDS_OF.get(draft.verb, frozenset())
    has_object = any(role.relation == OBJECT and role.phrase for role in roles)
    if not has_object and roles and kinds & {"press", "grasp", "reach", "wipe", "turn"}:
        # "press on the key", "reach for the cup": the prepositional object is what is acted on
        roles = [Role(OBJECT, roles[0].phrase), *roles[1:]]
    switch = particles & {"off", "on", "out"} if draft.verb in words.SWITCHING else set()
    if draft.verb == "put" and switch and "out" not in switch:
        switch = set()
    if switch:
        kinds = frozenset({"on" if "on" in switch else "off"})
    elif "open" in particles:
        kinds = frozenset({"open"})
    elif particles & {"shut", "closed"}:
        kinds = frozenset({"close"})
    else:
        bare = sorted(particles & {"off", "out"})
        relations = frozenset(role.relation for role in roles) - {OBJECT} | frozenset(bare)
        kinds = _by_relation(draft, kinds, relations)
        if kinds != _TAKE_OR_OPEN:
            roles = [*roles, *(Role(particle, "") for particle in bare)]
    refers = draft.refers and roles[:1] == draft.roles[:1]
    return Clause(draft.verb, kinds, tuple(roles), draft.direction, draft.amount, draft.unit, refers)


def _by_relation(draft: _Draft, kinds: frozenset[str], relations: frozenset[str]) -> frozenset[str]:
    level = draft.direction in ("left", "right", "forward", "backward")
    if draft.verb in words.SWITCHING and not kinds:
        return frozenset({"on", "off", "press"})
    if "turn" in kinds:
        return frozenset({"unscrew"}) if relations & {"off", "out"} else frozenset({"turn"})
    if "along" in relations or (level and kinds & {"slide", "push"} and not relations & {"in", "on"}):
        return kinds & {"slide", "push"} or frozenset({"slide"})
    if (
        draft.verb in ("slide", "pull", "draw")
        and "out" in draft.particles
        and not relations & {"of", "from"}
    ):
        return _TAKE_OR_OPEN
    if relations & SOURCES and not relations & GOALS and kinds & _CARRYING:
        return frozenset({"take"})
    if kinds & {"press", "push"} and "place" not in kinds:
        moved = relations & (GOALS | SOURCES) or (draft.amount is not None and "down" not in draft.particles)
        return kinds & {"push", "slide"} if moved and kinds & {"push"} else kinds & {"press"} or kinds
    if relations & GOALS and kinds & {"place", "take", "grasp"}:
        return frozenset({"place"})
    if "wipe" in kinds or "pour" in kinds:
        return kinds & {"wipe", "pour"}
    if draft.verb in ("pull", "draw"):
        return _TAKE_OR_OPEN
    if "take" in kinds:
        return kinds & {"take", "grasp"}
    if "reach" in kinds:
        return frozenset({"reach"})
    return kinds
