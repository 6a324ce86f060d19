"""Subtasks, as a plan's lines say them, and whether frames show that one is done."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness.chat.rules.embodied.sight import Seen, Sights, kind_of

REST = "go to rest"
_INSPECT = re.compile(r"(?:inspect|look (?:into|inside|in|at)|check|examine|read) (?:the )?(?P<place>.+)")
_MOVE = re.compile(
    r"(?:pick up|pick|take|get|fetch|grasp|grab|move|put|place|bring) (?:the )?(?P<thing>.+?)"
    r"(?: (?:from|out of) (?:the )?(?P<source>.+?))?(?:,? and (?:then )?(?:place|put|bring|drop) it)? "
    r"(?:to|into|onto|in|on) (?:the )?(?P<target>.+)"
)
_STEADY = 3
"""Frames, the latest ones, from which a place is seen to be looked at, or a hand to stay."""


@dataclass(frozen=True)
class Inspect:
    place: str

    def text(self) -> str:
        return f"inspect {self.place}"


@dataclass(frozen=True)
class Move:
    thing: str
    """Or one of a kind."""
    target: str
    source: str = ""
    """Empty where that is not known, or does not matter any more."""

    def text(self) -> str:
        source = f" from {self.source}" if self.source else ""
        return f"pick up {self.thing}{source} and place it to {self.target}"


@dataclass(frozen=True)
class Rest:
    def text(self) -> str:
        return REST


Subtask = Inspect | Move | Rest


def parse(text: str) -> Subtask | None:
    """None for other words."""
    line = " ".join(text.split()).strip(" .")
    if re.fullmatch(
        r"(?:go |move |return |come )?(?:back )?(?:to )?(?:the )?(?:rest|home)(?: pos\w+)?", line, re.I
    ):
        return Rest()
    if found := re.fullmatch(_INSPECT.pattern, line, re.IGNORECASE):
        return Inspect(found["place"])
    if found := re.fullmatch(_MOVE.pattern, line, re.IGNORECASE):
        return Move(found["thing"], found["target"], found["source"] or "")
    return None


def is_one(name: str, said: str) -> bool:
    """Whether a thing of that name is meant: by its name, or by its kind."""
    return said.lower() in (name.lower(), kind_of(name).lower())


def certainty(subtask: Subtask | None, sights: Sights) -> float:
    """How sure the frames make one that a subtask is done, from 0 to 1."""
    if subtask is None or not sights.seen:
        return 0.0
    if isinstance(subtask, Inspect):
        return _inspected(subtask.place, sights)
    return _moved(subtask, sights) if isinstance(subtask, Move) else _rests(sights)


def _inspected(place: str, sights: Sights) -> float:
    looks = sum(place in seen.looked for seen in sights.seen)
    return {0: 0.0, 1: 0.4, 2: 0.8}.get(looks, 0.95)


def _moved(subtask: Move, sights: Sights) -> float:
    last = sights.seen[-1]
    if last.held:
        return 0.0
    if _is_kind(subtask.thing, sights):
        return _portioned(subtask, sights, last)
    where = [seen.at[name] for seen in sights.seen for name in seen.at if is_one(name, subtask.thing)]
    if not where or where[-1] != subtask.target:
        return 0.0
    seen_now = any(is_one(name, subtask.thing) for name in last.at)
    return 0.95 if seen_now else 0.6


def _is_kind(said: str, sights: Sights) -> bool:
    """Whether it is one of several, any of which will do."""
    return any(is_one(name, said) and name.lower() != said.lower() for name in sights.things)


def _portioned(subtask: Move, sights: Sights, last: Seen) -> float:
    """One of several is where the hand is now, empty: it does not go there without one, and goes away for the next."""
    there = any(is_one(name, subtask.thing) for name in last.inside(subtask.target))
    if not there:
        return 0.0
    latest = sights.seen[-_STEADY:]
    stays = len(latest) == _STEADY and all(subtask.target in seen.looked and not seen.held for seen in latest)
    brought = any(is_one(seen.held, subtask.thing) for seen in sights.seen if seen.held)
    if subtask.target in last.looked and (stays or brought):
        return 0.9
    return 0.0


def _rests(sights: Sights) -> float:
    latest = sights.seen[-_STEADY:]
    still = len({shot.hand for shot in sights.shots[-_STEADY:]}) == 1
    return 0.8 if len(latest) == _STEADY and still and not any(seen.looked for seen in latest) else 0.0
