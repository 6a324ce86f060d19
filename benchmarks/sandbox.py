"""Time of programs such as models write in the sandbox against `exec` of the same code, both compiled before. The
task API does nothing here: the planner's steps take seconds in a real episode, so these ratios are the largest.
`python benchmarks/sandbox.py`"""

from __future__ import annotations

import math
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when NumPy is imported

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from harness.sandbox import Sandbox, extract_code
from harness.sandbox.policy import compile_program

ROUNDS, ROUND_SECONDS = 9, 0.03


@dataclass(frozen=True)
class Case:
    name: str
    code: str


CASES = [
    Case("nothing", "ret_val = 1"),
    Case(
        "planner",
        """
objects = ['orange cube', 'grey tray', 'glass']
composer("move to 10cm above the orange cube while keeping at least 12cm away from the glass")
composer("grasp the orange cube")
composer("move up by 15cm")
for name in objects[1:]:
    if name != 'glass':
        composer(f"move to 5cm above the {name}")
composer("open gripper")
composer("back to default pose")
ret_val = len(objects)
""",
    ),
    Case(
        "map",
        """
affordance_map = get_empty_affordance_map()
mug = detect('mug')
(min_x, min_y, min_z), (max_x, max_y, max_z) = mug['aabb']
center_x, center_y, center_z = mug['position']
x, y, z = center_x, center_y, max_z + cm2index(10, 'z')
affordance_map[x, y, z] = 1
affordance_map[min_x:max_x, min_y:max_y, min_z:max_z] = -1
ret_val = int(affordance_map.sum())
""",
    ),
    Case(
        "geometry",
        """
points = np.stack([np.array([i, i ** 2, 1.0]) for i in range(20)])
center = points.mean(axis=0)
distances = np.linalg.norm(points - center, axis=1)
nearest = points[distances.argmin()]
angle = math.degrees(math.atan2(nearest[1], nearest[0]))
ret_val = round(float(angle + distances.max()), 6)
""",
    ),
    Case(
        "loops",
        """
def inside(x, y, z):
    return (x - 10) ** 2 + (y - 10) ** 2 + (z - 10) ** 2 <= 25

count = 0
for x in range(20):
    for y in range(20):
        for z in range(20):
            if inside(x, y, z):
                count += 1
ret_val = count
""",
    ),
]


def api() -> dict[str, object]:
    grid = np.zeros((100, 100, 100))
    mug = {"position": np.array([40, 50, 10]), "aabb": np.array([[35, 45, 0], [45, 55, 20]])}

    def get_empty_affordance_map() -> np.ndarray:
        grid[:] = 0.0
        return grid

    return {
        "composer": lambda sentence: None,
        "get_empty_affordance_map": get_empty_affordance_map,
        "detect": lambda name: mug,
        "cm2index": lambda cm, axis: round(cm),
    }


def seconds(call: Callable[[], object], times: int) -> float:
    """Per call."""
    start = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - start) / times


def compare(first: Callable[[], object], second: Callable[[], object]) -> tuple[float, float]:
    """Medians in seconds, of rounds that take turns, so that a busy moment hits both."""
    times = [max(1, int(ROUND_SECONDS / seconds(call, 3))) for call in (first, second)]
    rounds = [(seconds(first, times[0]), seconds(second, times[1])) for _ in range(ROUNDS)]
    return statistics.median(r[0] for r in rounds), statistics.median(r[1] for r in rounds)


def first_use(code: str, names: frozenset[str]) -> tuple[float, float]:
    """Seconds to read a reply and check and compile it, and those of `compile` alone."""

    def ours() -> None:
        compile_program.cache_clear()
        compile_program(extract_code(f"```python\n{code}\n```").code, names)

    return compare(lambda: compile(code, "<plain>", "exec"), ours)


def main() -> int:
    functions, sandbox, different = api(), Sandbox(), 0
    print(
        f"one run of a compiled program, median of {ROUNDS} rounds; `check` is extraction, policy and compiling"
    )
    print(
        f"{'case':10}{'exec us':>9}{'sandbox us':>12}{'ratio':>7}{'added us':>10}{'compile us':>12}{'check us':>10}"
    )
    for case in CASES:
        code, program = compile(case.code, "<plain>", "exec"), sandbox.compile(case.code, functions)

        def plain(code: CodeType = code) -> object:
            names: dict[str, object] = {"np": np, "math": math, **functions}
            exec(code, names)
            return names["ret_val"]

        def ours(run: Callable[[], dict[str, object]] = program.run) -> object:
            return run()["ret_val"]

        expected, result = plain(), ours()
        different += result != expected
        plain_s, ours_s = compare(plain, ours)
        compile_s, check_s = first_use(case.code, frozenset(functions))
        print(
            f"{case.name:10}{plain_s * 1e6:>9.1f}{ours_s * 1e6:>12.1f}{ours_s / plain_s:>7.1f}"
            f"{(ours_s - plain_s) * 1e6:>10.1f}{compile_s * 1e6:>12.0f}{check_s * 1e6:>10.0f}"
            f"{'' if result == expected else f'  DIFFERENT: {result!r}, not {expected!r}'}"
        )
    print(f"all results equal: {'no' if different else 'yes'}")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
