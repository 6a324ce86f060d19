"""What jobs of a cluster cost, at 100,000 episodes and 1,000 workers. Simulated: the share of workers' time that is
idle, for one pool and for shards of several sizes. Measured: what the sweep itself does for an episode, from the
split to the table's rows, with a scheduler whose jobs write rows at once. `python benchmarks/cluster.py`"""

from __future__ import annotations

import heapq
import os
import random
import tempfile
import time
from collections.abc import Collection, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from harness.cells import Cell
from harness.cluster.shards import Shard
from harness.cluster.sweep import Plan, run_on_cluster
from harness.play import blank_row
from harness.pool import Job
from harness.records import EpisodeKey
from harness.store import ROWS, _line
from harness.sweep import Queue

EPISODES, WORKERS = 100_000, 1_000
TASKS, CELLS = 10, 10
SECONDS, SPREAD = 60.0, 0.8
"""Median of an episode's time, and the standard deviation of its logarithm: one in a hundred takes six times as long."""
LIMIT = 1200.0
"""Seconds after which the watchdog ends an episode."""
START = 30.0
"""Seconds from a job's turn to its first episode: Python, imports, a simulator."""
WORKERS_OF_A_JOB = (1, 4)
SIZES = (10, 25, 50, 100, 400, None)


@dataclass(frozen=True)
class Outcome:
    makespan: float
    idle: float
    """Share of the workers' time in which they play nothing."""


def durations() -> list[float]:
    """Seconds of each episode; a cell's tasks differ in their median by up to a factor of three."""
    draw = random.Random(0)
    factor = [0.58 * 3 ** (task / (TASKS - 1)) for task in range(TASKS)]
    of_cell = EPISODES // CELLS
    return [
        min(LIMIT, SECONDS * factor[number % of_cell * TASKS // of_cell] * draw.lognormvariate(0, SPREAD))
        for number in range(EPISODES)
    ]


def pool(cells: Sequence[Cell], seconds: Sequence[float]) -> tuple[Outcome, float]:
    """All workers at one queue, the project's own. Also the CPU seconds of that queue for an episode."""
    jobs = [Job(cell, key) for cell in cells for key in cell.episodes()]
    length = dict(zip(map(id, jobs), seconds, strict=True))
    began = time.process_time()
    queue = Queue(jobs)
    free = [(START, worker) for worker in range(WORKERS)]
    environments = [""] * WORKERS
    end = 0.0
    while queue.ready:
        now, worker = heapq.heappop(free)
        job = queue.take(environments[worker])
        assert job is not None
        queue.done(job)
        environments[worker] = job.cell.env_identity
        end = max(end, now + length[id(job)])
        heapq.heappush(free, (now + length[id(job)], worker))
    used = time.process_time() - began
    return Outcome(end, 1 - sum(seconds) / (WORKERS * end)), used / EPISODES


def jobs(seconds: Sequence[float], size: int | None, workers_of_a_job: int) -> Outcome:
    """Shards as `harness.cluster.shards.split` deals them out, each of a few workers, in the order of the array."""
    of_cell = EPISODES // CELLS
    slots = [0.0] * (WORKERS // workers_of_a_job)
    for cell in range(CELLS):
        own = seconds[cell * of_cell : (cell + 1) * of_cell]
        shares = 1 if size is None else -(-of_cell // size)
        for share in range(shares):
            began = heapq.heappop(slots) + START
            workers = [began] * workers_of_a_job
            for length in own[share::shares]:
                heapq.heappush(workers, heapq.heappop(workers) + length)
            heapq.heappush(slots, max(workers))
    end = max(slots)
    return Outcome(end, 1 - sum(seconds) / (WORKERS * end))


@dataclass
class AtOnce:
    """A scheduler whose jobs have written their rows as soon as they are submitted. `used` is the CPU time of that,
    which is none of the sweep's."""

    used: float = 0.0
    jobs: int = 0
    name = "simulated"
    lasting = True
    patience = 5.0

    def submit(self, shards: Sequence[Shard], folder: Path) -> list[str]:
        began = time.process_time()
        for shard in shards:
            blank = blank_row(shard.cell, EpisodeKey("", 0, 0), "do nothing", "benchmark", 1)
            with open(shard.root / shard.cell_folder / shard.part, "w", encoding="utf-8") as file:
                file.writelines(_line(_row(blank, episode)) for episode in shard.episodes)
        self.jobs = len(shards)
        self.used += time.process_time() - began
        return [f"1_{number}" for number in range(len(shards))]

    def alive(self) -> frozenset[str] | None:
        return frozenset()

    def cancel(self, jobs: Collection[str]) -> None:
        raise AssertionError("nothing is cancelled here")

    def close(self) -> None:
        """Nothing to close."""


def _row(blank: dict[str, Any], episode: str) -> dict[str, Any]:
    task, scene, _ = episode.split("-")
    done = {"episode": episode, "task": task, "scene": int(scene[1:]), "status": "success"}
    trial = {"success": True, "failure": None, "reason": "", "steps": 100, "events": {}, "facts": {}}
    usage = {"calls": 3, "prompt_tokens": 900, "completion_tokens": 300, "cost_usd": 0.0, "roles": {}}
    return {**blank, **done, "trials": [trial] * 2, "trial_count": 2, "usage": usage}


def noop_cells() -> list[Cell]:
    from hydra import compose, initialize_config_module
    from hydra.core.global_hydra import GlobalHydra

    from harness.compose import split_hydra, to_plain

    GlobalHydra.instance().clear()
    scenes = EPISODES // CELLS // TASKS
    overrides = ["method=noop", "env=noop", f"env.size={TASKS}", f"env.scenes={scenes}"]
    search = ["hydra.searchpath=[pkg://harness.testing.conf]"]
    found = []
    with initialize_config_module("conf", version_base="1.3"):
        for seed in range(CELLS):
            config = compose(
                "config", overrides=[*overrides, *search, f"seed={seed}"], return_hydra_config=True
            )
            plain, choices = split_hydra(config)
            found.append(Cell(to_plain(plain), choices))
    return found


def main() -> None:
    cells, seconds = noop_cells(), durations()
    print(
        f"{EPISODES} episodes of {sum(seconds) / EPISODES:.0f} s on average, {CELLS} cells, {WORKERS} workers"
    )
    best, overhead = pool(cells, seconds)
    print(f"one pool: idle {100 * best.idle:.1f} %, its queue {1e6 * overhead:.1f} us of CPU an episode")
    for size, workers in product(SIZES, WORKERS_OF_A_JOB):
        outcome = jobs(seconds, size, workers)
        name = f"shard={size}" if size else "a cell a job"
        print(
            f"{name}, cpus={workers}: idle {100 * outcome.idle:.1f} %, "
            f"time {outcome.makespan / best.makespan:.2f} of one pool's"
        )
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as quiet, redirect_stderr(quiet):
        scheduler = AtOnce()
        began = time.process_time()
        result = run_on_cluster(cells, Path(folder), scheduler, Plan(EPISODES // 1000, 1))
        used = time.process_time() - began - scheduler.used
        sizes = sum(path.stat().st_size for path in Path(folder).glob(f"*/{ROWS}"))
        assert result.complete and result.played == EPISODES
    print(
        f"the sweep, with {scheduler.jobs} jobs and rows of {sizes / EPISODES:.0f} bytes: "
        f"{1000 * used / EPISODES:.3f} ms of CPU an episode, {used / sum(seconds):.1e} of the episodes' own time"
    )


if __name__ == "__main__":
    main()
