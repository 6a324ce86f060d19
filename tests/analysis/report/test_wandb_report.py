"""The W&B report's specification against the rows and against what the tracker writes; saving it to a server on
loopback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analysis import rows
from analysis.report import run_sets, wandb_report
from analysis.report.wandb_report import FILE, Address
from harness import store
from harness.cells import Cell
from harness.sweep import run_cells
from harness.trackers import figures
from tests.analysis.report.conftest import record, write_tabletop
from tests.analysis.tables.conftest import verdicts, write_cell
from tests.harness.conftest import make_cell
from tests.harness.trackers.conftest import WandbServer, own_wandb, wandb_server

pytest.importorskip("wandb_workspaces", reason="needs the extra wandb")

__all__ = ["make_cell", "own_wandb", "wandb_server"]
PROJECT = Path(__file__).resolve().parents[3]
PAGE = {"__typename": "PageInfo", "endCursor": None, "hasNextPage": False}


@pytest.fixture(autouse=True)
def _own_environment(own_wandb: None) -> None:
    pass


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    root = write_tabletop(tmp_path / "lab")
    write_cell(root, "voxposer", "playtable", 0, verdicts("+-"), name="it's a=b <1>")
    return root


def specification(root: Path) -> dict[str, Any]:
    path = wandb_report.write(wandb_report.build(root, rows.load([root]), Address("", "engram")))
    assert path == root / FILE
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def grids(saved: dict[str, Any]) -> list[dict[str, Any]]:
    return [block["metadata"] for block in saved["spec"]["blocks"] if block["type"] == "panel-grid"]


def panels(saved: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    found = [panel for grid in grids(saved) for panel in grid["panelBankSectionConfig"]["panels"]]
    return [panel["config"] for panel in found if panel["viewType"] == kind]


def headings(saved: dict[str, Any]) -> list[tuple[int, str]]:
    blocks = [block for block in saved["spec"]["blocks"] if block["type"] == "heading"]
    return [(block["level"], block["children"][0]["text"]) for block in blocks]


def table_with(saved: dict[str, Any], head: str) -> list[list[str]]:
    """The first table that has the head, without heads and rule."""
    texts = [block["content"] for block in saved["spec"]["blocks"] if block["type"] == "markdown-block"]
    lines = next(text for text in texts if head in text.splitlines()[0]).splitlines()
    return [line.strip("|").replace("\\", "").split(" |") for line in lines[2:]]


def test_an_environment_has_its_parts_in_order(lab: Path) -> None:
    saved = specification(lab)
    whole = ["Success", "Tasks", "Cost against success", "Configs", "Runs"]
    assert headings(saved) == [
        (1, "playtable"),
        *((2, part) for part in whole if part != "Configs"),  # one method: nothing to compare
        (1, "tabletop"),
        *((2, part) for part in whole),
    ]
    assert len(grids(saved)) == 4 + 5
    assert saved["displayName"] == "lab: methods compared"
    assert saved["project"] == {"name": "engram", "entityName": ""}
    assert [len(grid["runSets"]) for grid in grids(saved)] == [1] * 4 + [3] * 5
    assert len(panels(saved, "Run Comparer")) == 1


def test_every_pair_is_compared_and_has_letters(lab: Path) -> None:
    saved = specification(lab)
    assert sorted([text.strip() for text in row] for row in table_with(saved, "letters")) == [
        ["mtp memory=playtable", "a"],
        ["mtp memory=tabletop", "a"],
        ["retry", "a"],
    ]
    assert "mtp memory=playtable and retry cannot be told apart" in json.dumps(saved)


def test_run_sets_say_group_job_type_and_tag_as_the_tracker_wrote_them(lab: Path) -> None:
    saved = specification(lab)
    for grid in grids(saved)[4:]:
        named = {each["name"]: each["filters"]["filters"] for each in grid["runSets"]}
        assert [(f["key"], f["op"], f["value"]) for f in named["retry"]] == [
            ({"section": "run", "name": "group"}, "=", "it's a=b <1>"),
            ({"section": "run", "name": "jobType"}, "=", "retry"),
            ({"section": "run", "name": "tags"}, "IN", ["env:tabletop"]),
        ]
        assert {f.get("connector", "AND") for f in named["retry"]} == {"AND"}
        assert len(named["mtp memory=playtable"][3]["value"]) == 2
        assert len(named["mtp memory=tabletop"][3]["value"]) == 1
        assert named["mtp memory=tabletop"][3]["key"]["name"] == "name"  # W&B's word for a run's id


def test_numbers_are_those_of_the_rows(lab: Path) -> None:
    saved = specification(lab)
    (voxposer,) = table_with(saved, "95 %")
    assert [text.strip() for text in voxposer[:9]] == [
        "voxposer",
        "playtable",
        "",
        "rules-3",
        "1",
        "2",
        "50.0 %",
        "1 to 99",
        "0",
    ]
    notes = [block for block in saved["spec"]["blocks"] if block["type"] == "list"]
    assert "retry on tabletop: 1 errors, 0 episodes not played." in json.dumps(notes)


def test_a_price_is_shown_against_success_where_there_is_one(lab: Path) -> None:
    assert {plot["xAxis"] for plot in panels(specification(lab), "Scatter Plot")} == {
        "summary:prompt_tokens",
        "summary:seconds_median",
    }
    for cell in lab.glob("*-tabletop-*"):
        for episode in [row["episode"] for row in store.load(lab) if row["cell"] == cell.name]:
            usage = {"calls": 3, "prompt_tokens": 20, "completion_tokens": 5, "cost_usd": 0.5}
            record(cell, episode, usage=usage)
    costs = [plot["xAxis"] for plot in panels(specification(lab), "Scatter Plot")]
    assert costs.count("summary:cost_usd") == 1


def test_every_metric_is_one_that_the_tracker_wrote(tmp_path: Path, make_cell: Callable[..., Cell]) -> None:
    run_cells([make_cell(seed=seed, env={"scenes": 2}) for seed in (0, 1)], tmp_path)
    played = store.load(tmp_path)
    tally = figures.Tally()
    points = [figures.point(n, row, tally.add(row), tmp_path, "none") for n, row in enumerate(played)]
    summary = figures.summary(points, len(points))
    saved = specification(tmp_path)
    bars = [metric for plot in panels(saved, "Bar Chart") for metric in plot["metrics"]]
    assert set(bars) <= summary.keys()
    assert len(bars) == 1 + len({row["task"] for row in played}) + 3
    axes = [axis for plot in panels(saved, "Scatter Plot") for axis in (plot["xAxis"], plot["yAxis"])]
    assert {axis.removeprefix("summary:") for axis in axes} <= summary.keys()
    (line,) = panels(saved, "Run History Line Plot")
    assert set(line["metrics"]) <= points[0].metrics.keys()
    assert line["xAxis"] == "episode/number"


def test_what_is_written_is_a_report_to_the_package(lab: Path) -> None:
    from wandb_workspaces.reports.v2.interface import PanelGrid, Report
    from wandb_workspaces.reports.v2.internal import ReportViewspec

    report = Report._from_model(ReportViewspec.model_validate(specification(lab)))
    found = [block for block in report.blocks if isinstance(block, PanelGrid)]
    assert len(found) == 9
    assert found[4].runsets[2].groupby == ["run.JobType"]
    assert found[4].panels[0].metrics[0].name == "success_rate"


def report(root: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "analysis", "report", str(root), "--wandb", *options],
        cwd=PROJECT,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=1200,
    )


@pytest.mark.slow
def test_who_is_not_logged_in_has_the_specification_and_the_command(lab: Path) -> None:
    done = report(lab)
    assert done.returncode == 0, done.stderr
    assert f"{lab / FILE}: built and checked" in done.stdout
    assert "Not saved: you are not logged in to W&B. `wandb login`" in done.stderr
    assert (lab / FILE).is_file()
    assert not (lab / "report.html").exists()


@pytest.mark.slow
def test_offline_is_not_logged_in(lab: Path) -> None:
    done = report(lab, WANDB_MODE="offline", WANDB_API_KEY="k" * 40)
    assert done.returncode == 0
    assert "Not saved" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("runs", [0, 4])
def test_it_is_saved_where_its_runs_are(
    lab: Path, wandb_server: WandbServer, monkeypatch: pytest.MonkeyPatch, runs: int
) -> None:
    upserted: list[dict[str, Any]] = []
    others = wandb_server.graphql

    def graphql(operation: str, query: str, variables: dict[str, Any]) -> dict[str, Any]:
        if "query GetDefaultEntity" in query:
            return {"viewer": {"id": "1", "entity": "lab"}}
        if "query Runs(" in query:
            assert json.loads(variables["filters"]) == {"group": {"$in": ["it's a=b <1>"]}}
            page = {"edges": [], "pageInfo": PAGE}
            return {"project": {"internalId": "7", "runCount": runs, "readOnly": False, "runs": page}}
        if "query GetProjects" in query:
            return {"models": {"pageInfo": PAGE, "edges": [{"node": PROJECT_NODE}]}}
        if "mutation upsertView" in query:
            upserted.append(variables)
            project = {"id": "p", "name": "arms", "entityName": "lab"}
            view = {"id": "Vmlldzox", "name": "n", "displayName": "d", "description": "", "project": project}
            return {"upsertView": {"view": {**view, "spec": variables["spec"]}, "inserted": True}}
        return others(operation, query, variables)

    monkeypatch.setattr(wandb_server, "graphql", graphql)
    done = report(
        lab, "--project", "arms", WANDB_BASE_URL=wandb_server.url, WANDB_API_KEY="k" * 40, WANDB_SILENT="true"
    )
    if not runs:
        assert done.returncode == 2
        assert "lab/arms has no run of it's a=b <1>" in done.stderr
        assert upserted == []
        return
    assert done.returncode == 0, done.stderr
    assert "/lab/arms/reports/lab:-methods-compared--Vmlldzox" in done.stdout
    (sent,) = upserted
    assert (sent["entityName"], sent["projectName"], sent["type"]) == ("lab", "arms", "runs")
    found = rows.load([lab])
    worlds = wandb_report.comparison.compare(found)
    spec = json.loads(sent["spec"])
    assert run_sets.check(spec, worlds, run_sets.tracked(found, lab)) == 4 * 1 + 5 * 3


PROJECT_NODE = {
    "__typename": "Project",
    "id": "p",
    "name": "arms",
    "entityName": "lab",
    "createdAt": "2024-01-01T00:00:00",
    "isBenchmark": False,
    "user": None,
}


@pytest.mark.slow
def test_a_server_that_is_not_well_is_said(lab: Path, wandb_server: WandbServer) -> None:
    wandb_server.fault = 500
    done = report(lab, WANDB_BASE_URL=wandb_server.url, WANDB_API_KEY="k" * 40, WANDB_HTTP_TIMEOUT="5")
    assert done.returncode == 1
    assert "W&B could not save it" in done.stderr
    assert (lab / FILE).is_file()
