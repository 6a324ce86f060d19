"""Cost of the engine itself, with a method and an environment that do nothing: CPU and memory per episode,
`--help`, and a sweep of 240 cells against Hydra's basic launcher. `python benchmarks/engine.py`"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
NOOP = ["env=noop", "method=noop", "hydra.searchpath=[pkg://harness.testing.conf]"]
CELLS, REPEATS = 240, 3


@dataclass(frozen=True)
class Cost:
    cpu: float
    """Seconds of CPU, children included."""
    wall: float
    peak_mb: float
    """Largest resident size of one process."""


def measure(arguments: list[str]) -> Cost:
    """Run `run.py` in a process of its own and add up what it and its children took."""
    probe = (
        "import resource, subprocess, sys, time\n"
        "start = time.perf_counter()\n"
        "done = subprocess.run([sys.executable, 'run.py', *sys.argv[1:]], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(used.ru_utime + used.ru_stime, time.perf_counter() - start, used.ru_maxrss / 1024)\n"
        "sys.exit(done.stderr.decode() if done.returncode else 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe, *arguments], cwd=PROJECT, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"run.py {' '.join(arguments)} failed:\n{done.stderr}")
    cpu, wall, peak = map(float, done.stdout.split())
    return Cost(cpu, wall, peak)


def median(arguments: list[str]) -> Cost:
    """Median of several runs, each in a fresh folder."""
    costs = []
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory() as folder:
            where = (
                [f"hydra.run.dir={folder}/out", f"hydra.sweep.dir={folder}/out"]
                if "--help" not in arguments
                else []
            )
            costs.append(measure([*arguments, *where]))
    return Cost(*(statistics.median(getattr(c, name) for c in costs) for name in ("cpu", "wall", "peak_mb")))


def main() -> None:
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, median of {REPEATS} runs")
    print(f"--help: {median(['--help']).cpu:.2f} s of CPU")
    few, many = (median([*NOOP, "env.size=10", f"env.scenes={scenes}"]) for scenes in (10, 1000))
    print(
        f"an episode with its durable row: {(many.cpu - few.cpu) / 9900 * 1000:.3f} ms of CPU (10,000 less 100)"
    )
    print(f"10,000 episodes: {many.cpu:.2f} s of CPU, {many.peak_mb:.0f} MB peak of a process")
    grid = ["-m", *NOOP, "env.size=1", "env.scenes=1", f"seed={','.join(map(str, range(CELLS)))}"]
    pool = median(grid)
    basic = median([*grid, "hydra/launcher=basic", "hydra/sweeper=basic", "run.workers=0"])
    print(
        f"{CELLS} cells: pool {pool.wall:.2f} s, Hydra's basic launcher {basic.wall:.2f} s, "
        f"ratio {pool.wall / basic.wall:.3f}"
    )


if __name__ == "__main__":
    main()
