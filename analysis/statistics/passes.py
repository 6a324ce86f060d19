"""Success within k attempts, in two meanings that must not be mixed.

`pass_at_k` is for attempts that do not know of each other (one method, several seeds on a scene). `solved_within` is
for the trials of one episode, where each follows from the last (Retry, Self-reflection, MTP): there it is a plain
share of episodes."""

from __future__ import annotations

from collections.abc import Iterable
from math import comb

from analysis.statistics.rates import Rate
from harness.records import VERDICTS
from harness.store import Row


def pass_at_k(attempts: int, successes: int, k: int) -> float | None:
    """Unbiased estimate of the chance that at least one of k independent attempts succeeds (Chen et al., 2021). None
    when there were fewer than k attempts: it cannot be estimated from them without assuming more.

    Raises `ValueError` for k below 1 and for counts that cannot be.
    """
    if k < 1 or not 0 <= successes <= attempts:
        raise ValueError(f"pass@{k} of {successes} successes in {attempts} attempts cannot be.")
    if attempts < k:
        return None
    return 1 - comb(attempts - successes, k) / comb(attempts, k)


def mean_pass_at_k(scenes: Iterable[tuple[int, int]], k: int) -> float | None:
    """Mean of `pass_at_k` over scenes given as (attempts, successes). None without scenes, and as soon as one of them
    has fewer than k attempts."""
    found = [pass_at_k(attempts, successes, k) for attempts, successes in scenes]
    known = [value for value in found if value is not None]
    return sum(known) / len(known) if known and len(known) == len(found) else None


def attempts_by_scene(rows: Iterable[Row]) -> list[tuple[int, int]]:
    """(attempts, successes) of each scene over the seeds of one method, counting first trials only: these do not know
    of each other. Errors are no attempts."""
    counts: dict[tuple[str, str, str, int, int], list[int]] = {}
    for row in rows:
        if row["status"] not in VERDICTS:
            continue
        key = (row["env"], row["env_config"], row["task"], row["instruction_index"], row["scene"])
        count = counts.setdefault(key, [0, 0])
        count[0] += 1
        count[1] += row["status"] == "success" and row["trial_count"] == 1
    return [(attempts, successes) for attempts, successes in counts.values()]


def solved_within(rows: Iterable[Row], trials: int) -> Rate:
    """Episodes solved in that many trials or fewer, of all that have a verdict. Raises `ValueError` below 1."""
    if trials < 1:
        raise ValueError(f"Solved within {trials} trials cannot be.")
    verdicts = [row for row in rows if row["status"] in VERDICTS]
    solved = sum(row["status"] == "success" and row["trial_count"] <= trials for row in verdicts)
    return Rate(solved, len(verdicts))
