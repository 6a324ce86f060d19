"""The comparison as a W&B report: tables of the rows, and plots of the runs that the tracker made of them. It is built
and checked without a network; saving it takes a login."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.report import comparison, run_sets
from analysis.report.comparison import Table, World
from analysis.report.run_sets import RunSet
from analysis.rows import Rows
from analysis.tables import markdown
from harness.failures import UsageError
from harness.trackers.figures import RATE
from harness.trackers.wandb_runs import NUMBER

FILE = "wandb_report.json"
LONGEST_TITLE = 128
ACROSS, WIDTH, HEIGHT = 3, 8, 6
"""Panels side by side on the 24 columns of a grid, and their size."""


@dataclass(frozen=True)
class Address:
    """Where a report belongs: `entity` is empty until it is known whose account it is."""

    entity: str
    project: str


@dataclass(frozen=True)
class Built:
    """A report that was checked, as wandb-workspaces has it and as it would be saved."""

    experiment: Path
    report: Any
    saved: dict[str, Any]
    groups: Sequence[str]
    """Of the runs that it shows."""


def build(experiment: Path, rows: Rows, address: Address) -> Built:
    """Build and check the report. Its run sets name no project, which is the report's own: one that they name is looked
    up, for each of them again."""
    import wandb_workspaces.reports.v2 as wr

    worlds, cells = comparison.compare(rows), run_sets.tracked(rows, experiment)
    name = experiment.resolve().name
    blocks: list[Any] = [wr.P(_about(name, rows))]
    notes = [*rows.notes, *_notes(rows, worlds)]
    if notes:
        blocks.append(wr.UnorderedList(items=notes))
    blocks.append(wr.TableOfContents())
    for world in worlds:
        blocks += _world(wr, world, run_sets.run_sets(world, cells))
    report = wr.Report(
        project=address.project,
        entity=address.entity,
        title=f"{name}: methods compared"[:LONGEST_TITLE],
        blocks=blocks,
        width="fluid",
    )
    saved = report._to_model().model_dump(mode="json", by_alias=True, exclude_none=True)
    run_sets.check(saved["spec"], worlds, cells)
    return Built(experiment, report, saved, sorted({cell.experiment for cell in cells.values()}))


def write(built: Built) -> Path:
    """Write what would be saved into the experiment's folder. Returns the file."""
    target = built.experiment / FILE
    target.write_text(json.dumps(built.saved, indent=1) + "\n", encoding="utf-8")
    return target


def logged_in() -> bool:
    """Whether there is an account to save to; nobody is asked for a key."""
    import wandb

    if os.environ.get("WANDB_MODE", "online") != "online":
        return False
    return bool(wandb.login(prompt=False, verify=False))


def save(built: Built) -> str:
    """Save it as a new report: one that is there may have been edited. Returns its address in the browser. Raises
    `UsageError` when none of the runs is there, and what wandb raises."""
    import wandb

    api, report = wandb.Api(), built.report
    report.entity = report.entity or api.default_entity
    where = f"{report.entity}/{report.project}"
    if not len(api.runs(where, filters={"group": {"$in": built.groups}}, per_page=1)):
        raise UsageError(
            f"Not saved: {where} has no run of {', '.join(built.groups)}. Bring them there first: python -m harness track "
            f"{built.experiment} --to wandb project={report.project}, or `wandb sync` for runs of mode=offline."
        )
    report.save()
    return str(report.url)


def _about(name: str, rows: Rows) -> str:
    codes = ", ".join(code for (code,) in rows.query("SELECT DISTINCT code FROM rows ORDER BY code"))
    return (
        f"Experiment {name}, played with the code {codes}. The tables are of its rows when this report was made, over "
        "all seeds, with exact intervals (Clopper and Pearson). The plots are of the runs as they are now: a run is "
        "one seed, a bar the mean over runs. An error is in no rate."
    )


def _notes(rows: Rows, worlds: Sequence[World]) -> Iterator[str]:
    if rows.torn:
        yield f"{rows.torn} rows were cut off by a kill and are left out."
    for world in worlds:
        for contender in world.contenders:
            if contender.line.errors or contender.line.unplayed:
                yield (
                    f"{contender.name} on {world.env}: {contender.line.errors} errors, {contender.line.unplayed} "
                    "episodes not played."
                )


def _world(wr: Any, world: World, sets: Sequence[RunSet]) -> list[Any]:
    def grid(panels: Sequence[Any], merged: bool = False) -> Any:
        """`merged`: the runs of a set are one bar."""
        groups = ["JobType"] if merged else []
        found = [wr.Runset(name=each.name, filters=each.filters, groupby=groups) for each in sets]
        return wr.PanelGrid(runsets=found, panels=_laid_out(wr, panels))

    runs = sum(len(contender.cells) for contender in world.contenders)
    found = [
        wr.H1(world.env),
        wr.H2("Success"),
        _table(wr, comparison.methods(world)),
        grid([_bars(wr, "Success rate", ["success_rate"], len(sets))], merged=True),
        *_pairs(wr, world),
        wr.H2("Tasks"),
        _table(wr, comparison.tasks(world)),
        grid(
            [_bars(wr, task, [f"tasks/{task}/success_rate"], len(sets)) for task in world.tasks], merged=True
        ),
        wr.H2("Cost against success"),
        _table(wr, comparison.costs(world)),
        grid(
            [
                wr.ScatterPlot(title=f"Success rate against {name}", x=key, y="success_rate", range_y=(0, 1))
                for key, name in _costs(world)
            ]
        ),
    ]
    if len(sets) > 1:
        found += [
            wr.H2("Configs"),
            _table(wr, comparison.differences(world)),
            grid([wr.RunComparer(diff_only=True)]),
        ]
    found += [
        wr.H2("Runs"),
        grid(
            [
                _bars(
                    wr,
                    "95 % interval of each run",
                    ["success_rate_low", "success_rate", "success_rate_high"],
                    3 * runs,
                ),
                wr.LinePlot(
                    title="Success rate so far", x=NUMBER, y=[RATE], range_y=(0, 1), max_runs_to_show=runs
                ),
            ]
        ),
    ]
    return found


def _pairs(wr: Any, world: World) -> list[Any]:
    if not world.pairs.comparisons:
        return []
    letters = comparison.letters(world)
    return [_table(wr, letters), wr.P(comparison.LETTERS), wr.UnorderedList(items=world.pairs.words())]


def _costs(world: World) -> Iterator[tuple[str, str]]:
    """Of what a run's summary has, what says something: a price that nobody knows, or of nothing, does not."""
    if any(contender.line.cost_usd for contender in world.contenders):
        yield "cost_usd", "cost, USD"
    yield "prompt_tokens", "tokens of prompts"
    yield "seconds_median", "seconds of an episode"


def _bars(wr: Any, title: str, metrics: Sequence[str], most: int) -> Any:
    return wr.BarPlot(
        title=title, metrics=list(metrics), range_x=(0, 1), max_runs_to_show=most, max_bars_to_show=most
    )


def _laid_out(wr: Any, panels: Sequence[Any]) -> list[Any]:
    """In rows; one that is alone takes the width."""
    for i, panel in enumerate(panels):
        x, y = WIDTH * (i % ACROSS), HEIGHT * (i // ACROSS)
        panel.layout = wr.Layout(x=x, y=y, w=WIDTH if len(panels) > 1 else WIDTH * ACROSS, h=HEIGHT)
    return list(panels)


def _table(wr: Any, table: Table) -> Any:
    return wr.MarkdownBlock(markdown.grid(table.heads, table.rows, table.words))
