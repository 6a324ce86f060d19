"""Time of a plan at 100 voxels a side, obstacles included, against the plain SciPy version of the same algorithm
that the tests compare paths to. Both run in one thread and their paths are compared here too.
`python benchmarks/planner.py`"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when NumPy is imported

import numpy as np

PROJECT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(PROJECT), str(PROJECT / "tests" / "methods" / "voxels")]

import scipy_planner  # noqa: E402

from methods.voxels.planner import plan  # noqa: E402

SIZE, REPEATS, WANTED = 100, 9, 10
START = np.array([20, 80, 40])


@dataclass(frozen=True)
class Case:
    """`usual`: what programs and scenes of a table give; the others show what the short cuts do not reach."""

    name: str
    targets: np.ndarray
    scene: np.ndarray
    movable: np.ndarray | None = None
    usual: bool = True


def box(*sides: tuple[int, int]) -> np.ndarray:
    made = np.zeros((SIZE,) * 3, dtype=bool)
    made[tuple(slice(*side) for side in sides)] = True
    return made


def cluttered_table(rng: np.random.Generator) -> np.ndarray:
    """About 50,000 voxels: a table and the shells of boxes that stand on it, as cameras see them."""
    scene = box((0, SIZE), (0, SIZE), (0, 1))
    while np.count_nonzero(scene) < 50_000:
        x, y = rng.integers(0, 85, 2)
        width, depth, height = [*rng.integers(5, 15, 2).tolist(), int(rng.integers(5, 40))]
        scene[x : x + width, y : y + depth, :height] = True
        scene[x + 1 : x + width - 1, y + 1 : y + depth - 1, : height - 1] = False
        scene[:, :, 0] = True
    return scene


def cases() -> list[Case]:
    rng = np.random.default_rng(0)
    table = box((0, SIZE), (0, SIZE), (0, 1))
    few = table | box((40, 50), (45, 60), (0, 20)) | box((65, 75), (25, 35), (0, 12))
    voxel, region = box((70, 71), (30, 31), (20, 21)), box((60, 80), (20, 50), (5, 15))
    clutter = cluttered_table(rng)
    pushed = box((17, 24), (77, 84), (1, 60))
    noise = rng.random((SIZE,) * 3) < 0.05
    scattered = box((70, 71), (30, 31), (20, 21))
    scattered[tuple(rng.integers(0, SIZE, (3, 2000)))] = True
    return [
        Case("single voxel", voxel, few),
        Case("region", region, few),
        Case("cluttered scene", voxel, clutter),
        Case("slab in clutter", box((0, SIZE), (0, SIZE), (60, SIZE)), clutter),
        Case("push in clutter", region, clutter | pushed, pushed),
        Case("noise everywhere", voxel, noise, usual=False),
        Case("scattered target", scattered, clutter, usual=False),
    ]


def median(call: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
    """Milliseconds, and the path."""
    path, times = call(), []
    for _ in range(REPEATS):
        start = time.perf_counter()
        path = call()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3, path


def main() -> int:
    print(f"one plan at {SIZE} voxels a side, median of {REPEATS}, one thread")
    print(f"{'case':18}{'occupied':>9}{'SciPy ms':>10}{'ours ms':>9}{'ratio':>7}{'points':>8}  paths")
    slow = 0
    for case in cases():

        def plain(case: Case = case) -> np.ndarray:
            obstacle = scipy_planner.preprocess(case.scene, case.targets, START, case.movable)
            return scipy_planner.plan(START, case.targets, obstacle, planar=case.movable is not None)

        def ours(case: Case = case) -> np.ndarray:
            return plan(START, case.targets, case.scene, case.movable)

        plain_ms, expected = median(plain)
        ours_ms, path = median(ours)
        equal = path.shape == expected.shape and bool(np.abs(path - expected).max() < 1e-9)
        ratio = plain_ms / ours_ms
        slow += not equal or (case.usual and ratio < WANTED)
        print(
            f"{case.name:18}{np.count_nonzero(case.scene):>9}{plain_ms:>10.1f}{ours_ms:>9.1f}{ratio:>7.1f}"
            f"{len(path):>8}  {'equal' if equal else 'DIFFERENT'}{'' if case.usual else ', unusual'}"
        )
    print(f"at least {WANTED} times in the usual cases: {'no' if slow else 'yes'}")
    return int(slow > 0)


if __name__ == "__main__":
    sys.exit(main())
