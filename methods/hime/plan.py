"""The plan list: steps with an identity of their own, which they keep when the planner writes its list anew
with lines added, dropped, moved or reworded.

What a step's state rests on: the planner proposes, and only another's word makes a step `done`, the Sentry's
verdict or the environment's oracle (`confirmed`). A step that the planner alone calls done is `claimed`: the
plan goes on, and nothing counts it as done. Without a Sentry no step is ever more than claimed. Whether the
task is solved is never asked here.

Which line of a new list is which step of the old one, in three passes, each over the lines that are left:

1. the same words, in any letter case, without punctuation and articles;
2. the same words but for prepositions and pronouns, and with a few verbs taken as one ("put" as "place");
3. the words of one hold all of the other's, two at least, in their order ("inspect box", "inspect left box"),
   and neither could go with another one.

Of several equal steps the first that fits is taken: a line that says [done] looks among steps done or
claimed, then current, then pending; one that says [current] or [pending] looks among those open, then claimed
ones, which it reopens. A step that was confirmed and done stays so: to do the same again is a new step."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from methods.hime.wire import PlanLine

State = Literal["pending", "current", "claimed", "done", "dropped"]

CLAIMED = "a step is done by the planner's word alone"
OVERRULED = "the planner goes on with a step that was confirmed as done"
REOPENED = "a step that the planner had called done is open again"
DROPPED = "a step was dropped from the plan"
NEAR = "a step was reworded"

_ORDER: dict[str, tuple[tuple[State, ...], ...]] = {
    "done": (("done", "claimed"), ("current",), ("pending",), ("dropped",)),
    "current": (("current",), ("pending",), ("claimed",), ("dropped",)),
    "pending": (("pending",), ("current",), ("claimed",), ("dropped",)),
}
"""States of the steps that a line may be, best first."""
_ARTICLES = frozenset(("a", "an", "the"))
_SMALL = _ARTICLES | frozenset(
    (
        "it",
        "its",
        "them",
        "and",
        "then",
        "please",
        "up",
        "to",
        "into",
        "in",
        "inside",
        "onto",
        "on",
        "from",
        "of",
        "at",
    )
)
_VERBS = {
    "put": "place",
    "grab": "pick",
    "take": "pick",
    "get": "pick",
    "check": "inspect",
    "examine": "inspect",
}
_TURNING = frozenset(("not", "no", "off", "out", "away", "back", "down", "without", "except", "again"))
"""Words that make another step of one: they are never what one wording merely leaves out."""
_LEAST = 2
"""Words that a shorter wording has to have in common with a longer one."""


@dataclass(frozen=True)
class Step:
    key: int
    """Its identity, from 1 on; never given twice in a plan."""
    text: str
    """What the executor is told."""
    state: State
    purpose: str = ""
    confirmed: bool = False
    """Whether the Sentry or the oracle has said that it is done."""


@dataclass(frozen=True)
class Plan:
    """At most one step is current."""

    steps: tuple[Step, ...] = ()
    """Dropped ones too, so that one that comes back is the same."""
    next_key: int = 1

    @property
    def current(self) -> Step | None:
        return next((step for step in self.steps if step.state == "current"), None)

    @property
    def exhausted(self) -> bool:
        """Whether the planner has nothing left to do. That says nothing about success."""
        return bool(self.steps) and not any(step.state in ("current", "pending") for step in self.steps)

    def text(self) -> str:
        """As the planner and the Sentry are shown it, one step a line; empty without steps."""
        return "\n".join(
            f"[{'done' if step.state == 'claimed' else step.state}] {step.text}"
            + (f" ({step.purpose})" if step.purpose else "")
            for step in self.steps
            if step.state != "dropped"
        )

    def confirmed(self, key: int) -> Plan:
        """After the Sentry or the oracle has said that this step is done. A claimed one is done now; a
        current one is as soon as the planner agrees or leaves it behind. Raises `KeyError`."""
        if key not in {step.key for step in self.steps}:
            raise KeyError(f"the plan has no step {key}")
        return replace(
            self, steps=tuple(_confirmed(step) if step.key == key else step for step in self.steps)
        )

    def saved(self) -> dict[str, Any]:
        """As JSON, for `restored`."""
        return asdict(self)


def restored(saved: Mapping[str, Any]) -> Plan:
    """The plan that was saved."""
    return Plan(tuple(Step(**step) for step in saved["steps"]), saved["next_key"])


@dataclass(frozen=True)
class Revision:
    plan: Plan
    started: Step | None
    """The step that is current and was not: a new segment of frames begins with it."""
    notes: tuple[str, ...] = ()


def revised(plan: Plan, lines: Sequence[PlanLine]) -> Revision:
    """The plan after the planner has written its list anew. Steps that it no longer has are dropped unless
    they were done; those come first, the list as it was written behind them. `lines` has at most one current
    one."""
    found = _identified(plan.steps, lines)
    notes: dict[str, None] = {}
    kept = {step.key for step in found if step}
    left = [_left(step, notes) for step in plan.steps if step.key not in kept]
    listed: list[Step] = []
    key = plan.next_key
    for line, step in zip(lines, found, strict=True):
        if step is None:
            state: State = "claimed" if line.state == "done" else line.state
            listed.append(Step(key, line.text, state, line.purpose))
            key += 1
            if state == "claimed":
                notes[CLAIMED] = None
        else:
            listed.append(_taken(step, line, notes))
    steps = (*left, *listed)
    new = Plan(steps, key)
    before, now = plan.current, new.current
    started = now if now and (before is None or before.key != now.key) else None
    return Revision(new, started, tuple(notes))


def _confirmed(step: Step) -> Step:
    return replace(step, confirmed=True, state="done" if step.state == "claimed" else step.state)


def _left(step: Step, notes: dict[str, None]) -> Step:
    """A step that the new list no longer has."""
    if step.state not in ("pending", "current"):
        return step
    if step.confirmed:
        return replace(step, state="done")
    notes[DROPPED] = None
    return replace(step, state="dropped")


def _taken(step: Step, line: PlanLine, notes: dict[str, None]) -> Step:
    """A step as the new list has it. Its wording is the new one's."""
    if _plain(step.text) != _plain(line.text):
        notes[NEAR] = None
    new = replace(step, text=line.text, purpose=line.purpose or step.purpose)
    if line.state == "done":
        if step.confirmed:
            return replace(new, state="done")
        if step.state != "claimed":
            notes[CLAIMED] = None
        return replace(new, state="claimed")
    if step.confirmed:
        notes[OVERRULED] = None
    if step.state == "claimed":
        notes[REOPENED] = None
    return replace(new, state=line.state, confirmed=False)


def _identified(steps: Sequence[Step], lines: Sequence[PlanLine]) -> list[Step | None]:
    """For each line the step that it is; None for a new one."""
    found: list[Step | None] = [None] * len(lines)
    free = list(steps)
    for alike in (_plain, _content):
        for index, line in enumerate(lines):
            if found[index] is None and (step := _first(free, line, alike)):
                found[index] = step
                free.remove(step)
    partners: dict[int, list[Step]] = {
        index: [step for step in free if _possible(step, line) and _holds(step.text, line.text)]
        for index, line in enumerate(lines)
        if found[index] is None
    }
    for index, fitting in partners.items():
        rivals = [
            other for other, steps_ in partners.items() if other != index and fitting and fitting[0] in steps_
        ]
        if len(fitting) == 1 and not rivals:
            found[index] = fitting[0]
    return found


def _first(free: Sequence[Step], line: PlanLine, alike: Callable[[str], tuple[str, ...]]) -> Step | None:
    words = alike(line.text)
    for states in _ORDER[line.state]:
        for step in free:
            if step.state in states and alike(step.text) == words:
                return step
    return None


def _possible(step: Step, line: PlanLine) -> bool:
    return any(step.state in states for states in _ORDER[line.state])


def _plain(text: str) -> tuple[str, ...]:
    words = re.findall(r"\w+", text.casefold())
    return tuple(word for word in words if word not in _ARTICLES) or tuple(words) or (text,)


def _content(text: str) -> tuple[str, ...]:
    words = tuple(_VERBS.get(word, word) for word in _plain(text) if word not in _SMALL)
    return words or _plain(text)


def _holds(one: str, other: str) -> bool:
    """Whether the content words of one are among the other's, in their order."""
    short, long = sorted((_content(one), _content(other)), key=len)
    rest = iter(long)
    held = len(short) >= _LEAST and all(word in rest for word in short)
    return held and not _TURNING & (set(long) - set(short))
