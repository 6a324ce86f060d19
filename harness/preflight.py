"""Checks before anything is spent: that the parts of each cell exist, fit each other and can run here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.cells import Cell, check_name
from harness.components import suggest
from harness.failures import UsageError
from harness.protocols import Problem
from harness.recording import Recorder

GROUPS = ("method", "env", "llm", "embedder", "image_embedder", "tracker")


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
    for group in GROUPS[1:]:
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
    return lines + _unknown_cameras(cell, components["env"], components["method"])


def _unknown_cameras(cell: Cell, env: Any, method: Any) -> list[str]:
    """Cameras that are asked for and that an environment which says what it has does not have."""
    if not hasattr(env, "cameras"):
        return []
    asked = [(f"method={cell.method}", camera) for camera in getattr(method, "cameras", ())]
    if cell.config["record"]["camera"] is not None:
        asked.append(("record.camera", cell.config["record"]["camera"]))
    return [
        f"{who} wants the camera `{camera}`, which env={cell.env} does not have. {suggest(camera, env.cameras())}"
        for who, camera in asked
        if camera not in env.cameras()
    ]


def text(problem: Problem) -> str:
    return f"{problem.what}. {problem.fix}"
