"""The rlbench package that is installed: where it is, which tasks it has, how many wordings they give. Its files are
looked at and nothing of it is imported, so this costs no simulator."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from harness.protocols import Task

NINE = (
    "basketball_in_hoop",
    "beat_the_buzz",
    "lamp_off",
    "open_drawer",
    "open_wine_bottle",
    "push_button",
    "put_rubbish_in_bin",
    "take_lid_off_saucepan",
    "take_umbrella_out_of_umbrella_stand",
)
"""The tasks of the papers."""
STEP_LIMIT = 3000
"""Simulation steps of 50 ms that a trial may take; RLBench itself has no limit."""


def folder(package: str = "rlbench") -> Path | None:
    """Where a package lies, or would be imported from."""
    spec = importlib.util.find_spec(package)
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    return Path(places[0]) if places else None


def task_names(rlbench: Path) -> Sequence[str]:
    """All tasks of the package, in the order of their names."""
    return sorted(path.stem for path in (rlbench / "tasks").glob("*.py") if path.stem != "__init__")


def suite(rlbench: Path, chosen: Sequence[str] | None) -> Sequence[Task]:
    """The nine tasks, and what else of the package is chosen."""
    known = task_names(rlbench)
    others = [name for name in chosen or () if name in known and name not in NINE]
    names = [name for name in NINE if name in known] + list(dict.fromkeys(others))
    return [task(rlbench, name) for name in names]


def task(rlbench: Path, name: str) -> Task:
    """A task of the package.

    RLBench words a task when its scene is up, so an instruction here is a brace that the reset fills: with the first
    wording, or with a paraphrase."""
    count = wordings(rlbench / "tasks" / f"{name}.py")
    return Task(name, tuple("{" + key + "}" for key in keys(count)), STEP_LIMIT)


def keys(count: int) -> Sequence[str]:
    """What the braces of so many wordings hold."""
    return ["instruction", *(f"paraphrase {index}" for index in range(1, count))]


@cache
def wordings(path: Path) -> int:
    """How many descriptions a task gives: the length of the list that its `init_episode` returns, of the shortest one
    where there are several, and 1 where it is put together otherwise."""
    lengths = [
        len(node.value.elts) if isinstance(node.value, ast.List) else 1
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef) and function.name == "init_episode"
        for node in ast.walk(function)
        if isinstance(node, ast.Return)
    ]
    return max(1, min(lengths, default=1))
