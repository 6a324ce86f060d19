"""Makes a code memory out of recorded episodes: the planner's programs of trials that succeeded."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness import store
from methods.code_memory.records import Record, normalised, save

PROJECT = Path(__file__).resolve().parent.parent.parent
SHIPPED_FROM = ("method=retry,self_reflection", "env=tabletop,playtable", "seed=0")
"""The sweep behind the memories that ship: each method on each embedded world."""


def collect(experiments: Sequence[Path], environment: str | None = None) -> list[Record]:
    """One record for each distinct program of an environment, task and instruction, sorted; `environment`
    leaves the others out. Raises `UsageError` for a folder that is no experiment."""
    found: dict[tuple[str, ...], Record] = {}
    for folder in experiments:
        for row in sorted(store.load(folder), key=_order):
            if environment not in (None, row["env"]):
                continue
            for record in successes(row, folder.name):
                key = (record.environment, record.task, record.instruction, normalised(record.code))
                found.setdefault(key, record)
    return [found[key] for key in sorted(found)]


def rebuild(folder: Path, out: Path) -> dict[str, int]:
    """Play the sweep behind the shipped memories in `folder` and write them to `out`; returns how many
    records each has. Raises `CalledProcessError` when the sweep does not finish."""
    command = [sys.executable, "run.py", "-m", *SHIPPED_FROM, f"hydra.sweep.dir={folder.resolve()}"]
    subprocess.run(command, cwd=PROJECT, check=True)
    counts = {}
    for environment in ("tabletop", "playtable"):
        records = collect([folder], environment)
        save(records, out / f"{environment}.jsonl")
        counts[environment] = len(records)
    return counts


def successes(row: Mapping[str, Any], experiment: str) -> Iterable[Record]:
    """The programs of an episode's trials that succeeded."""
    for index, trial in enumerate(row["trials"]):
        code = trial["facts"].get("planner_code")
        if trial["success"] and code:
            source = {
                "experiment": experiment,
                "method": row["method"],
                "model": ", ".join(row["models"]),
                "seed": row["seed"],
                "scene": row["scene"],
                "trial": index,
                "versions": {
                    name: row["versions"][name] for name in ("simulator", "mujoco") if name in row["versions"]
                },
            }
            yield Record(row["env"], row["task"], row["instruction"], code, source)


def _order(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Methods as they come, early seeds and scenes first: the record that is kept of equal ones."""
    return row["env"], row["task"], row["instruction"], row["method"], row["seed"], row["scene"]
