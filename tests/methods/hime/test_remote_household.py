"""The commands themselves: a planner in a server of its own process drives the household as the same planner does in place."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import store

PROJECT = Path(__file__).resolve().parents[3]

pytest.importorskip("fastapi", reason="the extra serve is not installed")
pytestmark = pytest.mark.slow


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """The address of our server."""
    command = [sys.executable, "-m", "harness", "serve", "method=hime", "llm=rules", "cache=none", "--port=0"]
    server = subprocess.Popen(
        [*command, f"--state={tmp_path / 'state'}"], cwd=PROJECT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        first = server.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+", first)
        assert found, first
        yield found[0]
    finally:
        server.terminate()
        server.wait(timeout=60)
        assert server.stdout is not None
        server.stdout.close()


def play(folder: Path, *arguments: str) -> dict[str, Any]:
    """The row of one episode."""
    command = ["run.py", "env=household", "env.tasks=[object_search]", "env.scenes=1", "llm=rules"]
    done = subprocess.run(
        [sys.executable, *command, "cache=none", f"hydra.run.dir={folder}", *arguments],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == 0, done.stderr
    (row,) = store.load(folder)
    return row


def test_a_planner_in_a_server_gets_as_far_as_the_same_one_in_place(tmp_path: Path, served: str) -> None:
    there = play(tmp_path / "there", "method=hime_server", f"method.url={served}")
    here = play(tmp_path / "here", "method=hime")
    assert there["state_hash"] == here["state_hash"] and there["error"] is None
    assert there["subtasks_done"] >= there["subtasks"] / 2
    assert abs(there["subtasks_done"] - here["subtasks_done"]) <= 1
    facts = there["trials"][0]["facts"]
    assert facts["server_steps"] >= there["steps"] // 50
    requests = facts["server_steps"] + 2  # the task, and what the user says once
    assert len(facts["server_seconds"]) == requests
    assert there["usage"]["calls"] == 0 and here["usage"]["calls"] > 0
