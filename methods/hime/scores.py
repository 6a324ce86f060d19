"""What an episode's row says about memory and Sentry, held against the environment's oracle. The method never sees it.

**Memory hit** (paper, Table 2, which does not say how it was judged). A subtask depends on memory if the environment names
facts that it takes. At each call of the planner while such a subtask is the next one, each fact that the robot has been told
or shown counts as held if something remembered says it and nothing remembered later says what was so before. A subtask
is a hit if all of its facts are: `in_store` before the call, `retrieved` of what the planner was shown of its memory. Of
several calls for a subtask the last one counts. Words are compared, so a fact that is put in quite other words is missed.

**Sentry** (paper, Figure 7; done is the positive class). Its word on a subtask is held against the oracle's subtask of the
same words. `checks` counts each check, `subtasks` each subtask once, when the robot leaves it: whether the Sentry had called it
done, and whether it was by the last check (what is done after it, as the end of a stage often is, nobody could have seen). Subtasks that the oracle has no equal of are in neither, and are counted as `unknown`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
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
_MARK = re.compile(r"(?:^|[:;])\s*([^:;]+?)(?:\s+-?\d+){4}(?=;|$)", re.MULTILINE)
"""A name in the annotation of a picture, before its box."""


@dataclass
class MemoryScore:
    """Of one episode."""

    _hits: dict[int, tuple[bool, bool]] = field(default_factory=dict)
    """Index of a subtask: in the store, retrieved."""

    def asked(
        self, index: int, subtask: Subtask, store: Sequence[Remembered], retrieved: Sequence[Remembered]
    ) -> None:
        """The planner was asked while this subtask was the next one; `store` is as it was before."""
        known = [fact for fact in subtask.facts if fact.since is not None]
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
        return True
    return item.picture is not None and _shows(item.picture.seen, fact)


def _shows(seen: str, fact: Fact) -> bool:
    """Whether one camera sees all that the fact names. A number counts how often something is seen."""
    subject, value = _words(fact.subject), _words(fact.value)
    number, what = (int(value[0]), value[1:]) if value and value[0].isdigit() else (None, value)
    for line in seen.splitlines():
        names = [set(_words(name)) for name in _MARK.findall(line)]
        found = sum(set(what) <= name for name in names)
        if found and number in (None, found) and any(set(subject) <= name for name in names):
            return True
    return False


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
