from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness import doctor
from harness.protocols import Problem

PROJECT = Path(__file__).resolve().parent.parent.parent


def test_it_names_what_can_be_used() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "harness", "doctor"], cwd=PROJECT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.split(maxsplit=1) for line in done.stdout.splitlines() if line.startswith("  ")]
    usable = {line[1] for line in lines if line[0] == "yes"}
    assert {"tabletop", "tabletop: renderer rays", "rules", "lexical", "none", "pool", "basic"} <= usable
    assert "can run here" in done.stdout


def test_what_is_missing_is_told_with_what_mends_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = doctor.Finding(
        "environments", "tabletop", (Problem("MuJoCo is not there", "pip install mujoco"),)
    )
    monkeypatch.setattr(doctor, "examine", lambda: iter([missing]))
    assert doctor.report() == 1
    printed = capsys.readouterr().out
    assert "no   tabletop" in printed
    assert "-> pip install mujoco" in printed
    assert "cannot run here: see env=tabletop" in printed
