"""What the papers measure: of each metric what is counted in an episode's row, over what, in which unit. The counting itself
is DuckDB's (`analysis.rows` says which columns there are); means, spreads and intervals are for who asks.

An episode that ended in an error is in no metric. One whose row does not say what a metric counts (an older row, a method
without that part) is not in that metric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Metric = Literal[
    "success_rate",
    "successes",
    "task_progress",
    "subtasks",
    "planner_calls_per_subtask",
    "planner_requests_per_subtask",
    "sentry_calls_per_subtask",
    "memory_hit_rate",
    "memory_retrieved_rate",
    "memory_size",
    "memory_size_over_calls",
    "precision",
    "recall",
    "precision_per_subtask",
    "recall_per_subtask",
    "latency_p50",
    "latency_p90",
    "latency_p99",
    "completion_tokens",
]
"""As `published.csv` names them; what the papers do not print has a name after the same pattern."""
Better = Literal["higher", "lower", ""]
"""Which values are bold; empty: none, the number says nothing of good or bad."""


@dataclass(frozen=True)
class Verdicts:
    """What the oracle says: the value is the mean over seeds of each seed's `part` over `whole`, a vote a seed, as both
    papers have it."""

    part: str
    """SQL over an episode's row, to be summed; null: the row does not say."""
    whole: str
    percent: bool = True
    """Else the value is the sum of `part`."""
    interval: bool = False
    """Whether one over episodes is given: where an episode counts once."""
    better: Better = "higher"
    decimals: int = 1
    facts: bool = False

    @property
    def unit(self) -> str:
        return "percent" if self.percent else "count"


@dataclass(frozen=True)
class Ratio:
    """What a method's rows say of itself: the sum of `part` over the sum of `whole`, both over the episodes of all seeds."""

    part: str
    """SQL over an episode's row, to be summed; null: the row does not say."""
    whole: str
    parts: str
    """What `part` counts, for a reader."""
    wholes: str
    unit: str
    better: Better
    share: bool = False
    """Whether each of `part` is one of `whole`: the value is a percentage."""
    left_out: str = ""
    """SQL over an episode's row: what would have been in `whole` if it could be judged."""
    interval: bool = True
    """Whether one is meant: not for what an environment sets."""
    decimals: int = 1
    facts: bool = True
    """Whether `part` and `whole` need the facts of an episode (`Rows.with_facts`), which are read for those that ask."""


@dataclass(frozen=True)
class Quantile:
    """The value below which a part of `values` lie, those of all episodes and seeds together, interpolated."""

    values: str
    """SQL over an episode's row: a list; null: the row does not say."""
    at: float
    things: str
    """What the values are of, for a reader."""
    unit: str
    better: Better = "lower"
    decimals: int = 2
    facts: bool = True


Measure = Verdicts | Ratio | Quantile

_SUCCESS = "(status = 'success')::INT"


def _per_subtask(part: str, parts: str) -> Ratio:
    """Over all subtasks of the tasks, done or not: HiMe's Table 5 has "the average number of Planner invocations per subtask",
    and its flat baseline's numbers are one call in about 45 control steps if all subtasks count."""
    return Ratio(part, "subtasks", parts, "subtasks", "calls", "lower")


def _of_memory(hit: str, words: str) -> Ratio:
    """Over the subtasks that take something from memory (HiMe, Table 2; how a hit is judged: `methods.hime.scores`)."""
    return Ratio(
        f"facts.memory.{hit}",
        "facts.memory.needed",
        words,
        "subtasks that took memory",
        "percent",
        "higher",
        share=True,
    )


def _of_sentry(missed: Literal["fp", "fn"], each: Literal["checks", "subtasks"]) -> Ratio:
    """Precision counts what was called done (missed: fp), recall what is done (missed: fn); HiMe, Figure 7, `done` positive."""
    counts = f"facts.sentry.{each}"
    whole = f"{each} called done" if missed == "fp" else f"{each} that were done"
    return Ratio(
        f"{counts}.tp",
        f"{counts}.tp + {counts}.{missed}",
        "rightly called done",
        whole,
        "percent",
        "higher",
        share=True,
        left_out=f"{counts}.unknown",
    )


def _latency(at: float) -> Quantile:
    """Seconds from the question to the answer of a whole planner call, all its requests together (HiMe, Table 11). A model
    that says no time, as `rules`, has none: its zeros are no latency."""
    timed = "CASE WHEN list_max(facts.planner_seconds) > 0 THEN facts.planner_seconds END"
    return Quantile(timed, at, "planner calls", "seconds")


MEASURES: Mapping[Metric, Measure] = {
    "success_rate": Verdicts(_SUCCESS, "1", interval=True),
    "successes": Verdicts(_SUCCESS, "1", percent=False),
    "task_progress": Verdicts("subtasks_done", "subtasks"),
    "subtasks": Ratio("subtasks", "1", "subtasks", "episodes", "subtasks", "", interval=False, facts=False),
    "planner_calls_per_subtask": _per_subtask("facts.planner_calls", "planner calls"),
    "planner_requests_per_subtask": _per_subtask("facts.planner_requests", "planner requests"),
    "sentry_calls_per_subtask": _per_subtask("facts.sentry_checks", "Sentry calls"),
    "memory_hit_rate": _of_memory("in_store", "all in the store"),
    "memory_retrieved_rate": _of_memory("retrieved", "all retrieved"),
    # HiMe's Table 10 says "average", not when: after the last planner call of an episode, or over all calls.
    "memory_size": Ratio("facts.memory_sizes[-1]", "1", "records", "episodes", "records", ""),
    "memory_size_over_calls": Ratio(
        "list_sum(facts.memory_sizes)", "len(facts.memory_sizes)", "records", "planner calls", "records", ""
    ),
    "precision": _of_sentry("fp", "checks"),
    "recall": _of_sentry("fn", "checks"),
    "precision_per_subtask": _of_sentry("fp", "subtasks"),
    "recall_per_subtask": _of_sentry("fn", "subtasks"),
    "latency_p50": _latency(0.5),
    "latency_p90": _latency(0.9),
    "latency_p99": _latency(0.99),
    "completion_tokens": Ratio(
        "list_sum(facts.planner_tokens)",
        "len(facts.planner_tokens)",
        "tokens",
        "planner calls",
        "tokens",
        "lower",
    ),
}
