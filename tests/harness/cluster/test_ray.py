"""The command through Ray itself, on this machine. Ray wants an environment of its own (extra `ray`)."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from harness import store
from harness.cluster import record
from harness.cluster.ray_tasks import Ray
from harness.failures import UsageError
from harness.play import comparable

PROJECT = Path(__file__).resolve().parents[3]
NOOP = ["env=noop", "method=noop", "hydra.searchpath=[pkg://harness.testing.conf]", "run.workers=1"]
GRID = ["-m", "seed=0,1", "env.scenes=2", "method.trials=2", "method.seconds=1"]
THROUGH_RAY = ["hydra/launcher=ray", "hydra.launcher.shard=3"]

pytestmark = [pytest.mark.slow, pytest.mark.ray]
needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None,
    reason="ray not found: pip install -e '.[ray]', in an environment of its own",
)


def command(folder: Path, *arguments: str) -> list[str]:
    return [sys.executable, "run.py", *arguments, *NOOP, f"hydra.sweep.dir={folder}"]


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(folder, *arguments), cwd=PROJECT, capture_output=True, text=True, timeout=600
    )


def rows_of(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    rows = store.load(folder)
    keyed = {(row["cell"], row["episode"]): comparable(row) for row in rows}
    assert len(keyed) == len(rows), "an episode has two rows"
    return keyed


def wait_for_rows(folder: Path, sweep: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 200
    while not any(path.stat().st_size for path in folder.glob("*/episodes-*.jsonl") if path.is_file()):
        assert sweep.poll() is None and time.monotonic() < deadline, "the sweep wrote no rows"
        time.sleep(0.05)


@needs_ray
def test_ray_gives_the_rows_of_the_local_pool_also_when_it_is_stopped_or_killed(tmp_path: Path) -> None:
    here = run(tmp_path / "here", *GRID)
    assert here.returncode == 0, here.stderr
    through_ray = command(tmp_path / "ray", *GRID, *THROUGH_RAY)
    sweep = subprocess.Popen(through_ray, cwd=PROJECT, stderr=subprocess.PIPE, text=True)
    wait_for_rows(tmp_path / "ray", sweep)
    sweep.send_signal(signal.SIGINT)
    _, told = sweep.communicate(timeout=300)
    assert sweep.returncode == 1, told
    assert "What is being played ends first" in told
    stopped = len(rows_of(tmp_path / "ray"))
    assert 0 < stopped < 12

    sweep = subprocess.Popen(through_ray, cwd=PROJECT, stderr=subprocess.DEVNULL, text=True)
    wait_for_rows(tmp_path / "ray", sweep)
    os.kill(sweep.pid, signal.SIGKILL)
    sweep.wait()
    killed = rows_of(tmp_path / "ray")
    assert stopped < len(killed)

    done = run(tmp_path / "ray", *GRID, *THROUGH_RAY)
    assert done.returncode == 0, done.stderr
    assert rows_of(tmp_path / "ray") == rows_of(tmp_path / "here")
    names = {path.name for path in (tmp_path / "ray").glob("*/*") if "episodes" in path.name}
    assert names == {store.ROWS}
    assert not (tmp_path / "ray" / record.FOLDER).exists()


@needs_ray
def test_a_job_that_is_larger_than_the_cluster_is_refused(tmp_path: Path) -> None:
    done = run(tmp_path, *GRID, *THROUGH_RAY, "hydra.launcher.cpus=1000")
    assert done.returncode == 2
    assert "A job wants 1000 CPUs" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_ray_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"pip install -e '\.\[ray\]'"):
        Ray().submit([], Path())
