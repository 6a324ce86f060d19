"""The runs of an experiment as its W&B tracker names them, and filters that find those of one method there. It needs no
wandb: what the filters find is checked against the cells before anything is sent."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.report.comparison import Contender, World
from analysis.rows import Rows
from harness.failures import HarnessError, UsageError
from harness.store import CELL
from harness.trackers import ledger
from harness.trackers.mirror import describe
from harness.trackers.protocol import TrackedCell
from harness.trackers.wandb_runs import WandbRuns, tags_of

Fields = Mapping[str, object]
"""What a run has: `Group`, `JobType`, `ID` and `Tags`, by the names of wandb-workspaces."""

BACKEND = {"group": "Group", "jobType": "JobType", "name": "ID", "tags": "Tags"}
"""How they are called in a saved filter."""


@dataclass(frozen=True)
class RunSet:
    """Runs of one contender: all that the tracker puts under these names, now and when seeds are added."""

    name: str
    group: str
    method: str
    env_tag: str
    runs: tuple[str, ...] = ()
    """Their ids, only where the names do not tell a contender from another."""

    @property
    def filters(self) -> str:
        """In the language of wandb-workspaces."""
        parts = [
            f'Metric("Group") == {_quoted(self.group)}',
            f'Metric("JobType") == {_quoted(self.method)}',
            f'Metric("Tags") in [{_quoted(self.env_tag)}]',
        ]
        if self.runs:
            parts.append(f'Metric("ID") in [{", ".join(map(_quoted, self.runs))}]')
        return " and ".join(parts)


def tracked(rows: Rows, root: Path) -> dict[str, TrackedCell]:
    """The experiment's cells as the tracker sees them, by identity."""
    mark = ledger.folder_mark(root)
    return {identity: describe(cell.folder / CELL, mark) for identity, cell in rows.cells.items()}


def run_sets(world: World, cells: Mapping[str, TrackedCell]) -> list[RunSet]:
    """One for each contender. Raises `UsageError` when its cells were played under several names."""
    methods = [contender.line.method for contender in world.contenders]
    return [
        _run_set(contender, cells, alone=methods.count(contender.line.method) == 1)
        for contender in world.contenders
    ]


def _run_set(contender: Contender, cells: Mapping[str, TrackedCell], alone: bool) -> RunSet:
    mine = [cells[cell.identity] for cell in contender.cells]
    groups = sorted({cell.experiment for cell in mine})
    if len(groups) > 1:
        raise UsageError(
            f"{contender.name} was played as {' and '.join(groups)}: W&B has them in two groups."
        )
    return RunSet(
        name=contender.name,
        group=groups[0],
        method=contender.line.method,
        env_tag=_tag(mine[0], "env"),
        runs=() if alone else tuple(cell.run for cell in mine),
    )


def _tag(cell: TrackedCell, key: str) -> str:
    return next(tag for tag in tags_of(cell) if tag.startswith(f"{key}:"))


def place(rows: Rows, entity: str | None = None, project: str | None = None) -> tuple[str, str]:
    """Entity (empty: the account's default) and project of the runs: what is given, else what the cells were tracked
    with, else the tracker's default. Raises `UsageError` when the cells name several."""
    target = f"{WandbRuns.__module__}.{WandbRuns.__qualname__}"
    nodes = [cell.config.get("tracker") or {} for cell in rows.cells.values()]
    mine = [node for node in nodes if node.get("_target_") == target]
    entities = {str(node.get("entity") or "") for node in mine} or {""}
    projects = {str(node.get("project", WandbRuns.project)) for node in mine} or {WandbRuns.project}
    if entity is None and len(entities) > 1:
        raise UsageError(
            f"The cells went to several entities ({', '.join(sorted(entities))}); name one: --entity."
        )
    if project is None and len(projects) > 1:
        raise UsageError(
            f"The cells went to several projects ({', '.join(sorted(projects))}); name one: --project."
        )
    return entities.pop() if entity is None else entity, projects.pop() if project is None else project


def check(specification: Mapping[str, Any], worlds: Sequence[World], cells: Mapping[str, TrackedCell]) -> int:
    """Whether each run set of a report finds the runs of its contender and no other's, by the filters as they are
    saved. Returns how many there are; raises `HarnessError`."""
    wanted = {
        (world.env, contender.name): {cells[cell.identity].run for cell in contender.cells}
        for world in worlds
        for contender in world.contenders
    }
    env, checked = "", 0
    for block in specification["blocks"]:
        if block["type"] == "heading" and block["level"] == 1:
            env = "".join(each["text"] for each in block["children"])
        if block["type"] != "panel-grid":
            continue
        for saved in block["metadata"]["runSets"]:
            found = {cell.run for cell in cells.values() if finds(saved["filters"], _fields(cell))}
            if found != wanted[env, saved["name"]]:
                raise HarnessError(
                    f"The run set `{saved['name']}` of {env} would show the runs {sorted(found)}. This is a bug of the "
                    "report."
                )
            checked += 1
    return checked


def finds(filters: Mapping[str, Any], fields: Fields) -> bool:
    """Whether a saved filter of conditions that all have to hold lets a run through."""
    return all(_holds(condition, fields) for condition in filters["filters"])


def _holds(condition: Mapping[str, Any], fields: Fields) -> bool:
    has = fields[BACKEND[condition["key"]["name"]]]
    wanted = condition["value"] if condition["op"] == "IN" else [condition["value"]]
    return any(value in wanted for value in has) if isinstance(has, list) else has in wanted


def _fields(cell: TrackedCell) -> Fields:
    return {"Group": cell.experiment, "JobType": cell.method, "ID": cell.run, "Tags": tags_of(cell)}


def _quoted(text: str) -> str:
    """A Python string in letters and digits: wandb-workspaces rewrites `=` and `<` also between quotes."""
    escaped = re.sub(r"[^A-Za-z0-9_.:-]", lambda match: f"\\U{ord(match[0]):08x}", text)
    return f'"{escaped}"'
