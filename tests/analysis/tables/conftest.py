"""Experiments on disk, as a sweep writes them, with made-up verdicts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.store import CELL, FORMAT, ROWS

TASKS = ("push_button", "lamp_off")
Write = Callable[..., Path]


def write_cell(
    root: Path,
    method: str,
    env: str,
    seed: int,
    verdicts: Mapping[tuple[str, int], str],
    memory: str | None = None,
    instruction: int = 0,
    **config: Any,
) -> Path:
    """A cell's folder; `verdicts` are statuses by task and scene. A method with a memory holds its node."""
    node = {"sources": [memory]} if memory else {"sources": []}
    name = f"{method}-{env}-{memory}-s{seed}-" + "-".join(map(str, config.values()))
    folder = root / name.replace("/", "_")
    folder.mkdir(parents=True, exist_ok=True)
    settings = {
        "method": {"trials": 3, "memory": node} if memory else {"trials": 1},
        "env": {"noise": 1.0, "scenes": 2, "tasks": None, "instructions": "single"},
        "llm": {"_target_": "rules"},
        "sampling": {},
        "sandbox": {},
        "seed": seed,
        "memory": node,
        "embedder": {"kind": "lexical"},
        **config,
    }
    choices = {
        "method": method,
        "env": env,
        "llm": "rules",
        "memory": memory or "both",
        "embedder": "lexical",
    }
    described = {
        "format": FORMAT,
        "cell": name,
        "method": method,
        "env": env,
        "seed": seed,
        "choices": choices,
        "config": settings,
    }
    (folder / CELL).write_text(json.dumps(described))
    with (folder / ROWS).open("a") as file:
        for (task, scene), status in verdicts.items():
            file.write(json.dumps(a_row(name, method, env, seed, task, scene, status, instruction)) + "\n")
    return folder


def a_row(
    cell: str, method: str, env: str, seed: int, task: str, scene: int, status: str, instruction: int = 0
) -> dict[str, Any]:
    return {
        "method": method,
        "env": env,
        "task": task,
        "scene": scene,
        "seed": seed,
        "status": status,
        "failure": "goal" if status == "failure" else None,
        "error": "provider" if status == "error" else None,
        "episode": f"{task}-s{scene}-i{instruction}",
        "instruction_index": instruction,
        "cell": cell,
        "env_config": "e",
        "state_hash": f"{task}{scene}",
        "models": ["rules-3"],
        "trials": [{"success": status == "success"}],
        "trial_count": 1,
        "subtasks_done": int(status == "success"),
        "subtasks": 1,
        "steps": 10,
        "usage": {"calls": 3, "prompt_tokens": 20, "completion_tokens": 5, "cost_usd": None},
        "timings": {"seconds": 1.5},
        "code": "abc",
        "versions": {"engram": "0.1.0"},
    }


def verdicts(pattern: str) -> dict[tuple[str, int], str]:
    """`+` success, `-` failure, `!` error, in turns over the tasks, then the scenes."""
    names = {"+": "success", "-": "failure", "!": "error"}
    return {(TASKS[i % 2], i // 2): names[sign] for i, sign in enumerate(pattern)}


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    """Four episodes a cell: VoxPoser in two seeds, MTP with CALVIN's memory in two, Retry in one, with an error."""
    root = tmp_path / "mtp"
    write_cell(root, "voxposer", "tabletop", 0, verdicts("+---"))
    write_cell(root, "voxposer", "tabletop", 1, verdicts("+-+-"))
    write_cell(root, "mtp", "tabletop", 0, verdicts("+++-"), memory="playtable")
    write_cell(root, "mtp", "tabletop", 1, verdicts("++++"), memory="playtable")
    write_cell(root, "mtp", "tabletop", 0, verdicts("----"), memory="tabletop")
    write_cell(root, "retry", "tabletop", 0, verdicts("++-!"))
    return root
