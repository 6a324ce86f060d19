"""Finds the things and places that a sentence speaks of, among the names that are known. It knows no noun."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.chat.rules.embodied.sight import kind_of
from harness.chat.rules.words import singular

_LIST = r"(?P<list>(?:(?:the )?[\w-]+(?:, and |, or |, | and | or ))+)(?:the )?(?P<last>[\w-]+) "


@dataclass(frozen=True)
class Mention:
    start: int
    end: int
    names: tuple[str, ...]
    """One, or all of a group ("the cups", "every cup")."""
    grouped: bool = False
    """Whether it is one word that several names have in common."""


class Names:
    """The known names, of things and places."""

    def __init__(self, things: Iterable[str], places: Iterable[str]) -> None:
        """Numbered ones stand for their kind."""
        self.places = tuple(dict.fromkeys(places))
        self.things = tuple(dict.fromkeys(kind_of(name) for name in things))
        self.all = (*self.places, *(name for name in self.things if name not in self.places))

    def mentions(self, text: str) -> list[Mention]:
        """In the order of the text, which is in lower case. None overlaps another."""
        found: list[Mention] = []
        for name in sorted(self.all, key=len, reverse=True):
            for hit in re.finditer(rf"\b{re.escape(name.lower())}(?:s|es)?\b", text):
                _add(found, Mention(hit.start(), hit.end(), (name,)))
        for head in dict.fromkeys(name.lower().split()[-1] for name in self.all if " " in name):
            for hit in re.finditer(_LIST + re.escape(head) + r"(?:s|es)?\b", text):
                self._add_short(found, hit, head)
        for hit in re.finditer(r"[a-z][\w-]*", text):
            group = self.group(hit[0])
            if group:
                _add(found, Mention(hit.start(), hit.end(), group, grouped=True))
        return sorted(found, key=lambda mention: mention.start)

    def group(self, word: str) -> tuple[str, ...]:
        """The names that a noun, in plural or singular, is the last word of, or else is a word of; of two at least, as a
        name of its own is no group."""
        noun = singular(word)
        last = tuple(name for name in self.all if singular(name.lower().split()[-1]) == noun)
        within = tuple(name for name in self.all if noun in map(singular, name.lower().split()))
        found = last if len(last) > 1 else within
        return found if len(found) > 1 else ()

    def of_kind(self, text: str, among: Sequence[str]) -> tuple[str, ...]:
        """Those among some names that a kind such as "tin toys" means: those with most words in common, first words before
        later ones."""
        words = [singular(word) for word in re.findall(r"[\w-]+", text.lower())]
        scores = {name: _shared(words, name) for name in among}
        best = max(scores.values(), default=0.0)
        return tuple(name for name, score in scores.items() if score == best and score > 0)

    def _add_short(self, found: list[Mention], hit: re.Match[str], head: str) -> None:
        """Of "the red, the blue and the green cup" the red and the blue one."""
        for word in re.finditer(r"[\w-]+", hit["list"]):
            name = next((name for name in self.all if name.lower() == f"{word[0]} {head}"), None)
            if name is not None:
                start = hit.start("list") + word.start()
                _add(found, Mention(start, start + len(word[0]), (name,)))
        name = next((name for name in self.all if name.lower() == f"{hit['last']} {head}"), None)
        if name is not None:
            _add(found, Mention(hit.start("last"), hit.end(), (name,)))


def alike(one: str, other: str) -> float:
    """How much two things are of one kind, by their names: the words that they share, first ones before others."""
    return _shared([singular(word) for word in one.lower().split()], other)


def _shared(words: Sequence[str], name: str) -> float:
    own = [singular(word) for word in name.lower().split()]
    return sum(
        1.0 / ((1 + index) * (1 + words.index(word))) for index, word in enumerate(own) if word in words
    )


def _add(found: list[Mention], new: Mention) -> None:
    if all(new.end <= old.start or old.end <= new.start for old in found):
        found.append(new)
