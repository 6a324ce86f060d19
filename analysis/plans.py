"""Plans side by side (MTP, Table III): what each method's planner had the robot do on one scene of each task, step by step,
as the traces tell it. The scene is named by the item before anything is played, so that nobody picks one by what came of
it; nothing of the paper's own plans is in here."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.items import Group, Item

if TYPE_CHECKING:
    from analysis.rows import Rows
    from analysis.tables.entries import Computed


@dataclass(frozen=True)
class Plans(Item):
    """An item whose entries are plans: its rows are methods, its columns tasks. Its numbers are said beside them."""

    scene: int = 0
    """Of each task, with the first of its instructions and the smallest seed that was played."""


@dataclass(frozen=True)
class Remembered:
    """What a method was shown of its memory for a trial."""

    rank: int
    """From 1 on; 1 is the most similar."""
    environment: str = ""
    """Empty, as the rest is: the memory held no record of that rank."""
    task: str = ""
    instruction: str = ""
    score: float | None = None

    def words(self) -> str:
        if self.score is None:
            return f"nothing, it holds no record of rank {self.rank}"
        return f"{self.environment}, {self.task}: {self.instruction} (rank {self.rank}, similarity {self.score:.2f})"


@dataclass(frozen=True)
class Plan:
    """Of one method on one scene: of the trial that succeeded, else of the last one."""

    status: str = ""
    """Empty: not played."""
    kind: str = ""
    """Of the failure or the error."""
    steps: tuple[str, ...] = ()
    """The planner's calls in the order in which they were executed, as code."""
    remembered: Remembered | None = None
    trial: int = 0
    """Counted from 1."""
    trials: int = 0
    problem: str = ""
    """Why there are no steps."""
    successes: int = 0
    """Of all episodes of this task that have a verdict: other scenes, seeds and instructions, too."""
    episodes: int = 0

    def outcome(self) -> str:
        """In words; empty for an episode that was not played."""
        if not self.status:
            return ""
        kind = f" ({self.kind})" if self.kind else ""
        trial = f" in trial {self.trial} of {self.trials}" if self.trial else ""
        return (
            f"{self.status}{trial}{kind}; {self.successes} of {self.episodes} episodes of this task succeeded"
        )


@dataclass(frozen=True)
class Task:
    label: str
    instruction: str
    plans: tuple[Plan, ...]
    """One a method."""


@dataclass(frozen=True)
class SideBySide:
    """An item with its plans, as text that is not escaped yet."""

    name: str
    title: str
    scene: int
    seed: int
    methods: tuple[str, ...]
    tasks: tuple[Task, ...]
    notes: tuple[str, ...]


def side_by_side(item: Plans, rows: Rows, where: Mapping[str, str] = {}) -> SideBySide:
    """Read an item's plans from the traces of its cells. `where` and what is raised are as in `entries.compute`."""
    from analysis.tables.entries import compute
    from analysis.tables.layout import conditions

    whole = compute(item, rows, where)
    seed = min((cell.seed for cell in whole.cells), default=0)
    tasks, notes = [], []
    for column in item.columns:
        found = [_found(item, row, column, rows, where, seed) for row in item.rows]
        plans = tuple(plan for plan, _ in found)
        episodes = [episode for _, episode in found if episode]
        instructions = list(dict.fromkeys(str(episode["instruction"]) for episode in episodes))
        tasks.append(Task(column.label, " / ".join(instructions), plans))
        if len({episode["state_hash"] for episode in episodes}) > 1:
            notes.append(f"{column.label}: the methods did not start from the same state.")
    return SideBySide(
        item.name,
        item.heading,
        item.scene,
        seed,
        tuple(row.label for row in item.rows),
        tuple(tasks),
        (
            *conditions(whole),
            f"Of each task scene {item.scene} with seed {seed} is shown, whatever came of it: the calls of the planner in "
            "the order in which they were executed, in the trial that succeeded or else in the last one. Where that is not "
            "the first trial, the record of the memory that it was made with is named.",
            *notes,
            *whole.notes,
        ),
    )


def _found(
    item: Plans, row: Group, column: Group, rows: Rows, where: Mapping[str, str], seed: int
) -> tuple[Plan, dict[str, Any] | None]:
    """A method's plan for a task, and the row of the episode if it was played."""
    from analysis.tables.entries import compute

    one = compute(replace(item, rows=[row], columns=[column], comparisons=[]), rows, where)
    entry = one.entries[row.label, column.label]
    episode = _episode(item, column, one, rows, seed)
    if episode is None:
        return Plan(problem="not played"), None
    folder = rows.cells[episode["cell"]].folder
    kind = episode["error"] if episode["status"] == "error" else episode["failure"]
    plan = Plan(
        episode["status"],
        kind or "",
        trials=episode["trial_count"] or 0,
        successes=entry.successes,
        episodes=entry.episodes,
    )
    if plan.status == "error":
        return replace(plan, problem="it ended in an error and is played again at the next start"), episode
    if episode["trace"] is None:
        return replace(plan, problem="no trace was recorded (record=none)"), episode
    try:
        return _read(plan, folder / episode["trace"]), episode
    except FileNotFoundError:
        return replace(plan, problem=f"{episode['trace']} is not there any more"), episode
    except (ValueError, KeyError) as error:
        return replace(plan, problem=f"{episode['trace']} is damaged: {error}"), episode


_COLUMNS = ("cell", "status", "failure", "error", "instruction", "trace", "trial_count", "state_hash")


def _episode(item: Plans, column: Group, computed: Computed, rows: Rows, seed: int) -> dict[str, Any] | None:
    cells = [cell.identity for cell in computed.cells]
    found = rows.query(
        f"SELECT {', '.join(_COLUMNS)} FROM rows WHERE cell IN (SELECT unnest(?)) AND task = ? AND scene = ? "
        "AND instruction_index = 0 AND seed = ?",
        cells,
        column.task,
        item.scene,
        seed,
    )
    return dict(zip(_COLUMNS, found[0], strict=True)) if found else None


@dataclass
class _Trial:
    steps: list[str]
    remembered: Remembered | None = None
    success: bool = False


def _read(plan: Plan, path: Path) -> Plan:
    """The plan with what its trace tells of it. Raises `OSError`, and `ValueError` or `KeyError` for a damaged trace."""
    from harness import tracing

    trials = _trials(tracing.read(path))
    if not trials:
        return replace(plan, problem="the trace holds no trial")
    number = next((i for i, trial in enumerate(trials, 1) if trial.success), len(trials))
    chosen = trials[number - 1]
    return replace(
        plan,
        steps=tuple(chosen.steps),
        remembered=chosen.remembered,
        trial=number,
        problem="" if chosen.steps else "no step was executed",
    )


def _trials(events: Iterable[Mapping[str, Any]]) -> list[_Trial]:
    trials: list[_Trial] = []
    for event in events:
        if event["event"] == "trial":
            trials.append(_Trial([]))
        elif not trials:
            continue
        elif event["event"] == "call" and event["by"] == "planner":
            trials[-1].steps.append(f"{event['name']}({', '.join(map(_argument, event['arguments']))})")
        elif event["event"] == "retrieve":
            trials[-1].remembered = _remembered(event["rank"], event["hits"])
        elif event["event"] == "trial_end":
            trials[-1].success = event["success"]
    return trials


def _remembered(index: int, hits: Sequence[Mapping[str, Any]]) -> Remembered:
    if index >= len(hits):
        return Remembered(index + 1)
    hit = hits[index]
    return Remembered(index + 1, hit["environment"], hit["task"], hit["instruction"], hit["score"])


def _argument(text: str) -> str:
    """An argument as programs have it; a sentence in double quotes, as the planner's examples write it."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):  # shortened, or no literal
        return text
    if not isinstance(value, str):
        return text
    return json.dumps(value, ensure_ascii=False).encode(errors="backslashreplace").decode()  # half surrogates
