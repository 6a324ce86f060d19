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


@pytest.mark.parametrize(
    ("name", "worlds"),
    [
        ("smollm2-135m-tabletop", {"tabletop"}),
        ("smollm2-135m-playtable", {"playtable"}),
        ("qwen2.5-coder-1.5b", {"tabletop", "playtable"}),
    ],
)
def test_each_recording_has_the_cells_of_all_three_methods_and_is_small(name: str, worlds: set[str]) -> None:
    recording = RECORDINGS / f"{name}.jsonl.gz"
    cells = read(recording)
    assert {(cell.method, cell.env, cell.seed) for cell in cells} == {
        (method, world, 0) for method in ("voxposer", "retry", "mtp") for world in worlds
    }
    assert recording.stat().st_size < 200_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "task", "told", "model"),
    [
        ("smollm2-135m-playtable", "place_in_drawer", [("success", 2, 9), ("success", 1, 9)], "SmolLM2"),
        ("qwen2.5-coder-1.5b", "lift_pink_block_table", [("success", 1, 14), ("success", 1, 14)], "qwen2.5"),
    ],
)
def test_its_successes_are_played_again(
    tmp_path: Path, name: str, task: str, told: list[tuple[str, int, int]], model: str
) -> None:
    recording = RECORDINGS / f"{name}.jsonl.gz"
    command = [
        sys.executable,
        str(ROOT / "run.py"),
        "method=retry",
        "env=playtable",
        f"env.tasks=[{task}]",
    ]
    command += ["env.suite_of_50=false", "env.scenes=2", "sampling.max_tokens=256"]
    command += ["llm=replay", f"llm.from={recording}", "name=again"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    (rows,) = tmp_path.glob("outputs/again/*/episodes.jsonl")
    found = {row["episode"]: row for row in map(json.loads, rows.read_text().splitlines())}
    played = {key: (row["status"], row["trial_count"], row["usage"]["calls"]) for key, row in found.items()}
    assert played == {f"{task}-s{scene}-i0": each for scene, each in enumerate(told)}
    assert all(row["spent"]["calls"] == 0 and row["models"][0].startswith(model) for row in found.values())
