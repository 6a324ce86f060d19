"""What a row is: one episode, one JSON object, strict JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Status = Literal["success", "failure", "error"]
VERDICTS: tuple[str, ...] = ("success", "failure")


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
    """What an episode spent on chat models."""

    calls: int = 0
    cached_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0
    """None as soon as one call has no known price."""
    seconds: float = 0.0

    def add(
        self, prompt_tokens: int, completion_tokens: int, cost_usd: float | None, cached: bool, seconds: float
    ) -> None:
        self.calls += 1
        self.cached_calls += cached
        self.prompt_tokens += prompt_tokens
        self.completion_tokens += completion_tokens
        known = self.cost_usd is not None and cost_usd is not None
        self.cost_usd = self.cost_usd + cost_usd if known else None  # type: ignore[operator]
        self.seconds += seconds


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
