"""Two methods on the same scenes: the exact test of McNemar, and an interval of the difference that agrees with it.

Only scenes that the two end differently speak (discordant pairs). Where on every scene the two are equally likely to
succeed, each such pair is a fair coin, whatever the scenes' difficulties, their tasks or the number of seeds: the
test is exact then. Whether a difference would hold on other tasks is another question; see `clusters`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, dataclass
from math import copysign, inf, sqrt

from analysis.statistics.rates import Interval, Rate
from harness.intervals import clopper_pearson
from harness.records import VERDICTS
from harness.store import Row

SceneKey = tuple[str, str, str, int, int, int]
"""Environment, its config, task, instruction index, scene, seed."""


class NotComparable(Exception):
    """Rows that cannot be compared; the message says which and why."""


class NotPaired(NotComparable):
    """The two did not meet the same scenes, so that only their rates can be compared."""


@dataclass(frozen=True)
class Pairs:
    """How many scenes both methods solved, only the first, only the second, neither."""

    both: int
    first_only: int
    second_only: int
    neither: int

    @property
    def total(self) -> int:
        return self.both + self.first_only + self.second_only + self.neither

    @property
    def discordant(self) -> int:
        return self.first_only + self.second_only

    @property
    def first(self) -> Rate:
        return Rate(self.both + self.first_only, self.total)

    @property
    def second(self) -> Rate:
        return Rate(self.both + self.second_only, self.total)

    def __add__(self, other: Pairs) -> Pairs:
        return Pairs(*(ours + theirs for ours, theirs in zip(astuple(self), astuple(other), strict=True)))


def total(tasks: Iterable[Pairs]) -> Pairs:
    """Of several tasks together."""
    return sum(tasks, Pairs(0, 0, 0, 0))


def pair(first: Iterable[Row], second: Iterable[Row]) -> tuple[dict[str, Pairs], int]:
    """Match the verdicts of two methods by environment, its config, task, instruction, scene and seed. Returns each task's
    pairs, and the number of verdicts on scenes where the other method has none.

    Raises `NotPaired` when no scene is shared, when a shared scene has no hash of its initial state, or when the two
    hashes differ (it was not the same scene); `NotComparable` when a method has two verdicts on a scene.
    """
    ours, theirs = _by_scene(first), _by_scene(second)
    shared = sorted(ours.keys() & theirs.keys())
    if not shared:
        raise NotPaired("the two have no episode on the same task, instruction, scene and seed")
    _check_states(shared, ours, theirs)
    solved: dict[str, Counter[tuple[bool, bool]]] = {}
    for key in shared:
        ended = (ours[key]["status"] == "success", theirs[key]["status"] == "success")
        solved.setdefault(key[2], Counter())[ended] += 1
    tasks = {task: Pairs(*(counts[cell] for cell in _CELLS)) for task, counts in solved.items()}
    return tasks, len(ours) + len(theirs) - 2 * len(shared)


_CELLS = ((True, True), (True, False), (False, True), (False, False))
"""In the order of `Pairs`: whether the first method solved a scene, and whether the second did."""


def _by_scene(rows: Iterable[Row]) -> dict[SceneKey, Row]:
    found: dict[SceneKey, Row] = {}
    for row in rows:
        if row["status"] not in VERDICTS:
            continue
        key = (
            row["env"],
            row["env_config"],
            row["task"],
            row["instruction_index"],
            row["scene"],
            row["seed"],
        )
        if key in found:
            raise NotComparable(
                f"{row['method']} has two verdicts on {_name(key)} (cells {found[key]['cell']} and {row['cell']}); "
                "compare one cell at a time"
            )
        found[key] = row
    return found


def _check_states(
    shared: list[SceneKey], ours: Mapping[SceneKey, Row], theirs: Mapping[SceneKey, Row]
) -> None:
    unknown = [key for key in shared if not (ours[key]["state_hash"] and theirs[key]["state_hash"])]
    if unknown:
        raise NotPaired(f"no initial state is recorded for {_names(unknown)}")
    differing = [key for key in shared if ours[key]["state_hash"] != theirs[key]["state_hash"]]
    if differing:
        raise NotPaired(f"the initial states differ in {_names(differing)}")


def _name(key: SceneKey) -> str:
    return f"{key[0]} {key[2]} scene {key[4]} instruction {key[3]} seed {key[5]}"


def _names(keys: list[SceneKey]) -> str:
    rest = f" and {len(keys) - 3} more" if len(keys) > 3 else ""
    return ", ".join(map(_name, keys[:3])) + rest


def mcnemar(pairs: Pairs) -> float:
    """Two-sided p-value of the exact test: both tails of a fair coin over the discordant pairs. 1 without any."""
    from scipy.special import bdtr

    fewer = min(pairs.first_only, pairs.second_only)
    return min(1.0, 2 * float(bdtr(fewer, pairs.discordant, 0.5))) if pairs.discordant else 1.0


def difference_interval(pairs: Pairs, confidence: float = 0.95) -> Interval:
    """Interval of the first rate minus the second; (-1, 1) without pairs, and never a point.

    It is Tango's (1998) score interval, widened to that of Clopper and Pearson for the share of the discordant pairs
    that the first method wins, their number taken as it is. Tango's alone holds its confidence only closely, and after
    few discordant pairs leaves out 0 where the exact test does not reject; this one leaves it out where it rejects.
    """
    n, b, c = pairs.total, pairs.first_only, pairs.second_only
    if n == 0:
        return -1.0, 1.0
    low, high = _tango(n, b, c, confidence)
    least, most = ((b + c) / n * (2 * share - 1) for share in clopper_pearson(b, b + c, confidence))
    return min(low, least), max(high, most)


def _tango(n: int, b: int, c: int, confidence: float) -> Interval:
    from scipy.special import ndtri

    z = float(ndtri((1 + confidence) / 2))

    def score(difference: float) -> float:
        linear = (2 * n - b + c) * difference - b - c
        constant = -c * difference * (1 - difference)
        rate = (sqrt(max(0.0, linear * linear - 8 * n * constant)) - linear) / (4 * n)
        variance = n * (2 * rate + difference * (1 - difference))
        distance = b - c - n * difference
        if variance <= 1e-12 * n:
            return copysign(inf, distance) if abs(distance) > 1e-9 * n else 0.0
        return distance / sqrt(variance)

    estimate = (b - c) / n
    low = -1.0 if b == 0 and c == n else _cross(lambda x: score(x) - z, -1.0, estimate)
    high = 1.0 if c == 0 and b == n else _cross(lambda x: score(x) + z, estimate, 1.0)
    return low, high


def _cross(decreasing: Callable[[float], float], low: float, high: float) -> float:
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if decreasing(middle) > 0 else (low, middle)
    return (low + high) / 2
