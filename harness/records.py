"""What a row is: one episode, one JSON object, strict JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from harness.protocols import Reply

Status = Literal["success", "failure", "error"]
VERDICTS: tuple[str, ...] = ("success", "failure")


def counts_after(status: str, before: str | None) -> bool:
    """Whether a row counts for its episode after one with the status `before`, or after none: the newest does, but an
    error takes no verdict away. Two jobs may have played an episode, where a sweep was killed and its job wrote on."""
    return status in VERDICTS or before not in VERDICTS


@dataclass(frozen=True)
class EpisodeKey:
    """Which episode of a cell. The cell's config and seed are the cell's."""

    task: str
    instruction: int
    """Index into the task's instructions."""
    scene: int

    def __str__(self) -> str:
        return f"{self.task}-s{self.scene}-i{self.instruction}"


@dataclass
class Usage:
    """What an episode used of chat models, whoever served it: a reply from the cache or from a recording counts as
    it did when it was made, so that this is the same however often an episode is played."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0
    """None as soon as one call has no known price."""
    roles: dict[str, int] = field(default_factory=dict)
    """Calls by role."""
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def add(self, role: str, reply: Reply, seconds: float) -> None:
        self.calls += 1
        self.roles[role] = self.roles.get(role, 0) + 1
        self.prompt_tokens += reply.prompt_tokens
        self.completion_tokens += reply.completion_tokens
        self.cost_usd = _sum(self.cost_usd, reply.cost_usd)
        self.seconds += seconds


@dataclass
class Spent:
    """What playing an episode cost anew, in all attempts at it. It hangs on what the cache held, so it is no part of
    what two runs of an episode have in common."""

    calls: int = 0
    cached_calls: int = 0
    """Replies that came from the cache or a recording, for nothing."""
    tokens: int = 0
    cost_usd: float | None = 0.0
    """None as soon as one new call has no known price."""

    def add(self, reply: Reply) -> None:
        if reply.cached:
            self.cached_calls += 1
            return
        self.calls += 1
        self.tokens += reply.prompt_tokens + reply.completion_tokens
        self.cost_usd = _sum(self.cost_usd, reply.cost_usd)

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.calls + other.calls,
            self.cached_calls + other.cached_calls,
            self.tokens + other.tokens,
            _sum(self.cost_usd, other.cost_usd),
        )


def _sum(one: float | None, other: float | None) -> float | None:
    """Money; unknown as soon as a part of it is."""
    return None if one is None or other is None else one + other


@dataclass
class TrialRecord:
    """One attempt. `failure` is None for a success; `success_at_end` says whether the predicate still
    held when the trial ended (the verdict itself is latched)."""

    success: bool = False
    success_at_end: bool = False
    failure: str | None = None
    reason: str = ""
    steps: int = 0
    seconds: float = 0.0
    subtasks_done: int = 0
    subtasks: int = 1
    state_hash: str = ""
    reset_attempts: int = 1
    events: dict[str, int] = field(default_factory=dict)
    """Counts of coercions and refusals, by name: nothing is silent."""
    facts: dict[str, Any] = field(default_factory=dict)
    """What the method says about the trial, for example which program was replayed."""

    def count(self, event: str, times: int = 1) -> None:
        self.events[event] = self.events.get(event, 0) + times
