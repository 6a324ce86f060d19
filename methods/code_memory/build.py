"""Makes a code memory out of recorded episodes: the planner's programs of trials that succeeded."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness import store
from methods.code_memory.pictures import encode
from methods.code_memory.records import Record, normalised, save

PROJECT = Path(__file__).resolve().parent.parent.parent
SHIPPED_FROM = (
    "method=retry,self_reflection",
    "env=tabletop,playtable",
    "seed=0",
    "record=images",
    "env.renderer=rays",  # draws the same on every machine
)
"""The sweep behind the memories that ship: each method on each embedded world."""


def collect(experiments: Sequence[Path], environment: str | None = None) -> list[Record]:
    """One record for each distinct program of an environment, task and instruction, sorted; `environment`
    leaves the others out. Of equal ones the first counts, or the first that has a picture. Raises `UsageError` for
    a folder that is no experiment."""
    found: dict[tuple[str, ...], Record] = {}
    for folder in experiments:
        images = _image_folders(folder)
        for row in sorted(store.load(folder), key=_order):
            if environment not in (None, row["env"]):
                continue
            for record in successes(row, folder.name, images.get(row["cell"])):
                key = (record.environment, record.task, record.instruction, normalised(record.code))
                if key not in found or (record.image and not found[key].image):
                    found[key] = record
    return [found[key] for key in sorted(found)]


def rebuild(folder: Path, out: Path) -> dict[str, list[Record]]:
    """Play the sweep behind the shipped memories in `folder` and write them to `out`; returns the records of
    each. Raises `CalledProcessError` when the sweep does not finish."""
    command = [sys.executable, "run.py", "-m", *SHIPPED_FROM, f"hydra.sweep.dir={folder.resolve()}"]
    subprocess.run(command, cwd=PROJECT, check=True)
    written = {}
    for environment in ("tabletop", "playtable"):
        written[environment] = collect([folder], environment)
        save(written[environment], out / f"{environment}.jsonl")
    return written


def successes(row: Mapping[str, Any], experiment: str, images: Path | None = None) -> Iterable[Record]:
    """The programs of an episode's trials that succeeded, with the pictures that lie in the folder `images`."""
    for index, trial in enumerate(row["trials"]):
        code = trial["facts"].get("planner_code")
        if trial["success"] and code:
            image = _start(images / f"{row['episode']}-t{index}-start.png") if images else ""
            source = {
                "experiment": experiment,
                "method": row["method"],
                "model": ", ".join(row["models"]),
                "seed": row["seed"],
                "scene": row["scene"],
                "trial": index,
                "versions": {
                    name: row["versions"][name] for name in ("simulator", "mujoco") if name in row["versions"]
                },
            }
            yield Record(row["env"], row["task"], row["instruction"], code, source, image)


def _image_folders(experiment: Path) -> dict[str, Path]:
    """Where pictures of an experiment's cells lie, by the cell's identity. Those of a camera that was named are
    left out: retrieval looks through the environment's first."""
    found = {}
    for description in experiment.glob(f"*/{store.CELL}"):
        cell = store.read_description(description)
        if cell["config"]["record"]["camera"] is None:
            found[cell["cell"]] = description.parent / "images"
    return found


def _start(path: Path) -> str:
    """A recorded picture as a record holds it; empty where there is none."""
    if not path.is_file():
        return ""
    import numpy as np
    from PIL import Image

    return encode(np.asarray(Image.open(path).convert("RGB")))


def _order(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Methods as they come, early seeds and scenes first: the record that is kept of equal ones."""
    return row["env"], row["task"], row["instruction"], row["method"], row["seed"], row["scene"]
