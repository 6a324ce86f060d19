"""The command line as a user meets it: messages, exit statuses, the table."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException

from harness import store
from harness.cli import explain, with_cells_keys, with_files
from harness.failures import UsageError

PROJECT = Path(__file__).resolve().parent.parent.parent
NOOP = ["env=noop", "method=noop", "hydra.searchpath=[pkg://harness.testing.conf]", "run.workers=1"]


def run(folder: Path, *arguments: str, noop: bool = True) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "run.py", *arguments, *(NOOP if noop else [])]
    command += [f"hydra.run.dir={folder}", f"hydra.sweep.dir={folder}"]
    environment = {**os.environ, "COLUMNS": "200"}
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, env=environment, timeout=600)


def test_a_sweep_prints_its_table_and_continues(tmp_path: Path) -> None:
    first = run(tmp_path, "-m", "seed=0,1", "env.scenes=2")
    assert first.returncode == 0, first.stderr
    assert "2 cells, 12 episodes" in first.stderr
    again = run(tmp_path, "-m", "seed=0,1", "env.scenes=2")
    assert (again.returncode, again.stdout) == (0, first.stdout)
    assert len(store.load(tmp_path)) == 12


def test_what_is_typed_replaces_what_an_experiment_sweeps_over(tmp_path: Path) -> None:
    done = run(tmp_path, "-m", "+experiment=mtp_table1", "seed=7,8", "env.scenes=1")
    assert done.returncode == 0, done.stderr
    assert {(row["method"], row["env"], row["seed"]) for row in store.load(tmp_path)} == {
        ("noop", "noop", 7),
        ("noop", "noop", 8),
    }
    alone = run(tmp_path, "+experiment=mtp_table1")
    assert alone.returncode == 2
    assert "An experiment is a sweep: add -m" in alone.stderr


def test_an_incomplete_sweep_exits_with_1_and_lists_what_failed(tmp_path: Path) -> None:
    done = run(tmp_path, "-m", "method.fault=raise,''", "env.scenes=1")
    assert done.returncode == 1
    assert "1 of 2 cells are not complete" in done.stderr
    assert "task1-s0-i0: bug: RuntimeError: a bug of ours" in done.stderr
    assert "method.fault=raise" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder], capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def test_a_full_disk_is_told_of_at_the_end_and_at_the_start_and_nothing_is_lost(small_disk: Path) -> None:
    folder = small_disk / "out"
    full = run(folder, "-m", "env.scenes=200")
    assert (full.returncode, full.stdout) == (1, "")
    assert "the disk is full. Finished episodes are safe" in full.stderr
    kept = store.load(folder)
    assert 0 < len(kept) < 600
    with open(small_disk / "rest", "wb", buffering=0) as file:
        while file.write(bytes(1024)) == 1024 and shutil.disk_usage(small_disk).free:
            pass
    again = run(folder, "-m", "env.scenes=200")
    assert again.returncode == 1
    assert "free space and run the same command again" in again.stderr
    assert "Traceback" not in again.stderr
    assert store.load(folder) == kept
    subprocess.run(["mount", "-o", "remount,size=4m", small_disk], check=True)
    done = run(folder, "-m", "env.scenes=200")
    assert done.returncode == 0, done.stderr
    assert store.load(folder)[: len(kept)] == kept
    assert len(store.load(folder)) == 600


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["env.scense=3"], "There is no key `env.scense`. Did you mean env.scenes"),
        (["sed=1"], "There is no key `sed`. Did you mean seed?"),
        (["method=vokposer"], "There is no method=vokposer. Did you mean voxposer?"),
        (["env.scenes=0"], "env.scenes is 0; it has to be at least 1."),
        (["env.scenes=many"], "env.scenes is 'many', which is not of type int."),
        (["env.tasks=[task9]"], "no task `task9`. Did you mean task"),
        (["env.tasks=task1"], "write env.tasks=[task1]"),
        (["seed=x"], "seed"),
        (["run.workers=x"], "run.workers"),
        (["record.video=always"], "none, failures or all"),
        (["name=put the cup's lid on"], "quoted twice"),
        (["name=拿起红色杯子"], "quoted twice"),
        (["seed=0,1"], "add --multirun"),
        (["hydra/launcher=slurm"], "hydra/launcher=slurm is for sweeps, also of one cell: add -m."),
        (["name=../elsewhere"], "cannot name a folder"),
    ],
)
def test_a_mistake_gets_one_message(tmp_path: Path, arguments: list[str], message: str) -> None:
    done = run(tmp_path, *NOOP, *arguments, noop=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("Error") == 1
    assert "Traceback" not in done.stderr
    assert store.load(tmp_path) == []


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("hydra.launcher.shard=0", "hydra.launcher.shard is 0; it has to be at least 1, or null."),
        ("hydra.launcher.shards=2", "There is no key `hydra.launcher.shards`."),
    ],
)
def test_a_mistake_in_a_launchers_keys_gets_one_message(tmp_path: Path, argument: str, message: str) -> None:
    done = run(tmp_path, "-m", "hydra/launcher=slurm", argument)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("sweep", [True, False])
@pytest.mark.parametrize("folder", ["x" * 300, "taken", "taken/below"])
def test_a_folder_that_cannot_be_made_gets_one_message(tmp_path: Path, sweep: bool, folder: str) -> None:
    (tmp_path / "taken").write_text("a file")
    done = run(tmp_path / folder, *["-m"] * sweep)
    assert done.returncode == 2
    assert "Name a folder for the results that can be made" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_mistake_in_one_cell_of_a_sweep_is_told_before_any_runs(tmp_path: Path) -> None:
    done = run(tmp_path, "-m", "env.tasks=[task0],[task7]")
    assert done.returncode == 2
    assert "no task `task7`" in done.stderr
    assert store.load(tmp_path) == []


def test_a_key_that_all_methods_of_a_sweep_have_is_theirs_although_the_default_method_has_none(
    tmp_path: Path,
) -> None:
    done = run(tmp_path, "-m", "method=noop,noop", "method.seconds=0.001", *NOOP[:1], *NOOP[2:], noop=False)
    assert done.returncode == 0, done.stderr
    (description,) = tmp_path.glob("*/cell.json")
    assert json.loads(description.read_text())["config"]["method"]["seconds"] == 0.001


@pytest.mark.parametrize("sweep", [["method=hime_limited,flat"], ["+experiment=hime_table2"]])
@pytest.mark.parametrize("cap", ["4", "4,5"])
def test_a_key_that_one_method_of_a_sweep_lacks_is_told_with_the_method(
    tmp_path: Path, sweep: list[str], cap: str
) -> None:
    done = run(tmp_path, "-m", *sweep, "env=household", f"method.planner.memory.cap={cap}", noop=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: The cell ")
    where, _, what = done.stderr.removeprefix("Error: The cell ").partition(": ")
    assert "method=flat" in where.split()
    assert "env=household" not in where
    assert what.startswith("There is no key `method.planner.memory.cap`. Did you mean method.planner.")
    assert "Traceback" not in done.stderr
    assert store.load(tmp_path) == []


def test_hydras_own_launcher_works_too_and_one_failing_job_leaves_the_others(tmp_path: Path) -> None:
    done = run(tmp_path, "-m", "method.fault=raise,''", "env.scenes=1", "hydra/launcher=basic")
    assert done.returncode == 1
    statuses = [row["status"] for row in store.load(tmp_path)]
    assert (len(statuses), statuses.count("error")) == (6, 1)


def test_explanations_keep_the_message() -> None:
    assert explain(UsageError("plain")) == "plain"
    assert explain(HydraException("no parse error"), list).startswith("no parse error\nA value with spaces")
    assert explain(UsageError("no parse error")) == "no parse error"
    assert explain(HydraException("Could not override 'a.b'"), lambda: ["a.bb"]) == (
        "There is no key `a.b`. Did you mean a.bb?"
    )


def test_help_lists_options_and_keys() -> None:
    done = subprocess.run([sys.executable, "run.py", "--help"], cwd=PROJECT, capture_output=True, text=True)
    assert done.returncode == 0
    lines = {line.split()[0]: line for line in done.stdout.splitlines() if line.startswith("  ")}
    assert "voxposer" in lines["method"]
    assert "tabletop" in lines["env"]
    assert lines["run.episode_timeout=1200.0"].endswith("the watchdog ends an episode's worker.")


def test_a_file_is_a_memory() -> None:
    assert with_files(["-m", "memory=a b/c'd.jsonl", "seed=0"]) == [
        "-m",
        "memory=file",
        "memory.sources=['a b/c\\'d.jsonl']",
        "seed=0",
    ]
    for named in (["memory=tabletop"], ["memory=none,both"], ["memory='both'"], ["memory="], ["name=a/b"]):
        assert with_files(named) == named


@pytest.mark.parametrize(
    ("typed", "sources"),
    [
        ("a.jsonl,b/c.jsonl", "['a.jsonl'],['b/c.jsonl']"),
        ("/tmp/memory.json", "['/tmp/memory.json']"),
        ("'a, b.jsonl'", "['a, b.jsonl']"),
        (r"a\b.jsonl", r"['a\b.jsonl']"),
        ('"a b.jsonl"', "['a b.jsonl']"),
    ],
)
def test_files_are_memories_however_they_are_written(typed: str, sources: str) -> None:
    assert with_files([f"memory={typed}"]) == ["memory=file", f"memory.sources={sources}"]


@pytest.mark.parametrize(
    "value",
    ["4", "'4'", "", "null", "'it\\'s, so'", "[a,'b c']", "{a: 1.0}", r"a\,b", r"q\\", "http://a:80/v1"],
)
def test_the_sweeper_gets_a_key_of_the_cells_as_it_is_typed(value: str) -> None:
    others = ["--multirun", "method=a,b", "seed=3"]
    *kept, handed = with_cells_keys([*others, "method.x=old", f"method.x={value}", "method.y.z=1"])
    override = OverridesParser.create().parse_override(handed)
    assert (kept, override.key_or_group, override.is_force_add()) == (others, "hydra.sweeper.params", True)
    given = override.value()
    assert isinstance(given, dict)
    assert {key: str(text) for key, text in given.items()} == {"method.x": value, "method.y.z": "1"}


def test_what_is_handed_to_the_cells_stays_where_it_was_typed() -> None:
    """Hydra refuses overrides on both sides of a flag."""
    handed = "++hydra.sweeper.params={env.scenes: '2', env.noise: '0'}"
    assert with_cells_keys(["env.scenes=2", "env.noise=0", "method=a,b", "-m"]) == [
        handed,
        "method=a,b",
        "-m",
    ]
    assert with_cells_keys(["-m", "method=a,b", "env.scenes=2", "env.noise=0"]) == [
        "-m",
        "method=a,b",
        handed,
    ]


def test_other_arguments_are_left_to_hydra() -> None:
    sweep = [
        "-m",
        "seed=0",
        "method.x=1,2",
        "method.x=choice(1)",
        "+method.x=1",
        "~method.x",
        "hydra.job.name=x",
    ]
    sweep += ["env.a=${seed}", "llm@llm.roles.x=rules", "method.x=[", "hydra/launcher=slurm"]
    for arguments in (sweep, ["method.x=1"], []):
        assert with_cells_keys(arguments) == arguments


def test_a_memory_that_is_not_there_is_told_before_anything_runs(tmp_path: Path) -> None:
    done = run(tmp_path / "out", "method=mtp", f"memory={tmp_path}/no such.jsonl", noop=False)
    assert done.returncode == 2
    assert "no such.jsonl" in done.stderr
    assert not list((tmp_path / "out").glob("*/episodes.jsonl"))
