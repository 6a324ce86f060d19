"""One episode as a method sees it: the environment, trials from the same scene, chat models by role,
the sandbox and the trace. The harness resets, times, records and judges; the method acts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from harness.chat.budget import EpisodeGuard
from harness.chat.keys import request_key, written_down
from harness.failures import BudgetExceeded, MethodFailure, ResetError, SimulatorError
from harness.protocols import ChatModel, Environment, Message, Reply, Reset, Sampling, Task, Verdict
from harness.records import EpisodeKey, Spent, TrialRecord, Usage
from harness.seeding import Seeds

if TYPE_CHECKING:
    from harness.sandbox import Sandbox

RESET_ATTEMPTS = 3


class TraceWriter(Protocol):
    """Where an episode's events go."""

    def __call__(self, event: str, **data: Any) -> None: ...


@dataclass
class Trial:
    """An attempt in progress; `record` is complete when its `with` block has ended."""

    index: int
    record: TrialRecord
    seeds: Seeds

    @property
    def success(self) -> bool:
        return self.record.success

    def count(self, event: str, times: int = 1) -> None:
        """Count something that was coerced, refused or dropped."""
        self.record.count(event, times)


@dataclass
class Episode:
    """Handed to `Method.play`."""

    key: EpisodeKey
    task: Task
    env: Environment
    seeds: Seeds
    models: Callable[[str], ChatModel]
    """Role to chat model."""
    sandbox: Sandbox
    trace: TraceWriter
    sampling: Sampling = field(default_factory=Sampling)
    budget: EpisodeGuard = field(default_factory=EpisodeGuard)
    history: Callable[[], Sequence[Mapping[str, Any]]] = tuple
    """The rows of the cell's episodes that have ended with a verdict, in the order in which they ended. Only for
    methods with an `order`: for others it depends on who was faster."""
    observers: list[Callable[[str, int], None]] = field(default_factory=list)
    """Called with ("start" or "end", trial index)."""
    served: set[str] = field(default_factory=set)
    """Models that answered, by their own name and version."""
    usage: Usage = field(default_factory=Usage)
    spent: Spent = field(default_factory=Spent)
    trials: list[TrialRecord] = field(default_factory=list)
    current: Trial | None = None
    variation: Mapping[str, str] = field(default_factory=dict)
    """What the scene drew; known from the first reset on."""

    @property
    def instruction(self) -> str:
        """The task's wording, with its braces filled once the scene is up."""
        wording = self.task.instructions[self.key.instruction]
        return wording.format_map(self.variation) if self.variation else wording

    def verdict(self) -> Verdict:
        """The oracle's word on what this episode asks for."""
        return self.env.verdict()

    def steps(self) -> int:
        """Control steps of the trial in progress, or of the last one."""
        return self.env.steps()

    @contextmanager
    def trial(self) -> Iterator[Trial]:
        """Reset to the episode's scene and attempt it. A `MethodFailure` inside ends the trial with its
        kind, and that of a spent budget the episode; any other exception goes through and makes the episode
        an error."""
        index = len(self.trials)
        seeds = replace(self.seeds, trial=index)
        reset = self._reset(seeds)
        record = TrialRecord(state_hash=reset.state_hash, reset_attempts=reset.attempts)
        self.trials.append(record)
        trial = self.current = Trial(index, record, seeds)
        self.trace("trial", index=index, state_hash=reset.state_hash)
        self._observe("start", index)
        started = time.monotonic()
        failure: MethodFailure | None = None
        try:
            yield trial
        except MethodFailure as caught:
            failure = caught
        finally:
            record.seconds = round(time.monotonic() - started, 4)
            self.current = None
        self._observe("end", index)
        verdict = self.verdict()
        record.success, record.success_at_end = verdict.success, verdict.holds
        record.steps = self.steps()
        record.subtasks_done, record.subtasks = verdict.subtasks_done, verdict.subtasks
        if not verdict.success:
            record.failure = failure.kind if failure else "goal"
            record.reason = str(failure) if failure else _goal_reason(verdict.failed)
        self.trace(
            "trial_end", index=index, success=record.success, failure=record.failure, reason=record.reason
        )
        if isinstance(failure, BudgetExceeded) and not verdict.success:
            raise failure

    def chat(self, role: str, messages: Sequence[Message], **sampling: Any) -> Reply:
        """Ask the chat model that plays `role`. Recorded and counted; raises `ProviderError`, and
        `BudgetExceeded` when the episode has used up what it may."""
        self.budget.before(self.usage)
        trial = self.current.index if self.current else len(self.trials)
        seed = replace(self.seeds, trial=trial).sampling(role)
        settings = replace(self.sampling, seed=seed, **sampling)
        started = time.monotonic()
        reply = self.models(role).complete(messages, settings)
        seconds = time.monotonic() - started
        self.served.add(reply.model)
        self.usage.add(role, reply, seconds)
        self.spent.add(reply)
        for name in reply.details.get("dropped", ()):
            if self.trials:  # a method that asks before its first trial has this in the trace alone
                self.trials[-1].count(f"{role}: the model refuses {name}, which was left out")
        self.trace(
            "chat",
            role=role,
            key=request_key(messages, settings),
            model=reply.model,
            messages=written_down(messages),
            sampling=asdict(settings),
            reply=reply.text,
            finish_reason=reply.finish_reason,
            tokens=[reply.prompt_tokens, reply.completion_tokens],
            cost_usd=reply.cost_usd,
            cached=reply.cached,
            seconds=round(seconds, 4),
            details=dict(reply.details),
        )
        self.budget.after(reply)
        return reply

    def _observe(self, moment: str, trial: int) -> None:
        for observer in self.observers:
            observer(moment, trial)

    def _reset(self, seeds: Seeds) -> Reset:
        """Reset, trying again when the scene could not be set up; all trials must start from one state."""
        for attempt in range(1, RESET_ATTEMPTS + 1):
            try:
                reset = self.env.reset(self.key.task, self.key.scene, seeds)
                break
            except ResetError as error:
                self.trace("reset_error", attempt=attempt, reason=str(error))
                if attempt == RESET_ATTEMPTS:
                    raise
        self.variation = reset.variation
        first = self.trials[0].state_hash if self.trials else reset.state_hash
        if reset.state_hash != first:
            raise SimulatorError(
                f"{self.key} started from state {reset.state_hash} and not from {first} as its first trial did; "
                "the environment's reset is not repeatable"
            )
        return replace(reset, attempts=reset.attempts + attempt - 1)


def _goal_reason(failed: bool) -> str:
    return "a fail condition of the task was met" if failed else "the program ended and the goal was not met"


def events_of(trials: Sequence[TrialRecord]) -> Mapping[str, int]:
    """Counted events, summed over trials."""
    total: dict[str, int] = {}
    for trial in trials:
        for name, times in trial.events.items():
            total[name] = total.get(name, 0) + times
    return total
