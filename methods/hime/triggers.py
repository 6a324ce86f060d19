"""When the planner is asked: after so many executions, or when the Sentry, which is asked every so often,
says that the current step is done. An execution is one call of the policy, of which a few actions are carried
out.

A watch is the state: it is never changed, each event gives the next one. The loop that drives it:

    watch = trigger.watch()
    after each execution    watch = watch.executed()
                            if watch.due == "sentry":   ask it, then   watch, cause = watch.judged(judgement)
                            if watch.due == "planner":                 cause = "interval"
    when there is a cause   ask the planner, then       watch = watch.planned()
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from methods.hime.sentry import Judgement

Cause = Literal["", "done", "fallback", "unreadable", "interval"]
"""Why the planner is asked; empty: it is not. `fallback`: the Sentry has been silent for too long.
`unreadable`: it has not given a verdict several times in a row."""


class Watch(Protocol):
    @property
    def due(self) -> Literal["", "sentry", "planner"]:
        """Who is to be asked now."""
        ...

    def executed(self) -> Watch: ...

    def judged(self, judgement: Judgement) -> tuple[Watch, Cause]:
        """After the Sentry was asked."""
        ...

    def planned(self) -> Watch:
        """After the planner was asked, whatever for: what is counted begins anew."""
        ...

    def saved(self) -> dict[str, int]:
        """What is counted, for the trigger's `restored`."""
        ...


@dataclass(frozen=True)
class Sentry:
    """Config of a Sentry. The paper gives the window as 8 and the interval as 10 executions (its n_m is 5),
    and no number for the fallback, which is the public code's."""

    window: int = 8
    """The most frames of the current step that it is shown, the latest ones."""
    every: int = 10
    """Executions between two checks."""
    fallback: int = 50
    """Executions after which the planner is asked anyway, at the check that finds them spent."""
    unreadable: int = 3
    """Checks in a row without a verdict after which the planner is asked."""
    threshold: float | None = None
    """Confidence above which `done` counts; null: the word counts, and no confidence is asked for."""

    def __post_init__(self) -> None:
        for name in ("window", "every", "fallback", "unreadable"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it is at least 1")
        if self.fallback < self.every:
            raise ValueError(
                f"fallback is {self.fallback}, less than every, {self.every}: no check could come before it"
            )
        if self.threshold is not None and not 0 <= self.threshold < 1:
            raise ValueError(f"threshold is {self.threshold}; it is 0 or more and below 1")

    def watch(self) -> SentryWatch:
        return SentryWatch(self)

    def restored(self, saved: Mapping[str, int]) -> SentryWatch:
        return SentryWatch(self, **saved)


@dataclass(frozen=True)
class Periodic:
    """Config of a planner that is asked after a fixed number of executions, without a Sentry."""

    every: int = 10

    def __post_init__(self) -> None:
        if self.every < 1:
            raise ValueError(f"every is {self.every}; it is at least 1")

    def watch(self) -> PeriodicWatch:
        return PeriodicWatch(self)

    def restored(self, saved: Mapping[str, int]) -> PeriodicWatch:
        return PeriodicWatch(self, **saved)


@dataclass(frozen=True)
class SentryWatch:
    sentry: Sentry
    since_check: int = 0
    """Executions since the Sentry or the planner was asked."""
    since_plan: int = 0
    """Executions since the planner was asked."""
    without_verdict: int = 0
    """Checks in a row."""

    @property
    def due(self) -> Literal["", "sentry", "planner"]:
        return "sentry" if self.since_check >= self.sentry.every else ""

    def executed(self) -> SentryWatch:
        return replace(self, since_check=self.since_check + 1, since_plan=self.since_plan + 1)

    def judged(self, judgement: Judgement) -> tuple[SentryWatch, Cause]:
        without = self.without_verdict + 1 if judgement in ("unparsed", "failed") else 0
        cause: Cause = ""
        if judgement == "done":
            cause = "done"
        elif self.since_plan >= self.sentry.fallback:
            cause = "fallback"
        elif without >= self.sentry.unreadable:
            cause = "unreadable"
        return replace(self, since_check=0, without_verdict=without), cause

    def planned(self) -> SentryWatch:
        return SentryWatch(self.sentry)

    def saved(self) -> dict[str, int]:
        return {name: count for name, count in vars(self).items() if name != "sentry"}


@dataclass(frozen=True)
class PeriodicWatch:
    periodic: Periodic
    since_plan: int = 0
    """Executions since the planner was asked."""

    @property
    def due(self) -> Literal["", "sentry", "planner"]:
        return "planner" if self.since_plan >= self.periodic.every else ""

    def executed(self) -> PeriodicWatch:
        return replace(self, since_plan=self.since_plan + 1)

    def judged(self, judgement: Judgement) -> tuple[PeriodicWatch, Cause]:
        return self, ""

    def planned(self) -> PeriodicWatch:
        return PeriodicWatch(self.periodic)

    def saved(self) -> dict[str, int]:
        return {"since_plan": self.since_plan}
