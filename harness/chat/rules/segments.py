"""Splits an instruction into the words of its clauses, after turning idioms, passives and wishes into commands."""

from __future__ import annotations

import re

from harness.chat.rules import words
from harness.chat.rules.clause import LEAD_IN
from harness.chat.rules.words import tokens, word_set

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
_STOPS = frozenset(";.:!?")
_BREAKS = word_set("while without then") | _STOPS
_CUT = word_set("until because since")
_KEEPING = word_set("don't without while keep keeping stay staying")
_STILL = word_set("any anymore longer now again")
_MODAL = re.compile(
    r"(?P<x>.+?) (?:should|must|has to|have to|needs to|need to|ought to|is to|are to) (?P<no>not |no longer )?"
    r"(?:be |get |go |end up |stay )(?P<state>.+?)(?: [.!?])?"
)
_CAUSED = re.compile(r"(?:please )?(?:make|have|let|cause) (?P<x>.+?) (?:to )?(?:be|get|go) (?P<state>.+)")
_ENSURED = re.compile(
    r"(?:please )?(?:make sure|be sure|ensure)(?: that)? (?P<x>.+?) (?:is|are|gets|goes|ends up) (?P<state>.+)"
)


def commands(text: str) -> list[str]:
    """The words of an instruction as a command."""
    plain = " ".join(tokens(text))
    for idiom, meaning in _IDIOMS.items():
        plain = re.sub(rf"\b{idiom}\b", meaning, plain)
    return _active(plain).split()


def segments(said: list[str], nouns: frozenset[str]) -> list[tuple[str, list[str]]]:
    """Split where a new verb starts. The link is "then", "by" (the means) or "to" (the purpose).
    `nouns` are words of the names of things."""
    parts: list[tuple[str, list[str]]] = [("then", [])]
    skipping = False
    for i, word in enumerate(said):
        rest = [w for w in said[i + 1 : i + 4] if w not in words.FILLER and w not in ("and", "then", ",")]
        nearest = rest[0] if rest else ""
        starts = _is_verb(nearest, rest[1:], nouns) or nearest in _KEEPING
        if word in _BREAKS or word in (",", "and", "but"):
            if word in _BREAKS or starts:
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


def _active(plain: str) -> str:
    """Turn "the tap has to be shut off", "the tap should not be on" and "make the tap go off" into commands, and
    "give the key a push" into "push the key"."""
    given = re.fullmatch(
        r"(?P<lead>.*?)\bgive (?P<x>.+?) a (?:\w+ )?(?P<verb>\w+)(?P<rest>(?: [.!?])?)", plain
    )
    if given and words.verb(given["verb"]):
        return f"{given['lead']}{given['verb']} {given['x']}{given['rest']}"
    caused = _CAUSED.fullmatch(plain) or _ENSURED.fullmatch(plain)
    found = _MODAL.fullmatch(f"{caused['x']} should be {caused['state']}" if caused else plain)
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


def _is_verb(word: str, after: list[str], nouns: frozenset[str]) -> bool:
    """Whether a word starts a clause: a verb that is no part of a thing's name, or one with an object."""
    if words.verb(word) is None and word not in words.SWITCHING and word != "use":
        return False
    follows = after[0] if after else ""
    return word not in nouns or follows in words.DETERMINERS or follows in words.PRONOUNS


def _is_purpose(said: list[str], i: int, nouns: frozenset[str]) -> bool:
    if i + 1 >= len(said) or said[i - 1] in ("close", "next"):
        return False
    content = [w for w in said[:i] if w not in LEAD_IN and w not in words.FILLER]
    return bool(content) and _is_verb(said[i + 1], said[i + 2 : i + 4], nouns)
