"""Checks before anything is spent: that the parts of each cell exist, fit each other and can run here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from harness.cells import Cell, check_name
from harness.chat import cache, roles
from harness.chat.budget import EpisodeGuard
from harness.components import suggest
from harness.failures import UsageError
from harness.protocols import Problem, Sampling
from harness.recording import Recorder
from harness.schema import RunConfig, SamplingConfig

GROUPS = ("method", "env", "embedder", "image_embedder", "tracker")


def check(cells: Sequence[Cell]) -> None:
    """Raise one `UsageError` that lists everything which keeps these cells from running."""
    found: dict[str, None] = dict.fromkeys(_unknown_roles(cells))
    for cell in cells:
        check_name(cell.config["name"])
        _check_values(cell.config)
        for line in _of_cell(cell):
            found.setdefault(line)
    if found:
        raise UsageError("This cannot run here:\n" + "\n".join(f"  - {line}" for line in found))


def probe(cells: Sequence[Cell]) -> None:
    """Ask each chat model one question, if its config can: that it is there is known before any simulator starts.
    Raise one `UsageError` that lists what keeps them from answering."""
    found: dict[str, list[str]] = {}
    for cell in cells:
        sampling = Sampling(**cell.config["sampling"])
        for where, config in cell.chat_models().items():
            asked = repr((config, sampling))
            if hasattr(config, "probe") and asked not in found:
                found[asked] = [f"{where}: {text(problem)}" for problem in config.probe(sampling)]
    if lines := [line for lines in found.values() for line in lines]:
        raise UsageError("A chat model cannot be used:\n" + "\n".join(f"  - {line}" for line in lines))


def _check_values(config: Mapping[str, Any]) -> None:
    """Raise `UsageError` for values that cannot be, which else a worker would meet, or nobody."""
    from harness.sandbox import Limits

    for key, number in _numbers(config):
        if not isfinite(number):
            raise UsageError(f"{key} is {number}; it has to be a number.")
    RunConfig(**config["run"])
    SamplingConfig(**config["sampling"])
    Limits(**config["sandbox"])
    Recorder(folder=Path(), **config["record"])


def _numbers(node: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    for key, value in node.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, f"{prefix}{key}.")
        elif isinstance(value, float):
            yield f"{prefix}{key}", value


def _of_cell(cell: Cell) -> list[str]:
    components = {group: cell.component(group) for group in GROUPS}
    lines = _of_chat(cell)
    for group in (
        "env",
        "embedder",
        "image_embedder",
    ):  # a tracker that cannot be used costs a warning, no more
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


def _of_chat(cell: Cell) -> list[str]:
    """What keeps the chat models of a cell, their cache and their budgets from working."""
    budget = EpisodeGuard.of(cell.config["budget"])  # refuses limits that are not above 0
    models = cell.chat_models()
    lines = []
    for where, config in models.items():
        name = f"llm={cell.choices['llm']}" if where == "llm" else where
        lines += [f"{name}: {text(problem)}" for problem in config.problems()]
        if budget.counts_money and hasattr(config, "is_priced") and not config.is_priced():
            lines.append(
                f"{name}: A budget counts USD, and this model has no known price. Give it one, or limit "
                "budget.tokens or budget.calls instead"
            )
    if any(roles.is_cached(config) for config in models.values()):
        lines += [text(problem) for problem in cache.problems(cell.config["cache"]["path"])]
    return lines


def _unknown_roles(cells: Sequence[Cell]) -> list[str]:
    """Roles with a model of their own that no method of a sweep asks for, where all methods say what they ask for."""
    methods = [cell.component("method") for cell in cells]
    if not all(hasattr(method, "roles") for method in methods):
        return []
    known = {role for method in methods for role in method.roles}
    named = {role for cell in cells for role in roles.entries(cell.config["llm"])}
    asking = ", ".join(sorted({cell.method for cell in cells}))
    return [
        f"llm.roles.{role}: nothing in method={asking} asks for this role. {suggest(role, known)}"
        for role in sorted(named - known)
    ]


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
