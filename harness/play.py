"""Plays one episode and makes its row. Runs in a worker (or in the parent with `run.workers=0`)."""

from __future__ import annotations

import platform
import sys
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from harness import __version__
from harness.cells import Cell
from harness.chains import play_chain
from harness.chat.budget import EpisodeGuard
from harness.chat.models import OpenModels
from harness.episode import Episode, events_of
from harness.failures import HarnessError, MethodFailure
from harness.protocols import Environment, EnvironmentConfig, Method, Sampling, Task
from harness.recording import Recorder
from harness.records import VERDICTS, EpisodeKey
from harness.seeding import Seeds
from harness.store import Row, read_cell
from harness.tracing import Trace

VOLATILE = frozenset(
    {"started", "timings", "machine", "attempt", "code", "versions", "trace", "video", "spent"}
)
"""Keys of a row that may differ between two runs of the same episode."""
MODEL_CHOICE = frozenset({"cell", "llm"})
"""Keys of a row that name the config of the chat models: `llm=replay` for an episode that was recorded with another."""


@dataclass
class CellRuntime:
    """What a worker keeps of a cell between its episodes."""

    cell: Cell
    folder: Path
    code: str
    hang_file: Path | None = None
    models: OpenModels = field(default_factory=OpenModels, repr=False)
    """Shared by the cells of a process."""

    @cached_property
    def method(self) -> Method:
        method: Method = self.cell.component("method")
        return method

    @cached_property
    def environment(self) -> EnvironmentConfig:
        environment: EnvironmentConfig = self.cell.component("env")
        return environment

    @cached_property
    def tasks(self) -> Mapping[str, Task]:
        return {task.name: task for task in self.environment.suite()}

    @cached_property
    def recorder(self) -> Recorder:
        return Recorder(self.folder, **self.cell.config["record"])

    @cached_property
    def sandbox(self) -> Any:
        from harness.sandbox import Limits, Sandbox

        return Sandbox(Limits(**self.cell.config["sandbox"]), hang_file=self.hang_file)

    @cached_property
    def budget(self) -> EpisodeGuard:
        return EpisodeGuard.of(self.cell.config["budget"])

    def history(self) -> list[Row]:
        """Rows of this cell that have a verdict, in the order in which they were written."""
        return [row for row in read_cell(self.folder).values() if row["status"] in VERDICTS]

    def close(self) -> None:
        self.models.close()


def play(runtime: CellRuntime, env: Environment, key: EpisodeKey, attempt: int) -> Row:
    """Play an episode to its row. Never raises for what happens inside it, Ctrl-C excepted."""
    cell, recorder = runtime.cell, runtime.recorder
    recorder.forget(key)
    trace = Trace(recorder.trace_path(key))
    episode = Episode(
        key=key,
        task=runtime.tasks[key.task],
        env=env,
        seeds=Seeds(cell.env, key.task, key.scene, cell.seed),
        models=runtime.models.of(cell, key),
        sandbox=runtime.sandbox,
        trace=trace,
        sampling=Sampling(**cell.config["sampling"]),
        budget=runtime.budget,
        history=runtime.history,
    )
    status, kind, reason = "error", "bug", ""
    started, clock, cpu = time.time(), time.monotonic(), time.process_time()
    with recorder.filming(env, key) as film:
        try:
            trace("episode", method=cell.method, env=cell.env, key=str(key), seed=cell.seed)
            episode.observers.append(recorder.observer(env, key))
            if episode.task.sentences > 1:
                play_chain(runtime.method, episode)
            else:
                runtime.method.play(episode)
            status, kind, reason = verdict_of(episode)
        except MethodFailure as failure:
            status, kind, reason = "failure", failure.kind, str(failure)
        except HarnessError as error:
            status, kind, reason = "error", error.kind, f"{type(error).__name__}: {error}"
            trace("error", traceback=traceback.format_exc())
        except Exception as error:
            status, kind, reason = "error", "bug", f"{type(error).__name__}: {error}"
            trace("error", traceback=traceback.format_exc())
        finally:
            film.keep = recorder.wants_video(status)
    row = blank_row(cell, key, episode.instruction, runtime.code, attempt)
    trials = [dict(vars(trial)) for trial in episode.trials]  # `asdict` would copy what is dropped here
    usage = dict(vars(episode.usage))
    last = episode.trials[-1] if episode.trials else None
    row.update(
        status=status,
        failure=kind if status == "failure" else None,
        error=kind if status == "error" else None,
        reason=reason,
        state_hash=last.state_hash if last else "",
        trials=trials,
        trial_count=len(trials),
        subtasks_done=max((t.subtasks_done for t in episode.trials), default=0),
        subtasks=last.subtasks if last else 1,
        steps=sum(t.steps for t in episode.trials),
        events=dict(events_of(episode.trials)),
        usage=usage,
        spent=dict(vars(episode.spent)),
        models=sorted(episode.served),
        versions=versions(env),
        started=started,
        timings={
            "seconds": round(time.monotonic() - clock, 4),
            "cpu_seconds": round(time.process_time() - cpu, 4),
            "chat_seconds": round(usage.pop("seconds"), 4),
            "trials": [trial.pop("seconds") for trial in trials],
        },
        trace=recorder.relative(trace.written),
        video=recorder.relative(film.kept),
    )
    trace("episode_end", status=status, kind=kind, reason=reason)
    trace.close()
    return row


def verdict_of(episode: Episode) -> tuple[str, str, str]:
    """Status, kind and reason from the trials. Success is any trial's; a failure is the last one's."""
    if not episode.trials:
        return "error", "bug", "the method returned without playing a trial"
    if any(trial.success for trial in episode.trials):
        return "success", "", ""
    last = episode.trials[-1]
    return "failure", last.failure or "goal", last.reason


def blank_row(cell: Cell, key: EpisodeKey, instruction: str, code: str, attempt: int) -> Row:
    """A row that says which episode it is and nothing else yet; counts are zero, never guessed."""
    return {
        "method": cell.method,
        "env": cell.env,
        "task": key.task,
        "instruction": instruction,
        "scene": key.scene,
        "seed": cell.seed,
        "status": "error",
        "failure": None,
        "error": None,
        "reason": "",
        "episode": str(key),
        "instruction_index": key.instruction,
        "cell": cell.identity,
        "env_config": cell.env_identity,
        "llm": cell.choices.get("llm", ""),
        "embedder": cell.choices.get("embedder", ""),
        "models": [],
        "state_hash": "",
        "trials": [],
        "trial_count": 0,
        "subtasks_done": 0,
        "subtasks": 1,
        "steps": 0,
        "events": {},
        "usage": {},
        "spent": {},
        "attempt": attempt,
        "code": code,
        "versions": {},
        "machine": platform.node(),
        "started": time.time(),
        "timings": {},
        "trace": None,
        "video": None,
    }


def comparable(row: Row) -> Row:
    """A row without what may differ between two runs of the same episode (times, machine, paths)."""
    return {key: value for key, value in row.items() if key not in VOLATILE}


def comparable_to_recording(row: Row) -> Row:
    """A row as a replay of its episode has it too: also without the name of the model's config."""
    return {key: value for key, value in comparable(row).items() if key not in MODEL_CHOICE}


def versions(env: Environment) -> dict[str, str]:
    """What the numbers depend on: this package, Python, NumPy where it is used, and what the environment
    says of its simulator and renderer."""
    return {**_base_versions(), **dict(env.info())}


@cache
def _base_versions() -> dict[str, str]:
    found = {"engram": __version__, "python": platform.python_version()}
    if "numpy" in sys.modules:
        found["numpy"] = sys.modules["numpy"].__version__
    return found
