"""What an episode's row says about memory and Sentry, held against the environment's oracle. The method never sees it.

**Memory hit** (paper, Table 2, which does not say how it was judged). A subtask depends on memory if the environment names
facts that it takes. At each call of the planner two subtasks are looked at: the next one, and the one that the planner sends
the robot to. Each of their facts that the robot had been told or shown by the call before (what came since, the planner is
shown now) counts as held if something remembered says it and nothing remembered later says what was so before. A subtask
is a hit if all of its facts are: `in_store` before the call, `retrieved` of what the planner was shown of its memory. Of
several calls for a subtask the last one counts. Words are compared, so a fact that is put in quite other words is missed. A
picture can hold only that a thing is in or on a place.

**Sentry** (paper, Figure 7; done is the positive class). Its word on a subtask is held against the oracle's subtask of the
same words. `checks` counts each check, `subtasks` each subtask once, when the robot leaves it: whether the Sentry had called it
done, and whether it was by the last check (what is done after it, as the end of a stage often is, nobody could have seen). Subtasks that the oracle has no equal of are in neither, and are counted as `unknown`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.protocols import Fact, Subtask
from methods.hime.planners import Remembered

_SMALL = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "to",
        "in",
        "on",
        "into",
        "onto",
        "from",
        "than",
        "and",
        "it",
        "its",
        "is",
        "up",
        "for",
        "with",
        "at",
    ]
)
_GAP = 2
"""Words that may stand between those of a value, as in "2 (portions of) white rice"."""
_MARK = re.compile(r"(?:^|[:;])\s*([^:;]+?)((?:\s+-?\d+){4})(?=;|$)", re.MULTILINE)
"""A name in the annotation of a picture, and its box in pixels."""
_PLACE_FIRST = {"holds": True, "asks for": True, "stood on": False}
"""The relations that a picture can show, and whether the place is what they are said of."""
_SAID_BY = {"belongs beside": {"belong", "belongs", "beside", "next", "same", "together", "near"}}
"""Words of which a text needs one for a relation between things that are named together for other reasons, too."""


@dataclass
class MemoryScore:
    """Of one episode."""

    _hits: dict[int, tuple[bool, bool]] = field(default_factory=dict)
    """Index of a subtask: in the store, retrieved."""

    def asked(
        self,
        subtasks: Mapping[int, Subtask],
        before: int,
        store: Sequence[Remembered],
        retrieved: Sequence[Remembered],
    ) -> None:
        """The planner was asked about these subtasks, by index; `before` is the control step of the call before, `store` as it
        was then."""
        for index, subtask in subtasks.items():
            known = [fact for fact in subtask.facts if fact.since is not None and fact.since <= before]
            if known:
                self._hits[index] = (
                    all(holds(fact, subtask.outdated, store) for fact in known),
                    all(holds(fact, subtask.outdated, retrieved) for fact in known),
                )

    def facts(self) -> dict[str, int]:
        """Subtasks that took memory, and how many were hits."""
        return {
            "needed": len(self._hits),
            "in_store": sum(stored for stored, _ in self._hits.values()),
            "retrieved": sum(retrieved for _, retrieved in self._hits.values()),
        }


@dataclass
class SentryScore:
    """Of one episode."""

    checks: Counter[str] = field(default_factory=Counter)
    subtasks: Counter[str] = field(default_factory=Counter)

    def checked(self, said: bool, true: bool | None) -> None:
        """`true` is the oracle's word, None where it has none."""
        self.checks[_cell(said, true)] += 1

    def left(self, said: bool, true: bool | None) -> None:
        """The robot leaves a subtask. `said`: whether the Sentry ever called it done; `true`: whether it was by the last
        check."""
        self.subtasks[_cell(said, true)] += 1

    def facts(self) -> dict[str, Any]:
        names = ("tp", "fp", "fn", "tn", "unknown")
        return {
            "checks": {name: self.checks[name] for name in names},
            "subtasks": {name: self.subtasks[name] for name in names},
        }


def concerned(text: str, subtasks: Sequence[Subtask], current: int | None) -> dict[int, Subtask]:
    """The subtasks that a call of the planner is about, by index: the first one to be done that its answer `text` names, and
    `current`, the next one."""
    named = (
        index
        for index, subtask in enumerate(subtasks)
        if subtask.done_at is None and _words(subtask.text) == _words(text)
    )
    return {index: subtasks[index] for index in (next(named, None), current) if index is not None}


def done(text: str, subtasks: Iterable[Subtask], since: int) -> bool | None:
    """Whether the subtask of these words is done that was begun at control step `since`: an equal one has been done since,
    or none of them is left to be done. None where the oracle knows none."""
    equal = [subtask for subtask in subtasks if _words(subtask.text) == _words(text)]
    if not equal:
        return None
    return any(subtask.done_at is not None and subtask.done_at >= since for subtask in equal) or all(
        subtask.done_at is not None for subtask in equal
    )


def holds(fact: Fact, outdated: Iterable[Fact], remembered: Sequence[Remembered]) -> bool:
    """Whether it is remembered, and nothing that was remembered later contradicts it."""
    latest = max((item.step for item in remembered if _says(item, fact)), default=None)
    if latest is None:
        return False
    old = [other for other in outdated if other.relation == fact.relation]
    return not any(item.step > latest and any(_says(item, other) for other in old) for item in remembered)


def _says(item: Remembered, fact: Fact) -> bool:
    subject, value = _words(fact.subject), _words(fact.value)
    words = _words(item.words)
    if set(subject) <= set(words) and _in_order(value, words):
        one_of = _SAID_BY.get(fact.relation)
        if one_of is None or not one_of.isdisjoint(words):
            return True
    return item.picture is not None and _shows(item.picture.seen, fact)


def _shows(seen: str, fact: Fact) -> bool:
    """Whether one camera sees the thing of the fact in or on its place. A number counts how many it sees there."""
    if fact.relation not in _PLACE_FIRST:
        return False
    first, second = _words(fact.subject), _words(fact.value)
    place, thing = (first, second) if _PLACE_FIRST[fact.relation] else (second, first)
    number, thing = (int(thing[0]), thing[1:]) if thing and thing[0].isdigit() else (None, thing)
    for line in seen.splitlines():
        marks = [(set(_words(name)), tuple(map(int, box.split()))) for name, box in _MARK.findall(line)]
        for name, where in marks:
            if set(place) <= name:
                found = sum(set(thing) <= other and _at(box, where) for other, box in marks)
                if found and number in (None, found):
                    return True
    return False


def _at(box: Sequence[int], place: Sequence[int]) -> bool:
    """Whether the middle of a box (left, top, right, bottom), or of its lower edge, lies in the box of a place: from the side
    what is high stands out above a mat."""
    left, top, right, bottom = place
    x = (box[0] + box[2]) / 2
    return left <= x <= right and any(top <= y <= bottom for y in ((box[1] + box[3]) / 2, box[3]))


def _in_order(value: Sequence[str], words: Sequence[str]) -> bool:
    for start in range(len(words)):
        window = iter(words[start : start + len(value) + _GAP])
        if all(word in window for word in value):
            return bool(value)
    return False


def _words(text: str) -> tuple[str, ...]:
    found = re.findall(r"[a-z0-9]+", text.lower())
    return tuple(word for word in found if word not in _SMALL)


def _cell(said: bool, true: bool | None) -> str:
    if true is None:
        return "unknown"
    return ("tp" if true else "fp") if said else ("fn" if true else "tn")
