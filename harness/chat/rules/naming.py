"""Matches noun phrases to the names in a context line by their words alone: equal words, plurals, spelling
variants, and words for relative places ("lower" and "bottom")."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from harness.chat.rules.words import DETERMINERS, singular, tokens, word_set

_SAME = (
    word_set("bottom lower lowest lowermost under"),
    word_set("top upper highest uppermost topmost"),
    word_set("middle center centre central second"),
    word_set("left leftmost lefthand"),
    word_set("right rightmost righthand"),
    word_set("big large bigger larger"),
    word_set("small little smaller tiny"),
    word_set("gray grey"),
)
_FUZZY = 0.8


@dataclass(frozen=True)
class Match:
    """`kind`: "same" if phrase and name mean one thing by their words ("locker" and "grey locker"), "part" if
    the phrase is inside a longer name ("locker" and "locker handle"), "some" if only some words agree."""

    name: str
    score: float
    kind: str


@lru_cache(maxsize=4096)
def content(text: str) -> tuple[str, ...]:
    """The words of a phrase or a name that tell things apart, without plural endings."""
    words = [word.removesuffix("'s") for word in tokens(text)]
    return tuple(singular(word) for word in words if word.isalnum() and word not in DETERMINERS)


@lru_cache(maxsize=65536)
def alike(first: str, second: str) -> bool:
    """Whether two words are one word, spelled or inflected in two ways, or one inside the other."""
    if first == second or any(first in group and second in group for group in _SAME):
        return True
    short, long = sorted((first, second), key=len)
    if len(short) >= 3 and (long.endswith(short) or (long.startswith(short) and len(short) >= 4)):
        return True
    return len(short) >= 4 and difflib.SequenceMatcher(None, first, second).ratio() >= _FUZZY


def match(phrase: str, name: str) -> Match | None:
    """How well a phrase fits a name; None if no word agrees."""
    said, named = content(phrase), content(name)
    if not said or not named:
        return None
    if said == named:
        return Match(name, 5.0, "same")
    said_hit = sum(any(alike(word, other) for other in named) for word in said)
    named_hit = sum(any(alike(word, other) for other in said) for word in named)
    if not said_hit:
        return None
    exact = len(set(said) & set(named))
    score = 2 * said_hit / len(said) + named_hit / len(named) + 0.1 * exact
    heads = alike(said[-1], named[-1])
    if heads:
        score += 0.5
    if said_hit == len(said):
        score += 0.5
    complete = said_hit == len(said) or named_hit == len(named)
    kind = "same" if complete and heads else "part" if said_hit == len(said) else "some"
    return Match(name, score, kind)


def ranked(phrase: str, names: Sequence[str]) -> list[Match]:
    """All names that share a word with the phrase, best first; ties in the order of `names`."""
    found = [hit for name in names if (hit := match(phrase, name)) is not None]
    return sorted(found, key=lambda hit: -hit.score)


def siblings(name: str, names: Sequence[str]) -> list[str]:
    """Names that differ from `name` only by a number or an adjective in front of the same last word."""
    kin = family(name)
    return [other for other in names if other != name and family(other) == kin]


def family(name: str) -> str:
    """The last word of a name that is not a number."""
    words = [word for word in content(name) if not word.isdigit()]
    return words[-1] if words else name
