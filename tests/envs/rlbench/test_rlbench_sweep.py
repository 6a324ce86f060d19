"""A sweep over env=rlbench from the command line to its rows, on the fake."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness import store

PROJECT = Path(__file__).parents[3]


def run(machine: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "run.py", "method=voxposer", "env=rlbench", "cache.path=null", "run.workers=1"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent / "fake")}
    return subprocess.run(
        [*command, *arguments], cwd=PROJECT, env=environment, capture_output=True, text=True, timeout=1200
    )


@pytest.mark.slow
def test_a_sweep_plays_tasks_in_and_beside_the_nine(machine: Path, tmp_path: Path) -> None:
    done = run(
        machine,
        "env.tasks=[take_lid_off_saucepan,reach_target]",
        "env.scenes=1",
        f"hydra.run.dir={tmp_path / 'out'}",
    )
    assert done.returncode == 0, done.stderr
    rows = {row["task"]: row for row in store.load(tmp_path / "out")}
    assert {task: row["status"] for task, row in rows.items()} == {
        "take_lid_off_saucepan": "success",
        "reach_target": "success",
    }
    row = rows["take_lid_off_saucepan"]
    assert row["instruction"] == "take lid off the saucepan"
    assert row["versions"]["simulator"] == machine.name
    assert row["state_hash"] and row["trials"][0]["steps"] == row["steps"] > 0


def test_a_machine_without_a_display_is_told_before_anything_runs(
    machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DISPLAY")
    done = run(machine, f"hydra.run.dir={tmp_path / 'out'}")
    assert done.returncode == 2
    assert "env=rlbench: DISPLAY is not set" in done.stderr and "xvfb-run" in done.stderr
    assert not list((tmp_path / "out").rglob("episodes.jsonl"))
