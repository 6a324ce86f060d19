"""The command itself on the tabletop: rows that repeat, a killed sweep that is gone on with, and other words
for the same scenes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from harness import store
from harness.play import comparable

PROJECT = Path(__file__).resolve().parent.parent
COMMAND = [sys.executable, "run.py"]


def run(folder: Path, *arguments: str) -> dict[tuple[str, str], dict[str, Any]]:
    done = subprocess.run(
        [*COMMAND, *arguments, f"hydra.run.dir={folder}", f"hydra.sweep.dir={folder}"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == 0, done.stderr
    return rows_of(folder)


def rows_of(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    rows = store.load(folder)
    keyed = {(row["cell"], row["episode"]): comparable(row) for row in rows}
    assert len(keyed) == len(rows), "an episode has two rows"
    return keyed


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0, 1])
def test_rows_repeat_whatever_the_number_of_workers(tmp_path: Path, noise: int) -> None:
    what = ["-m", "method=voxposer,retry", "env.scenes=1", "env.tasks=[lamp_off,open_drawer]"]
    one = run(tmp_path / "one", *what, f"env.noise={noise}", "run.workers=1")
    two = run(tmp_path / "two", *what, f"env.noise={noise}", "run.workers=2")
    assert len(one) == 4
    assert one == two


@pytest.mark.slow
def test_methods_meet_the_same_scenes_with_the_same_first_trial(tmp_path: Path) -> None:
    rows = run(tmp_path, "-m", "method=voxposer,retry", "env.scenes=2", "env.tasks=[open_drawer]")
    by_method: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(rows.values(), key=lambda row: row["scene"]):
        by_method.setdefault(row["method"], []).append(row)
    for first, second in zip(by_method["voxposer"], by_method["retry"], strict=True):
        assert first["state_hash"] == second["state_hash"]
        assert first["trials"][0] == second["trials"][0]


@pytest.mark.slow
def test_a_sweep_that_is_killed_and_run_again_gives_the_rows_of_an_undisturbed_one(tmp_path: Path) -> None:
    what = ["-m", "method=voxposer,retry", "env.scenes=1", "env.tasks=[push_button,open_drawer]", "seed=0,1"]
    undisturbed = run(tmp_path / "undisturbed", *what)
    assert len(undisturbed) == 8

    folder = tmp_path / "killed"
    sweep = subprocess.Popen(
        [*COMMAND, *what, f"hydra.sweep.dir={folder}"],
        cwd=PROJECT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 1800
    while count_lines(folder) < 2 and sweep.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(sweep.pid, signal.SIGKILL)
    assert sweep.wait() == -signal.SIGKILL
    kept = count_lines(folder)
    assert 2 <= kept < 8

    assert run(folder, *what) == undisturbed


def count_lines(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.glob("*/episodes.jsonl"))


OTHER_WORDS: dict[str, Any] = {
    "rename": {
        "lamp": "desk light",
        "button": "red knob",
        "lid handle": "grip",
        "lid": "cover",
        "saucepan": "stew pot",
        "cap": "stopper",
        "wine bottle": "flask",
        "block": "wooden cube",
    },
    "reword": {
        "lamp_off": ["make the desk light go off"],
        "push_button": ["please press the red knob"],
        "open_wine_bottle": ["unscrew the stopper of the flask"],
        "take_lid_off_saucepan": ["remove the cover from the stew pot"],
    },
}


@pytest.mark.slow
def test_other_names_and_other_words_leave_the_rules_working_as_well(tmp_path: Path) -> None:
    conf = tmp_path / "conf" / "experiment"
    conf.mkdir(parents=True)
    (conf / "words.yaml").write_text("# @package _global_\nenv: " + json.dumps(OTHER_WORDS))
    what = ["env.scenes=3", "env.noise=0", f"env.tasks=[{','.join(OTHER_WORDS['reword'])}]"]
    before = run(tmp_path / "before", *what)
    after = run(tmp_path / "after", *what, f"hydra.searchpath=[file://{conf.parent}]", "+experiment=words")
    hashes = [sorted((row["task"], row["state_hash"]) for row in rows.values()) for rows in (before, after)]
    assert hashes[0] == hashes[1]
    assert {row["instruction"] for row in after.values()} == {
        text for texts in OTHER_WORDS["reword"].values() for text in texts
    }
    successes = [sum(row["status"] == "success" for row in rows.values()) for rows in (before, after)]
    assert successes[0] >= 10
    assert successes[1] >= successes[0]
