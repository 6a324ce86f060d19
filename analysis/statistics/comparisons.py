"""Compares methods and says in words what the data decide, and what they cannot: not comparable, or too few scenes,
with the number that it would take. Paired wherever the scenes are the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from analysis.statistics import paired, unpaired
from analysis.statistics import power as planning
from analysis.statistics.families import holm
from analysis.statistics.paired import NotComparable, NotPaired, Pairs
from analysis.statistics.rates import Interval, Rate, rate
from harness.records import VERDICTS
from harness.store import Row

CONFIDENCE = 0.95
"""Of the intervals."""
POWER = 0.8
"""Power for which the number of scenes is given."""


@dataclass(frozen=True)
class Comparison:
    """The first method against the second. `difference` is the first rate minus the second.

    `pairs` is None for an unpaired comparison. `test`, `p_value` and `interval` are None for methods that cannot be
    compared; `note` then says why, and otherwise what is special about the comparison, if anything.
    """

    first: Rate
    second: Rate
    pairs: Pairs | None
    test: str | None
    p_value: float | None
    interval: Interval | None
    note: str = ""

    @property
    def difference(self) -> float | None:
        if self.first.value is None or self.second.value is None or self.test is None:
            return None
        return self.first.value - self.second.value

    @cached_property
    def needed(self) -> int | None:
        """Scenes (per method) that would decide, with a power of 80 %, a difference and a discordance as seen here.
        None when no difference was seen or nothing can be compared. A guide, as what was seen is uncertain itself."""
        if not self.difference or self.first.value is None or self.second.value is None:
            return None
        if self.pairs is None:
            return planning.scenes_unpaired(self.first.value, self.second.value, power=POWER).scenes
        discordance = self.pairs.discordant / self.pairs.total
        return planning.scenes_paired(self.difference, discordance, power=POWER).scenes

    def words(self, first: str, second: str, alpha: float = 0.05, adjusted: float | None = None) -> str:
        """One sentence or two. `adjusted` is the p-value after correction for a family, which then decides."""
        if self.difference is None or self.p_value is None or self.interval is None:
            return f"{first} and {second} are not comparable: {self.note}."
        scenes = f"{self.first.episodes} scenes"
        if self.pairs is None:
            scenes = f"{self.first.episodes} and {self.second.episodes} scenes"
        low, high = (100 * bound for bound in self.interval)
        seen = (
            f"{100 * self.difference:+.1f} points, {100 * CONFIDENCE:g} % interval {low:+.1f} to {high:+.1f}"
        )
        seen += f", {self.test} p = {self.p_value:.2g} on {scenes}"
        deciding = self.p_value
        if adjusted is not None:
            deciding, seen = adjusted, f"{seen}, {adjusted:.2g} after Holm's correction"
        note = f" {self.note[0].upper()}{self.note[1:]}." if self.note else ""
        if deciding <= alpha:
            verb = "solves more than" if self.difference > 0 else "solves less than"
            return f"{first} {verb} {second} ({seen}).{note}"
        enough = " No difference was seen, so no number of scenes can be given."
        if self.needed is not None:
            enough = f" To decide a difference of this size takes about {self.needed} scenes."
        return f"{first} and {second} cannot be told apart ({seen}).{enough}{note}"


def of_pairs(pairs: Pairs, note: str = "", unmatched: int = 0) -> Comparison:
    """Comparison on the same scenes. Without pairs it cannot be made. `unmatched` verdicts are left out, as the other
    method has none on their scenes."""
    if unmatched:
        note = f"{unmatched} verdicts on scenes that the other lacks are left out"
    if not pairs.total:
        return _impossible(pairs.first, pairs.second, note or "there are no pairs")
    interval = paired.difference_interval(pairs, CONFIDENCE)
    return Comparison(
        pairs.first, pairs.second, pairs, "exact McNemar", paired.mcnemar(pairs), interval, note
    )


def of_rates(first: Rate, second: Rate, note: str = "") -> Comparison:
    """Comparison on scenes that are not the same. Without episodes it cannot be made."""
    if not first.episodes or not second.episodes:
        return _impossible(first, second, note or "one of them has no episode with a verdict")
    p_value = unpaired.p_value(first, second)
    low, high = unpaired.difference_interval(first, second, CONFIDENCE)
    if p_value > 1 - CONFIDENCE:  # the interval is an approximation; the test, which decides, is exact
        low, high = min(low, 0.0), max(high, 0.0)
    return Comparison(first, second, None, unpaired.which_test(first, second), p_value, (low, high), note)


def compare(first: Sequence[Row], second: Sequence[Row]) -> Comparison:
    """Compare the rows of two methods, paired where they met the same scenes.

    Where they did not but played the same tasks of the same environment, the rates are compared unpaired, and the
    note says why. On other tasks, or with two verdicts on one scene, there is no comparison.
    """
    rates = rate(first), rate(second)
    if not all(found.episodes for found in rates):
        return of_rates(*rates)
    try:
        pairs, unmatched = paired.pair(first, second)
    except NotPaired as error:
        if _tasks(first) != _tasks(second):
            return _impossible(*rates, "they were not played on the same tasks of the same environment")
        return of_rates(*rates, f"not paired: {error}")
    except NotComparable as error:
        return _impossible(*rates, str(error))
    return of_pairs(pairs, unmatched=unmatched)


def _impossible(first: Rate, second: Rate, note: str) -> Comparison:
    return Comparison(first, second, None, None, None, None, note)


def _tasks(rows: Iterable[Row]) -> set[tuple[str, str, str]]:
    return {(row["env"], row["env_config"], row["task"]) for row in rows if row["status"] in VERDICTS}


@dataclass(frozen=True)
class Family:
    """Comparisons by pair of names. `adjusted` holds their p-values after Holm's correction."""

    comparisons: Mapping[tuple[str, str], Comparison]
    adjusted: Mapping[tuple[str, str], float | None]


def family(comparisons: Mapping[tuple[str, str], Comparison]) -> Family:
    """Comparisons taken as one family."""
    adjusted = holm({pair: comparison.p_value for pair, comparison in comparisons.items()})
    return Family(dict(comparisons), adjusted)
