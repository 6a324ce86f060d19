"""What the next trial does after a failed one: the part of a `Replanning` method that varies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from harness.records import EpisodeKey, TrialRecord
from methods.lmp.prompt import Request, Section, fenced

if TYPE_CHECKING:
    from harness.episode import Episode
    from harness.protocols import Manipulation, Problem, View


@dataclass(frozen=True)
class Attempt:
    """A trial that has ended, and the code that it used, by what was asked for. `start` and `end` are what
    `Replan.look` saw then."""

    record: TrialRecord
    code: Mapping[Request, str]
    start: View | None = None
    end: View | None = None

    @property
    def plan(self) -> str:
        """The planner's code; empty if the trial failed before there was one."""
        return next((code for asked, code in self.code.items() if asked.program == "planner"), "")

    @property
    def raised(self) -> str:
        """What ended the trial before its program was through, as the program met it; empty if nothing did. The
        oracle's reasons, such as a fail condition that was met, are not among it: a method cannot see them."""
        return "" if self.record.failure == "goal" else self.record.reason


@dataclass(frozen=True)
class Proposal:
    """How a trial gets its programs. The default asks the chat model for all of them with no addition:
    that is every first trial."""

    code: Mapping[Request, str] = field(default_factory=dict)
    """Code to use instead of asking; what is not in it is asked for."""
    sections: tuple[Section, ...] = ()
    """Additions to the planner's prompt."""
    temperature: float | None = None
    """For the trial's chat requests; null: the one that all methods share."""
    facts: Mapping[str, Any] = field(default_factory=lambda: {"propose": "llm"})
    """What the row says about it."""


class Replan(Protocol):
    @property
    def cameras(self) -> Sequence[str]:
        """See `harness.protocols.Method`."""
        ...

    @property
    def roles(self) -> Sequence[str]:
        """Roles of chat models that it asks itself, beside those that write programs."""
        ...

    def problems(self) -> list[Problem]:
        """What keeps it from working here, and the commands that mend it."""
        ...

    def fingerprint(self) -> str:
        """Hash of the files it reads; empty for none."""
        ...

    def order(self, keys: Sequence[EpisodeKey], seed: int) -> Sequence[EpisodeKey] | None:
        """See `harness.protocols.Method`."""
        ...

    def look(self, env: Manipulation) -> View | None:
        """What is to be remembered of the scene, at the start of every trial and at the end of a failed one."""
        ...

    def propose(self, episode: Episode, attempts: Sequence[Attempt]) -> Proposal:
        """The proposal for the trial that has just begun; `attempts` has at least one entry and all of them
        failed. Raises `GenerationFailure` for a reply that cannot be used, and `ProviderError`."""
        ...


class Plain:
    """For replanning that needs no picture, no file and no order of episodes."""

    @property
    def cameras(self) -> Sequence[str]:
        return ()

    @property
    def roles(self) -> Sequence[str]:
        return ()

    def problems(self) -> list[Problem]:
        return []

    def fingerprint(self) -> str:
        return ""

    def order(self, keys: Sequence[EpisodeKey], seed: int) -> Sequence[EpisodeKey] | None:
        return None

    def look(self, env: Manipulation) -> View | None:
        return None


def last_planned(attempts: Sequence[Attempt]) -> Attempt:
    """The last attempt that had a program, else the last one: what failed before it had one (a reply that could not
    be used) says nothing of the scene."""
    return next((attempt for attempt in reversed(attempts) if attempt.plan), attempts[-1])


def failed_section(attempt: Attempt) -> Section:
    """What failed, for the planner's prompt."""
    if not attempt.plan:
        return Section("An attempt at the instruction below failed before it had a program.")
    return Section(f"This program was tried for the instruction below and failed:\n\n{fenced(attempt.plan)}")
