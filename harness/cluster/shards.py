"""A shard: what one job plays of a cell, and the job itself. Pickled by the sweep, called on a node."""

from __future__ import annotations

import getpass
import math
import os
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.cells import Cell
from harness.failures import UsageError
from harness.pool import Job


@dataclass(frozen=True)
class Shard:
    """Called in a job, it plays what is missing of its episodes. Called again, where the job was put back into the
    queue, it goes on: rows that are on disk are kept."""

    cell: Cell
    cell_folder: str
    episodes: tuple[str, ...]
    root: Path
    part: str
    """Name of the file of rows that this job alone writes, in the cell's folder."""
    directory: Path
    """Where the sweep was started; relative paths of a config start there."""
    log: Path
    """Why episodes were left unplayed, for the sweep to read."""

    def __call__(self) -> None:
        from harness import sweep

        os.chdir(self.directory)
        self.log.unlink(missing_ok=True)
        cell = replace(self.cell, config=_on_a_node(self.cell))
        try:
            if cell.folder_name != self.cell_folder:
                raise UsageError(
                    "Files that the method reads are not on the node as they were when the job was submitted. "
                    "Run the command again."
                )
            result = sweep.run_share(cell, self.root, sweep.Share(self.part, frozenset(self.episodes)))
        except Exception as error:
            self._say(f"{type(error).__name__}: {error}")
            raise
        finally:
            with suppress(OSError):  # a worker that was killed may have left its log
                (self.root / ".workers" / Path(self.part).stem).rmdir()
        (of_cell,) = result.cells
        if of_cell.stopped or result.interrupted:
            self._say(of_cell.stopped or "the job was told to stop")

    def checkpoint(self) -> Any:
        """Submitit asks what a job that runs out of time is to do in its next turn: the same."""
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self)

    def _say(self, text: str) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.log.write_text(text + "\n", encoding="utf-8", errors="backslashreplace")


def split(
    jobs: Sequence[Job], one_by_one: frozenset[str], size: int | None, workers: int, root: Path, logs: Path
) -> list[Shard]:
    """A shard for each cell or, with a `size`, as many of about the same size as keep it. A shard of a cell takes
    every nth of its episodes, so that long tasks are dealt out. Cells that are played `one_by_one` (their identities)
    stay whole. `workers` play a shard where `run.workers` is not given."""
    by_cell: dict[int, list[Job]] = {}  # the same cell may be asked for with several choices of episodes
    for job in jobs:
        by_cell.setdefault(id(job.cell), []).append(job)
    stamp = time.strftime("%Y%m%dT%H%M%S")
    found: list[Shard] = []
    for of_cell in by_cell.values():
        cell = of_cell[0].cell
        episodes = [str(job.key) for job in of_cell]
        whole = size is None or cell.identity in one_by_one
        shares = 1 if whole else math.ceil(len(episodes) / (size or 1))
        tracker = {"_target_": "harness.trackers.NoTracker"}  # the sweep that waits has it
        run = {**cell.config["run"]}
        run["workers"] = workers if run["workers"] is None else run["workers"]
        given = replace(cell, config={**cell.config, "tracker": tracker, "run": run})
        for share in range(shares):
            name = f"episodes-{stamp}-{len(found):05d}"
            found.append(
                Shard(
                    cell=given,
                    cell_folder=cell.folder_name,
                    episodes=tuple(episodes[share::shares]),
                    root=root,
                    part=f"{name}.jsonl",
                    directory=Path.cwd(),
                    log=logs / f"{name}.txt",
                )
            )
    return found


def _on_a_node(cell: Cell) -> dict[str, Any]:
    """The config with kept replies on the node's own disk: the cache cannot be shared between machines."""
    cache = dict(cell.config["cache"])
    if cache["path"] is not None:
        folder = Path(tempfile.gettempdir()) / f"engram-{getpass.getuser()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        cache["path"] = str(folder / "cache.sqlite")
    return {**cell.config, "cache": cache}
