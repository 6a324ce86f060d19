"""A plan that worked at the table opens the drawer of the desk: the only thing that differs is the memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness import store

PROJECT = Path(__file__).resolve().parent.parent
WORDING = "pull the drawer open by its bar"


def play(folder: Path, memory: str) -> dict[str, Any]:
    command = [
        sys.executable,
        "run.py",
        "method=mtp",
        f"memory={memory}",
        "env=playtable",
        "env.instructions=all",
    ]
    command += ["env.tasks=[open_drawer]", "env.suite_of_50=false", f"hydra.run.dir={folder}"]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr
    (row,) = [row for row in store.load(folder) if row["instruction"] == WORDING]
    return row


@pytest.mark.slow
def test_a_tabletop_plan_changes_the_result_of_a_playtable_task(tmp_path: Path) -> None:
    without, given = play(tmp_path / "none", "none"), play(tmp_path / "tabletop", "tabletop")
    assert without["state_hash"] == given["state_hash"]
    assert without["trials"][0] == given["trials"][0]
    assert without["status"] == "failure"
    assert given["status"] == "success"

    second = given["trials"][1]["facts"]
    assert second["rank"] == 0
    assert second["retrieved"]["environment"] == "tabletop"
    assert second["retrieved"]["task"] == "open_drawer"
    # Retrieved in centimetres, adapted to metres with the home step first, and replanned for this desk.
    assert "12cm away from" not in second["example"]
    assert "0.12m away from the" in second["example"]
    assert second["planner_code"].startswith('composer("go to the ready position")')
    assert "0.12m away from the drawer" in second["planner_code"]
