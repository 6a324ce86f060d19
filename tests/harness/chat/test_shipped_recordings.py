"""The recordings of a real language model that ship with the project play with no network and no key, and give its rows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from harness.chat.recorded import read

ROOT = Path(__file__).parents[3]
RECORDINGS = ROOT / "docs" / "recordings"


@pytest.mark.parametrize("world", ["tabletop", "playtable"])
def test_each_recording_has_the_cells_of_all_three_methods_and_is_small(world: str) -> None:
    recording = RECORDINGS / f"smollm2-135m-{world}.jsonl.gz"
    cells = read(recording)
    assert {(cell.method, cell.env, cell.seed) for cell in cells} == {
        (method, world, 0) for method in ("voxposer", "retry", "mtp")
    }
    assert recording.stat().st_size < 100_000


@pytest.mark.slow
def test_its_successes_are_played_again(tmp_path: Path) -> None:
    recording = RECORDINGS / "smollm2-135m-playtable.jsonl.gz"
    command = [
        sys.executable,
        str(ROOT / "run.py"),
        "method=retry",
        "env=playtable",
        "env.tasks=[place_in_drawer]",
    ]
    command += ["env.suite_of_50=false", "env.scenes=2", "sampling.max_tokens=256"]
    command += ["llm=replay", f"llm.from={recording}", "name=again"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    (rows,) = tmp_path.glob("outputs/again/*/episodes.jsonl")
    found = {row["episode"]: row for row in map(json.loads, rows.read_text().splitlines())}
    told = {name: (row["status"], row["trial_count"], row["usage"]["calls"]) for name, row in found.items()}
    assert told == {"place_in_drawer-s0-i0": ("success", 2, 9), "place_in_drawer-s1-i0": ("success", 1, 9)}
    assert all(
        row["spent"]["calls"] == 0 and row["models"][0].startswith("SmolLM2") for row in found.values()
    )
