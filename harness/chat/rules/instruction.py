"""Parses an instruction into clauses: the kind of action, who or what plays which role, direction, amount, pace,
and what to keep away from. It knows English function words and verbs, not things."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace

from harness.chat.rules import words
from harness.chat.rules.words import RELATIONS, tokens, word_set

OBJECT = "object"
"""Relation of the direct object."""
_TAKE_OR_OPEN = frozenset({"take", "open"})
"""What "pull it" and "slide it out" leave open."""
GOALS = word_set("in on to above below left right front behind beside between")
SOURCES = word_set("out off from of")

_IDIOMS = {
    "get rid of": "discard",
    "take hold of": "grasp",
    "get hold of": "grasp",
    "let go of": "release",
    "make contact with": "touch",
    "clear of": "away from",
    "do not": "don't",
    "never": "don't",
    "in order to": "to",
    "so as to": "to",
}
_LEAD_IN = word_set(
    "please can could would will you i i'd we want need needs like to your task job is goal robot should must try "
    "make sure ahead let us let's have kindly now just simply first next finally also again carefully the"
)
_AVOIDING = re.compile(
    r"^(?:while |and |but |by )*(?:(?:don't|without) (?:touch\w*|hit\w*|bump\w*|disturb\w*|go\w* near|com\w* near)(?: into)?"
    r"|(?:avoid|dodg)\w*(?: touching| hitting)?"
    r"|keep\w* (?:\w+ ){1,4}?(?:off|away from|clear of)(?: of)?"
    r"|(?:keep|stay|remain)\w*(?: at least)?(?: [\d.]+ ?\w+)? (?:away|far|clear|[\d.]+ ?\w+) (?:away )?(?:from|of))\s+"
)
_LEAVING = re.compile(r"^leav\w* .*\b(?:alone|untouched|in place|where .*)$")
_STOPS = frozenset(";.:!")
_CUT = word_set("until because since")


_MODAL = re.compile(
    r"(?P<x>.+?) (?:should|must|has to|have to|needs to|need to|ought to|is to|are to) (?P<no>not |no longer )?"
    r"(?:be |get |go |end up |stay )(?P<state>.+?)(?: [.!])?"
)
_STILL = word_set("any anymore longer now again")


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


@dataclass(frozen=True)
class Instruction:
    clauses: tuple[Clause, ...]
    avoid: tuple[str, ...] = ()
    pace: str = ""
    """"slow", "fast" or empty."""


def parse(text: str, names: Collection[str] = ()) -> Instruction:
    """`names` are the things of the scene: their words are not read as verbs."""
    plain = " ".join(tokens(text))
    for idiom, meaning in _IDIOMS.items():
        plain = re.sub(rf"\b{idiom}\b", meaning, plain)
    plain = _active(plain)
    nouns = frozenset(word for name in names for word in tokens(name))
    clauses: list[Clause] = []
    avoid: list[str] = []
    said = plain.split()
    pace = "slow" if words.SLOWLY & set(said) else "fast" if words.QUICKLY & set(said) else ""
    for link, segment in _segments(said, nouns):
        kept_off = _AVOIDING.match(" ".join(segment))
        if kept_off:
            rest = " ".join(segment)[kept_off.end() :]
            avoid += [
                _referent(_noun_phrase(part.split()), clauses) for part in re.split(r" and | or |,", rest)
            ]
            continue
        if _LEAVING.search(" ".join(segment)):
            continue
        _add(clauses, link, _clause(segment, nouns))
    return Instruction(tuple(_distribute(clauses)), tuple(filter(None, avoid)), pace)


def _active(plain: str) -> str:
    """Turn "the tap has to be shut off" and "the tap should not be on" into commands, and "give the key a push"
    into "push the key"."""
    given = re.fullmatch(
        r"(?P<lead>.*?)\bgive (?P<x>.+?) a (?:\w+ )?(?P<verb>\w+)(?P<rest>(?: [.!])?)", plain
    )
    if given and words.verb(given["verb"]):
        return f"{given['lead']}{given['verb']} {given['x']}{given['rest']}"
    found = _MODAL.fullmatch(plain)
    if found is None or set(found["x"].split()) & {"you", "i", "we", "robot", "and", ","}:
        return plain
    thing, state = found["x"], found["state"].split()
    if state[0] in ("on", "off") and len(state) <= 3 and (len(state) == 1 or state[1] in _STILL):
        on = (state[0] == "on") != bool(found["no"])
        return f"turn {'on' if on else 'off'} {thing}"
    if state[0] in ("open", "closed", "shut"):
        opened = (state[0] == "open") != bool(found["no"])
        return f"{'open' if opened else 'close'} {thing}"
    if words.verb(state[0]) and not found["no"]:
        return f"{words.verb(state[0])} {thing} {' '.join(state[1:])}"
    if state[0] in ("out", "off", "away"):
        return f"take {thing} {' '.join(state)}"
    return plain if found["no"] else f"put {thing} {' '.join(state)}"


def _segments(said: list[str], nouns: frozenset[str]) -> list[tuple[str, list[str]]]:
    """Split where a new verb starts. The link is "then", "by" (the means) or "to" (the purpose)."""
    parts: list[tuple[str, list[str]]] = [("then", [])]
    skipping = False
    for i, word in enumerate(said):
        rest = [w for w in said[i + 1 : i + 4] if w not in words.FILLER and w not in ("and", "then", ",")]
        nearest = rest[0] if rest else ""
        starts = _is_verb(nearest, rest[1:], nouns) or nearest in (
            "don't",
            "without",
            "while",
            "keep",
            "keeping",
            "stay",
            "staying",
        )
        if word in (",", "and", "then", "but", "while", "without", *_STOPS):
            if word in ("while", "without", "then", *_STOPS) or starts:
                parts.append(("then", [word] if word in ("while", "without") else []))
                skipping = False
            elif not skipping and word == "and":
                parts[-1][1].append(word)
            continue
        if word in _CUT or (word == "so" and nearest in ("that", "it", "the")):
            skipping = True
        if skipping:
            continue
        if word == "by" and words.is_gerund(nearest):
            parts.append(("by", []))
        elif word == "to" and i and parts[-1][1] and _is_purpose(said, i, nouns):
            parts.append(("to", []))
        else:
            parts[-1][1].append(word)
    return [(link, part) for link, part in parts if any(w not in words.FILLER for w in part)]


def _referent(phrase: str, clauses: list[Clause]) -> str:
    """What a pronoun stands for: the thing that was named last."""
    if phrase not in words.PRONOUNS:
        return phrase
    named = [role.phrase for clause in clauses for role in clause.roles if role.phrase]
    return named[-1] if named else ""


def _is_verb(word: str, after: list[str], nouns: frozenset[str]) -> bool:
    """Whether a word starts a clause: a verb that is no part of a thing's name, or one with an object."""
    if words.verb(word) is None and word not in words.SWITCHING and word != "use":
        return False
    follows = after[0] if after else ""
    return word not in nouns or follows in words.DETERMINERS or follows in words.PRONOUNS


def _is_purpose(said: list[str], i: int, nouns: frozenset[str]) -> bool:
    if i + 1 >= len(said) or said[i - 1] in ("close", "next"):
        return False
    content = [w for w in said[:i] if w not in _LEAD_IN and w not in words.FILLER]
    return bool(content) and _is_verb(said[i + 1], said[i + 2 : i + 4], nouns)


@dataclass
class _Draft:
    verb: str
    particles: set[str] = field(default_factory=set)
    roles: list[Role] = field(default_factory=list)
    direction: str = ""
    amount: float | None = None
    unit: str = ""
    refers: bool = True


def _clause(segment: list[str], nouns: frozenset[str]) -> Clause:
    start = 0
    while start < len(segment) - 1 and (
        segment[start] in _LEAD_IN
        or segment[start] in words.FILLER
        or segment[start] in words.SLOWLY | words.QUICKLY
    ):
        start += 1
    said = segment[start:]
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
        text = _noun_phrase(phrase)
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


def _noun_phrase(said: list[str]) -> str:
    kept = [
        w for w in said if w not in words.DETERMINERS and w not in words.FILLER and w not in (",", '"', "'")
    ]
    kept = [w for w in kept if w not in words.SLOWLY | words.QUICKLY]
    return " ".join(kept)


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
    if relations & SOURCES and not relations & GOALS and kinds & {"place", "take", "grasp", "slide"}:
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


def _add(clauses: list[Clause], link: str, clause: Clause) -> None:
    """Join a clause to those before it: means replace goals, pronouns are resolved, preparations dropped."""
    before = clauses[-1] if clauses else None
    if before is None:
        clauses.append(clause)
        return
    if before.verb == "use" and link == "to":
        clauses[-1] = replace(clause, roles=(*clause.roles, Role("with", before.phrase(OBJECT))))
        return
    if link == "to":
        return
    if not before.kinds and before.verb not in words.KINDS_OF and clause.kinds:
        # "I need something out of the box, so open it": the first part only says what is talked about
        named = [role.phrase for role in before.roles]
        clauses[-1] = _with_object(clause, named[-1]) if clause.refers and named else clause
        return
    refers = clause.refers
    if refers:
        clause = _with_object(clause, before.phrase(OBJECT))
    if link == "by":
        clauses[-1] = clause
    elif refers and before.kinds & {"turn", "unscrew"} and clause.kinds & {"take", "open", "grasp"}:
        kept = tuple(role for role in clause.roles if role.relation != OBJECT and role.phrase)
        clauses[-1] = replace(before, kinds=frozenset({"unscrew"}), roles=(*before.roles, *kept))
    elif refers and clause.verb in ("release", "let", "return"):
        return
    elif before.kinds <= {"reach"} or (
        refers and before.kinds & {"take", "grasp"} and not before.relations & GOALS
    ):
        kept = tuple(role for role in before.roles if role.relation in SOURCES and role.phrase)
        clauses[-1] = replace(clause, roles=(*clause.roles, *kept))
    else:
        clauses.append(clause)


def _with_object(clause: Clause, phrase: str) -> Clause:
    others = tuple(role for role in clause.roles if role.relation != OBJECT)
    return replace(clause, roles=(Role(OBJECT, phrase), *others) if phrase else others, refers=False)


def _distribute(clauses: list[Clause]) -> list[Clause]:
    """ "put the fork and the spoon in the case" is two clauses."""
    spread = []
    for clause in clauses:
        parts = [part for part in clause.phrase(OBJECT).split(" and ") if part] or [clause.phrase(OBJECT)]
        for part in parts:
            roles = tuple(replace(r, phrase=part) if r.relation == OBJECT else r for r in clause.roles)
            spread.append(replace(clause, roles=roles))
    return spread
