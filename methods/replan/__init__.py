"""What the next trial does after a failed one: the part of a `Replanning` method that varies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from harness.records import TrialRecord
from methods.lmp.prompt import Request, Section

if TYPE_CHECKING:
    from harness.episode import Episode


@dataclass(frozen=True)
class Attempt:
    """A trial that has ended, and the code that it used, by what was asked for."""

    record: TrialRecord
    code: Mapping[Request, str]


@dataclass(frozen=True)
class Proposal:
    """How a trial gets its programs. The default asks the chat model for all of them with no addition:
    that is every first trial."""

    code: Mapping[Request, str] = field(default_factory=dict)
    """Code to use instead of asking; what is not in it is asked for."""
    sections: tuple[Section, ...] = ()
    """Additions to the planner's prompt."""
    facts: Mapping[str, Any] = field(default_factory=lambda: {"propose": "llm"})
    """What the row says about it."""


class Replan(Protocol):
    """Called between trials: the environment still is as the last trial left it."""

    def propose(self, episode: Episode, attempts: Sequence[Attempt]) -> Proposal:
        """The next trial's proposal; `attempts` has at least one entry and all of them failed."""
        ...
