"""Checks before anything is spent: that the parts of each cell exist, fit each other and can run here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.cells import Cell, check_name
from harness.failures import UsageError
from harness.protocols import Problem
from harness.recording import Recorder

GROUPS = ("method", "env", "llm", "embedder", "tracker")


def check(cells: Sequence[Cell]) -> None:
    """Raise one `UsageError` that lists everything which keeps these cells from running."""
    found: dict[str, None] = {}
    for cell in cells:
        check_name(cell.config["name"])
        for line in _of_cell(cell):
            found.setdefault(line)
    if found:
        raise UsageError("This cannot run here:\n" + "\n".join(f"  - {line}" for line in found))


def _of_cell(cell: Cell) -> list[str]:
    components = {group: cell.component(group) for group in GROUPS}
    Recorder(folder=Path(), **cell.config["record"])  # refuses unknown values
    lines = []
    for group in ("env", "llm", "embedder", "tracker"):
        lines += [
            f"{group}={cell.choices[group]}: {text(problem)}" for problem in components[group].problems()
        ]
    if hasattr(components["method"], "problems"):
        lines += [f"method={cell.method}: {text(problem)}" for problem in components["method"].problems()]
    offered = components["env"].interfaces()
    for wanted in components["method"].requires():
        if not any(wanted in interface.__mro__ for interface in offered):
            lines.append(
                f"method={cell.method} needs an environment with {wanted.__name__}; env={cell.env} offers "
                f"{', '.join(interface.__name__ for interface in offered)}."
            )
    return lines


def text(problem: Problem) -> str:
    return f"{problem.what}. {problem.fix}"
