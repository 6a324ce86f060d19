"""Parts of another package: by an entry point, and by a Hydra search path."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness import store

PROJECT = Path(__file__).resolve().parent.parent.parent

PART = """
from dataclasses import dataclass
from harness.testing.noop import NoopEnv, NoopMethod

@dataclass(frozen=True)
class TheirEnv(NoopEnv):
    size: int = 2

@dataclass(frozen=True)
class TheirMethod(NoopMethod):
    trials: int = 2
"""
POINTS = """[engram.env]
their_env = theirs:TheirEnv
[engram.method]
their_method = theirs:TheirMethod
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """An installed package, as an installer leaves it."""
    site = tmp_path / "site"
    info = site / "theirs-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "theirs.py").write_text(PART)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    return site


def run(site: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "run.py", *arguments, f"hydra.run.dir={folder}", "run.workers=1"]
    environment = {**os.environ, "PYTHONPATH": str(site)}
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, env=environment, timeout=600)


def test_an_entry_point_adds_an_environment_and_a_method(package: Path, tmp_path: Path) -> None:
    done = run(
        package, tmp_path / "out", "env=their_env", "method=their_method", "env.scenes=2", "method.trials=1"
    )
    assert done.returncode == 0, done.stderr
    rows = store.load(tmp_path / "out")
    assert [(row["env"], row["method"]) for row in rows] == [("their_env", "their_method")] * 4


def test_its_keys_are_checked_like_ours(package: Path, tmp_path: Path) -> None:
    done = run(package, tmp_path / "out", "env=their_env", "method=their_method", "env.sise=3")
    assert done.returncode == 2
    assert "env.sise" in done.stderr


def test_a_search_path_adds_a_config(package: Path, tmp_path: Path) -> None:
    conf = tmp_path / "conf" / "env"
    conf.mkdir(parents=True)
    (conf / "mine.yaml").write_text("_target_: theirs.TheirEnv\nscenes: 1\n")
    search = f"hydra.searchpath=[file://{tmp_path / 'conf'},pkg://harness.testing.conf]"
    done = run(package, tmp_path / "out", search, "env=mine", "method=noop")
    assert done.returncode == 0, done.stderr
    assert {row["env"] for row in store.load(tmp_path / "out")} == {"mine"}
