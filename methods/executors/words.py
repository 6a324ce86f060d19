"""The words that the scripted executor understands: those of HiMe's planner ("inspect X", "pick up X from Y and place it
to Z") and near relatives of them. It knows no object's name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Verb = Literal["move", "look", "rest"]


@dataclass(frozen=True)
class Command:
    """What to do. Names are as they were written, in lower case, without article."""

    verb: Verb
    """`move` picks a thing up and, with a `target`, puts it there; `look` brings the wrist camera above a place; `rest`
    is the way home."""
    thing: str = ""
    """Of `move` what is picked up, of `look` the place."""
    source: str = ""
    """Where the thing is; empty when it was not said."""
    target: str = ""
    """Where it goes; empty when it is to be kept in the hand."""


_STEP = re.compile(
    r"^\s*(?:\[\w+\]\s*)?(?:step\s*)?(?:\d+\s*[.):]\s*|[-*]\s+)?(?:\[\w+\]\s*)?", re.IGNORECASE
)
_NOTE = re.compile(r"\s*\([^()]*\)[\s.!]*$")
_PUT = r"(?:place|put|set|drop|lay|stand|pour|bring|move)"
_TO = r"(?:on top of|on to|onto|into|inside|in|on|to|at)"
_FROM = r"(?:from|out of|off)"
_TAKE = r"(?:pick up|pick(?! up$)|grasp|grab|take|lift|collect|fetch|get|scoop)"
_PLACE = rf"(?:{_PUT}|dispense|give|add|transfer|return)"
_LOOK = r"(?:inspect|look into|look inside|look in|look at|check|examine|read|view|observe|scan)"
_HOME = r"(?:home|rest)(?: (?:pose|position))?"
_PATTERNS: tuple[tuple[str, Verb], ...] = (
    (rf"(?:(?:go|move|return|come)(?: back)? )?(?:to )?(?:the |its )?{_HOME}", "rest"),
    (r"(?:reset|home|rest|retract)(?: (?:the |its )?(?:arm|robot|gripper|pose))?", "rest"),
    (
        rf"{_TAKE} (?P<thing>.+?) {_FROM} (?P<source>.+?),? (?:and|then|and then) {_PUT} it {_TO} (?P<target>.+)",
        "move",
    ),
    (rf"{_TAKE} (?P<thing>.+?),? (?:and|then|and then) {_PUT} it {_TO} (?P<target>.+)", "move"),
    (rf"{_TAKE} (?P<thing>.+?) {_FROM} (?P<source>.+)", "move"),
    (rf"{_TAKE} (?P<thing>.+)", "move"),
    (rf"{_PLACE} (?P<thing>.+?) {_FROM} (?P<source>.+?) {_TO} (?P<target>.+)", "move"),
    (rf"{_PLACE} (?P<thing>.+?)(?: back)? {_TO} (?P<target>.+)", "move"),
    (rf"{_LOOK}(?: inside)?(?: of)? (?P<thing>.+)", "look"),
)
_ARTICLE = re.compile(r"^(?:the|a|an|another|one more|one|some)\s+")
_PORTION = re.compile(r"^(?:the |a |an |one |another |one more )?(?:portion|scoop|serving|piece)s? of\s+")


def parse(text: str) -> Command | None:
    """The command that a line of a plan stands for; a leading number or state mark and a note in parentheses at its end
    say nothing. None for what is not understood."""
    line = _NOTE.sub("", _STEP.sub("", text, count=1)).replace("_", " ").replace('"', "").replace("'", "")
    line = re.sub(r"\s+", " ", line).strip(" .!").lower()
    for pattern, verb in _PATTERNS:
        found = re.fullmatch(pattern, line)
        if found:
            parts = {key: _bare(value) for key, value in found.groupdict().items()}
            return Command(verb, **parts)
    return None


def _bare(name: str | None) -> str:
    """Without article and measure."""
    return _ARTICLE.sub("", _PORTION.sub("", (name or "").strip()))


def plain(name: str) -> str:
    """A name as `parse` writes it."""
    return re.sub(r"\s+", " ", name.replace("_", " ").replace("'", "").replace('"', "")).strip().lower()


def matches(said: str, seen: list[str]) -> list[str]:
    """Those of the names seen that are meant: of that name, counted ones of it ("red beans" stands for "red beans 2"), or
    else the one whose words include all that were said; several when it is not clear which."""
    exact = [name for name in seen if plain(name) == said]
    counted = [name for name in seen if re.fullmatch(rf"{re.escape(said)} \d+", plain(name))]
    if exact or counted:
        return exact or counted
    words = set(said.split())
    return [name for name in seen if words and words <= set(plain(name).split())]
