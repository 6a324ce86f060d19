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
from dataclasses import dataclass
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
CONF = Path(__file__).with_name("conf")
WAITING = ["-m", "env=noop", "method=waiting", f"hydra.searchpath=[pkg://harness.testing.conf,file://{CONF}]"]
WAITING += ["run.workers=1", "seed=0,1", "env.scenes=2"]
"""Two jobs of six episodes. Each plays its two of task0 and then waits until there is the file `gate`, so that what a
test does to jobs meets them in their middle."""
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


@dataclass(frozen=True)
class Sweep:
    """The command, into a folder; its gate is closed when a test begins."""

    gate: Path

    def command(self, folder: Path, *arguments: str) -> list[str]:
        what = [*WAITING, *arguments, f"method.gate={self.gate}", f"hydra.sweep.dir={folder}"]
        return [sys.executable, "run.py", *what]

    def run(self, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = self.command(folder, *arguments)
        return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=600)

    def start(self, folder: Path, *arguments: str) -> subprocess.Popen[str]:
        command = self.command(folder, *arguments)
        return subprocess.Popen(command, cwd=PROJECT, stderr=subprocess.PIPE, text=True)


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gate") / "open"


@pytest.fixture
def sweep(gate: Path) -> Sweep:
    gate.unlink(missing_ok=True)
    return Sweep(gate)


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


def both_wait(folder: Path) -> bool:
    """Whether both jobs have played what they may."""
    parts = folder.glob("*/episodes-*.jsonl")
    return [path.read_bytes().count(b"\n") for path in parts] == [2, 2]


@pytest.fixture(scope="module")
def undisturbed(
    tmp_path_factory: pytest.TempPathFactory, gate: Path
) -> dict[tuple[str, str], dict[str, Any]]:
    folder = tmp_path_factory.mktemp("pool")
    gate.touch()
    done = Sweep(gate).run(folder)
    assert done.returncode == 0, done.stderr
    return rows_of(folder)


Rows = dict[tuple[str, str], dict[str, Any]]


@needs_slurm
def test_a_job_that_is_killed_costs_its_episodes_and_the_same_command_mends_it(
    slurm: Slurm, tmp_path: Path, undisturbed: Rows, sweep: Sweep
) -> None:
    process = sweep.start(tmp_path, *THROUGH_SLURM)
    until(lambda: both_wait(tmp_path))
    os.kill(processes(tmp_path)[0], signal.SIGKILL)
    sweep.gate.touch()
    _, told = process.communicate(timeout=600)
    assert process.returncode == 1
    assert "4 of its episodes not played" in told
    assert len(rows_of(tmp_path)) == 8
    again = sweep.run(tmp_path, *THROUGH_SLURM)
    assert again.returncode == 0, again.stderr
    assert "4 to play" in again.stderr
    assert rows_of(tmp_path) == undisturbed
    assert {path.name for path in tmp_path.glob("*/*") if "episodes" in path.name} == {store.ROWS}
    assert not (tmp_path / record.FOLDER).exists()


@needs_slurm
def test_jobs_that_are_put_back_into_the_queue_go_on(
    slurm: Slurm, tmp_path: Path, undisturbed: Rows, sweep: Sweep
) -> None:
    """By the scheduler, as with preemption, and by themselves, as near their time limit."""
    given = sweep.run(tmp_path, *THROUGH_SLURM, "hydra.launcher.wait=false")
    assert given.returncode == 0, given.stderr
    first, second = record.read(tmp_path).jobs
    until(lambda: both_wait(tmp_path))
    before = processes(tmp_path)
    subprocess.run(["scontrol", "requeue", first.job], check=True)
    subprocess.run(["scancel", "--signal=USR2", second.job], check=True)
    until(lambda: not set(before) & set(processes(tmp_path)))
    kept = {(r["cell"], r["episode"]): r["started"] for r in store.load(tmp_path)}
    assert len(kept) == 4
    process = sweep.start(tmp_path, *THROUGH_SLURM)
    assert process.stderr is not None
    assert any("of an earlier start" in line for line in process.stderr)
    sweep.gate.touch()
    _, told = process.communicate(timeout=600)
    assert process.returncode == 0, told
    assert rows_of(tmp_path) == undisturbed
    after = {(r["cell"], r["episode"]): r["started"] for r in store.load(tmp_path)}
    assert kept.items() <= after.items()


@needs_slurm
def test_cancel_stops_the_jobs_and_the_local_pool_may_go_on(
    slurm: Slurm, tmp_path: Path, undisturbed: Rows, sweep: Sweep
) -> None:
    given = sweep.run(tmp_path, *THROUGH_SLURM, "hydra.launcher.wait=false")
    assert "python -m harness cancel" in given.stdout
    until(lambda: both_wait(tmp_path))
    here = sweep.run(tmp_path)
    assert here.returncode == 2
    assert "was given to slurm job" in here.stderr
    stopped = harness("cancel", str(tmp_path))
    assert (stopped.returncode, stopped.stdout[:7]) == (0, "Stopped")
    jobs = slurm.alive()
    assert jobs is not None and not jobs & {given.job for given in record.read(tmp_path).jobs}
    until(lambda: not processes(tmp_path))
    assert len(store.load(tmp_path)) == 4
    sweep.gate.touch()
    here = sweep.run(tmp_path)
    assert here.returncode == 0, here.stderr
    assert rows_of(tmp_path) == undisturbed
    assert harness("cancel", str(tmp_path)).stdout.startswith("No job of a cluster plays")


@needs_slurm
def test_ctrl_c_leaves_the_jobs_and_says_how_to_go_on(
    slurm: Slurm, tmp_path: Path, undisturbed: Rows, sweep: Sweep
) -> None:
    process = sweep.start(tmp_path, *THROUGH_SLURM)
    until(lambda: both_wait(tmp_path))
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=300)
    assert process.returncode == 1
    assert f"python -m harness cancel {tmp_path}" in told
    jobs = [given.job for given in record.read(tmp_path).jobs]
    assert jobs
    sweep.gate.touch()
    done = sweep.run(tmp_path, *THROUGH_SLURM)
    assert done.returncode == 0, done.stderr
    assert "jobs for" not in done.stderr  # nothing is submitted again
    assert rows_of(tmp_path) == undisturbed


@needs_slurm
def test_what_slurm_refuses_is_told_in_its_words(slurm: Slurm, tmp_path: Path, sweep: Sweep) -> None:
    done = sweep.run(tmp_path, *THROUGH_SLURM, "hydra.launcher.partition=nowhere")
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
