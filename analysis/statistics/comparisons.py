"""Compares methods and says in words what the data decide, and what they cannot: not comparable, or too few scenes,
with the number that it would take. Paired wherever the scenes are the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from analysis.statistics import clusters, paired, unpaired
from analysis.statistics import power as planning
from analysis.statistics.families import holm
from analysis.statistics.letters import letters
from analysis.statistics.paired import NotComparable, NotPaired, Pairs
from analysis.statistics.rates import Interval, Rate, rate
from harness.records import VERDICTS
from harness.store import Row

CONFIDENCE = 0.95
"""Of the intervals."""
POWER = 0.8
"""Power for which the number of scenes is given."""
ALPHA = 0.05
"""Chance of a false decision, of a comparison or of a whole family."""


@dataclass(frozen=True)
class Comparison:
    """The first method against the second. `difference` is the first rate minus the second.

    `pairs` is None for an unpaired comparison; `tasks` holds those of each task. `test`, `p_value` and `interval` are None
    for methods that cannot be compared; `note` then says why, and otherwise what is special about the comparison, if
    anything.
    """

    first: Rate
    second: Rate
    pairs: Pairs | None
    test: str | None
    p_value: float | None
    interval: Interval | None
    note: str = ""
    tasks: Mapping[str, Pairs] = field(default_factory=dict)

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

    def words(self, first: str, second: str, alpha: float = ALPHA, adjusted: float | None = None) -> str:
        """A few sentences. `adjusted` is the p-value after correction for a family, which then decides."""
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
        note += self._over_tasks()
        if deciding <= alpha:
            verb = "solves more than" if self.difference > 0 else "solves less than"
            return f"{first} {verb} {second} ({seen}).{note}"
        enough = " No difference was seen, so no number of scenes can be given."
        if self.needed is not None:
            enough = f" To decide a difference of this size takes about {self.needed} scenes."
        return f"{first} and {second} cannot be told apart ({seen}).{enough}{note}"

    def _over_tasks(self) -> str:
        """What it says of tasks that were not played."""
        average = clusters.difference(self.tasks, CONFIDENCE)
        if average.value is None or average.interval is None:
            return ""
        low, high = (100 * bound for bound in average.interval)
        return (
            f" With its {average.tasks} tasks as a sample of tasks: {100 * average.value:+.1f} points, {low:+.1f} to "
            f"{high:+.1f}, sign-flip p = {clusters.sign_flip(self.tasks.values()):.2g}."
        )


def of_pairs(tasks: Mapping[str, Pairs], unmatched: int = 0) -> Comparison:
    """Comparison on the same scenes, by task. Without pairs it cannot be made. `unmatched` verdicts are left out, as the
    other method has none on their scenes."""
    pairs = paired.total(tasks.values())
    note = f"{unmatched} verdicts on scenes that the other lacks are left out" if unmatched else ""
    if not pairs.total:
        return _impossible(pairs.first, pairs.second, note or "there are no pairs")
    interval = paired.difference_interval(pairs, CONFIDENCE)
    return Comparison(
        pairs.first, pairs.second, pairs, "exact McNemar", paired.mcnemar(pairs), interval, note, tasks
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
        tasks, unmatched = paired.pair(first, second)
    except NotPaired as error:
        if _tasks(first) != _tasks(second):
            return _impossible(*rates, "they were not played on the same tasks of the same environment")
        return of_rates(*rates, f"not paired: {error}")
    except NotComparable as error:
        return _impossible(*rates, str(error))
    return of_pairs(tasks, unmatched)


def _impossible(first: Rate, second: Rate, note: str) -> Comparison:
    return Comparison(first, second, None, None, None, None, note)


def _tasks(rows: Iterable[Row]) -> set[tuple[str, str, str]]:
    return {(row["env"], row["env_config"], row["task"]) for row in rows if row["status"] in VERDICTS}


@dataclass(frozen=True)
class Family:
    """Comparisons by pair of names. `adjusted` holds their p-values after Holm's correction."""

    comparisons: Mapping[tuple[str, str], Comparison]
    adjusted: Mapping[tuple[str, str], float | None]

    def letters(self, alpha: float = ALPHA) -> dict[str, str]:
        """Each method's letters, the first of them the best one's: methods that share one were not told apart. A pair that
        is missing or could not be compared was not."""
        rates: dict[str, float] = {}
        for (first, second), comparison in self.comparisons.items():
            rates.setdefault(first, comparison.first.value or 0.0)
            rates.setdefault(second, comparison.second.value or 0.0)
        best_first = sorted(rates, key=lambda name: -rates[name])
        return letters(
            best_first, [pair for pair, p in self.adjusted.items() if p is not None and p <= alpha]
        )

    def words(self) -> list[str]:
        """What each comparison says, in their order."""
        return [
            comparison.words(*pair, adjusted=self.adjusted[pair])
            for pair, comparison in self.comparisons.items()
        ]


def family(comparisons: Mapping[tuple[str, str], Comparison]) -> Family:
    """Comparisons taken as one family."""
    adjusted = holm({pair: comparison.p_value for pair, comparison in comparisons.items()})
    return Family(dict(comparisons), adjusted)
