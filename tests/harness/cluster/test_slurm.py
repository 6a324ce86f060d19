"""The command through Slurm itself, on this machine (`slurm.sh`)."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import store
from harness.cluster import record
from harness.cluster.slurm import Slurm
from harness.failures import UsageError
from harness.play import comparable

PROJECT = Path(__file__).resolve().parents[3]
SCRIPT = Path(__file__).with_name("slurm.sh")
NOOP = ["env=noop", "method=noop", "hydra.searchpath=[pkg://harness.testing.conf]", "run.workers=1"]
GRID = ["-m", "seed=0,1", "env.scenes=2", "method.trials=2", "method.seconds=1"]
THROUGH_SLURM = ["hydra/launcher=slurm", "hydra.launcher.shard=6", "hydra.launcher.cpus=1"]


def missing() -> str:
    programs = [name for name in ("munged", "slurmctld", "slurmd", "sbatch") if not found(name)]
    if programs:
        return f"{', '.join(programs)} not found: apt-get install slurm-wlm munge"
    if importlib.util.find_spec("submitit") is None:
        return "submitit not found: pip install -e '.[slurm]'"
    return "" if os.geteuid() == 0 else "Slurm's daemons are started as root"


def found(program: str) -> bool:
    return shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin") is not None


pytestmark = [pytest.mark.slow, pytest.mark.slurm]
needs_slurm = pytest.mark.skipif(bool(missing()), reason=missing())


@pytest.fixture(scope="module")
def slurm() -> Iterator[Slurm]:
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))
    before = os.environ.get("SLURM_CONF")
    try:
        subprocess.run([SCRIPT, "start", folder], check=True, timeout=300)
        os.environ["SLURM_CONF"] = str(folder / "slurm.conf")
        yield Slurm()
    finally:
        subprocess.run([SCRIPT, "stop", folder], check=True, timeout=60)
        os.environ.pop("SLURM_CONF", None)
        if before is not None:
            os.environ["SLURM_CONF"] = before
        shutil.rmtree(folder)


def command(folder: Path, *arguments: str) -> list[str]:
    return [sys.executable, "run.py", *arguments, *NOOP, f"hydra.sweep.dir={folder}"]


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(folder, *arguments), cwd=PROJECT, capture_output=True, text=True, timeout=600
    )


def harness(*arguments: str) -> subprocess.CompletedProcess[str]:
    called = [sys.executable, "-m", "harness", *arguments]
    return subprocess.run(called, cwd=PROJECT, capture_output=True, text=True, timeout=600)


def rows_of(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    rows = store.load(folder)
    keyed = {(row["cell"], row["episode"]): comparable(row) for row in rows}
    assert len(keyed) == len(rows), "an episode has two rows"
    return keyed


def until(condition: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        if result := condition():
            return result
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def processes(folder: Path) -> list[int]:
    """Of jobs that play an experiment: those that submitit started."""
    ids = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if "submitit.core._submit" in line and str(folder) in line and "srun" not in line:
            ids.append(int(path.parent.name))
    return ids


def rows_in_parts(folder: Path) -> dict[Path, int]:
    return {path: path.read_bytes().count(b"\n") for path in folder.glob("*/episodes-*.jsonl")}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, Any]]:
    folder = tmp_path_factory.mktemp("pool")
    done = run(folder, *GRID)
    assert done.returncode == 0, done.stderr
    return rows_of(folder)


@needs_slurm
def test_a_job_that_is_killed_costs_its_episodes_and_the_same_command_mends_it(
    slurm: Slurm, tmp_path: Path, undisturbed: dict[tuple[str, str], dict[str, Any]]
) -> None:
    sweep = subprocess.Popen(
        command(tmp_path, *GRID, *THROUGH_SLURM), cwd=PROJECT, stderr=subprocess.PIPE, text=True
    )
    until(lambda: any(rows_in_parts(tmp_path).values()))
    os.kill(processes(tmp_path)[0], signal.SIGKILL)
    _, told = sweep.communicate(timeout=600)
    assert sweep.returncode == 1
    assert "of its episodes not played" in told
    kept = rows_of(tmp_path)
    assert 0 < len(kept) < 12
    again = run(tmp_path, *GRID, *THROUGH_SLURM)
    assert again.returncode == 0, again.stderr
    assert f"{12 - len(kept)} to play" in again.stderr
    assert rows_of(tmp_path) == undisturbed
    assert {path.name for path in tmp_path.glob("*/*") if "episodes" in path.name} == {store.ROWS}
    assert not (tmp_path / record.FOLDER).exists()


@needs_slurm
def test_jobs_that_are_put_back_into_the_queue_go_on(
    slurm: Slurm, tmp_path: Path, undisturbed: dict[tuple[str, str], dict[str, Any]]
) -> None:
    """By the scheduler, as with preemption, and by themselves, as near their time limit."""
    given = run(tmp_path, *GRID, *THROUGH_SLURM, "hydra.launcher.wait=false")
    assert given.returncode == 0, given.stderr
    first, second = record.read(tmp_path).jobs
    until(lambda: rows_in_parts(tmp_path)[tmp_path / first.cell / first.part])
    subprocess.run(["scontrol", "requeue", first.job], check=True)
    until(lambda: rows_in_parts(tmp_path)[tmp_path / second.cell / second.part])
    subprocess.run(["scancel", "--signal=USR2", second.job], check=True)
    before = {(r["cell"], r["episode"]): r["started"] for r in store.load(tmp_path)}
    assert len(before) < 12
    done = run(tmp_path, *GRID, *THROUGH_SLURM)
    assert done.returncode == 0, done.stderr
    assert "of an earlier start" in done.stderr
    assert rows_of(tmp_path) == undisturbed
    after = {(r["cell"], r["episode"]): r["started"] for r in store.load(tmp_path)}
    assert before.items() <= after.items()


@needs_slurm
def test_cancel_stops_the_jobs_and_the_local_pool_may_go_on(
    slurm: Slurm, tmp_path: Path, undisturbed: dict[tuple[str, str], dict[str, Any]]
) -> None:
    given = run(tmp_path, *GRID, *THROUGH_SLURM, "hydra.launcher.wait=false")
    assert "python -m harness cancel" in given.stdout
    until(lambda: any(rows_in_parts(tmp_path).values()))
    here = run(tmp_path, *GRID)
    assert here.returncode == 2
    assert "was given to slurm job" in here.stderr
    stopped = harness("cancel", str(tmp_path))
    assert (stopped.returncode, stopped.stdout[:7]) == (0, "Stopped")
    jobs = slurm.alive()
    assert jobs is not None and not jobs & {given.job for given in record.read(tmp_path).jobs}
    assert until(lambda: not processes(tmp_path))
    assert 0 < len(store.load(tmp_path)) < 12
    here = run(tmp_path, *GRID)
    assert here.returncode == 0, here.stderr
    assert rows_of(tmp_path) == undisturbed
    assert harness("cancel", str(tmp_path)).stdout.startswith("No job of a cluster plays")


@needs_slurm
def test_ctrl_c_leaves_the_jobs_and_says_how_to_go_on(
    slurm: Slurm, tmp_path: Path, undisturbed: dict[tuple[str, str], dict[str, Any]]
) -> None:
    sweep = subprocess.Popen(
        command(tmp_path, *GRID, *THROUGH_SLURM), cwd=PROJECT, stderr=subprocess.PIPE, text=True
    )
    until(lambda: any(rows_in_parts(tmp_path).values()))
    sweep.send_signal(signal.SIGINT)
    _, told = sweep.communicate(timeout=300)
    assert sweep.returncode == 1
    assert f"python -m harness cancel {tmp_path}" in told
    jobs = [given.job for given in record.read(tmp_path).jobs]
    assert jobs
    done = run(tmp_path, *GRID, *THROUGH_SLURM)
    assert done.returncode == 0, done.stderr
    assert "jobs for" not in done.stderr  # nothing is submitted again
    assert rows_of(tmp_path) == undisturbed


@needs_slurm
def test_what_slurm_refuses_is_told_in_its_words(slurm: Slurm, tmp_path: Path) -> None:
    done = run(tmp_path, *GRID, *THROUGH_SLURM, "hydra.launcher.partition=nowhere")
    assert done.returncode == 2
    assert "invalid partition" in done.stderr
    assert "Traceback" not in done.stderr
    assert record.read(tmp_path).jobs == ()


def test_without_slurm_it_says_where_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UsageError, match="runs where Slurm's commands are"):
        Slurm().alive()


def test_without_submitit_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "submitit", None)
    with pytest.raises(UsageError, match=r"pip install -e '\.\[slurm\]'"):
        Slurm().submit([], Path())
