"""How a sweep of real episodes scales: the same cells with one worker and with two, in one run, and what an
episode costs. `python benchmarks/tabletop.py`"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
SWEEP = ["-m", "method=retry", "env=tabletop", "env.scenes=4", "seed=0,1"]
REPEATS = 3


def seconds(workers: int) -> float:
    """Wall-clock time of the sweep in a fresh folder."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "run.py", *SWEEP, f"run.workers={workers}", f"hydra.sweep.dir={folder}"]
        started = time.perf_counter()
        subprocess.run(command, cwd=PROJECT, check=True, capture_output=True)
        return time.perf_counter() - started


def main() -> None:
    times = {workers: [] for workers in (1, 2)}  # type: dict[int, list[float]]
    for _ in range(REPEATS):  # in turns, so that a busy moment meets both
        for workers, found in times.items():
            found.append(seconds(workers))
    one, two = (statistics.median(times[workers]) for workers in (1, 2))
    ratios = [a / b for a, b in zip(times[1], times[2], strict=True)]
    print(f"{' '.join(SWEEP)}: one worker {one:.1f} s, two {two:.1f} s (medians of {REPEATS})")
    print(f"two workers are {statistics.median(ratios):.2f} times as fast as one (median ratio)")


if __name__ == "__main__":
    main()
