"""What an experiment compares, environment by environment: methods with their rates, over all tasks and by task, what a
success costs, and the keys at which their configs differ. The page and W&B show the same; this knows neither."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from analysis.contrasts import Chosen, contrast
from analysis.report import overview
from analysis.report.overview import Line
from analysis.rows import CellInfo, Rows
from analysis.statistics import clusters
from analysis.statistics.comparisons import Comparison, Family, family
from analysis.statistics.rates import Interval, Rate
from analysis.tables.layout import DASH

Share = tuple[float | None, Interval | None]
"""A rate, None without episodes, and its interval, if it has one."""


LETTERS = (
    "Methods that share a letter were not told apart: all pairs, on the same scenes where they met them, after Holm's "
    "correction at 5 %. That is not to say that they are equal."
)


@dataclass(frozen=True)
class Contender:
    """A line of the table of methods: the cells of a method, or of a variant of it, over seeds."""

    line: Line
    cells: tuple[CellInfo, ...]
    tasks: dict[str, Rate]
    """By task; of one that has nothing but errors over no episode."""

    @property
    def name(self) -> str:
        return f"{self.line.method} {self.line.variant}".strip()


@dataclass(frozen=True)
class World:
    """The contenders of one environment; rates of different ones are not compared."""

    env: str
    contenders: tuple[Contender, ...]
    pairs: Family
    """Each contender against each other one, by their names."""

    @property
    def tasks(self) -> list[str]:
        return sorted({task for contender in self.contenders for task in contender.tasks})


@dataclass(frozen=True)
class Table:
    """Texts. The first column has names, the others values, which are words in `words`."""

    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    words: frozenset[str] = frozenset()


def compare(rows: Rows) -> list[World]:
    """In the order of the environments' and methods' names."""
    worlds: dict[str, list[Contender]] = {}
    for (method, env, variant), cells in overview.groups(rows).items():
        line = overview.line_of(rows, method, env, variant, cells)
        contender = Contender(line, tuple(cells), _tasks(rows, cells))
        worlds.setdefault(env, []).append(contender)
    return [
        World(env, tuple(contenders), _pairs(rows, contenders)) for env, contenders in sorted(worlds.items())
    ]


def methods(world: World) -> Table:
    """Success rates with their exact intervals, and what stands beside them."""
    rows = [tuple(overview.texts(contender.line)) for contender in world.contenders]
    return Table(overview.HEADS, rows, overview.WORDS)


def letters(world: World) -> Table:
    """Which contenders were not told apart, in letters."""
    return Table(("method", "letters"), list(world.pairs.letters().items()), frozenset({"method", "letters"}))


def tasks(world: World) -> Table:
    """What `rates_by_task` has, as texts, a column a contender."""
    heads = ("task", *(contender.name for contender in world.contenders))
    rows = [
        (task, *(overview.share_text(*share) for share in shares)) for task, shares in rates_by_task(world)
    ]
    return Table(heads, rows)


def rates_by_task(world: World) -> list[tuple[str, list[Share]]]:
    """Each contender's success rate on each task with its exact interval over episodes, then the mean over tasks, if there
    are several, with an interval that takes them for a sample of tasks (`statistics.clusters`)."""
    found: list[tuple[str, list[Share]]] = [
        (task, [_share(contender.tasks.get(task)) for contender in world.contenders]) for task in world.tasks
    ]
    if len(found) > 1:
        means = [clusters.rate(contender.tasks) for contender in world.contenders]
        found.append(("mean over tasks", [(mean.value, mean.interval) for mean in means]))
    return found


def costs(world: World) -> Table:
    """What a success costs: all episodes with a verdict, failures included, over the successes."""
    heads = (
        "method",
        "success",
        "cost/success",
        "tokens/success",
        "calls/success",
        "s/success",
        "model s/success",
        "s/episode",
    )
    rows = []
    for contender in world.contenders:
        line = contender.line
        rows.append(
            (
                contender.name,
                overview.rate_texts(line.rate)[0],
                "unknown" if line.cost_usd is None else _over(line.cost_usd, line, "${:.4f}"),
                _over(line.tokens, line, "{:.0f}"),
                _over(line.calls, line, "{:.1f}"),
                _over(line.total_seconds, line, "{:.2f}"),
                DASH if line.chat_seconds is None else _over(line.chat_seconds, line, "{:.2f}"),
                DASH if line.seconds is None else f"{line.seconds:.2f}",
            )
        )
    return Table(heads, rows)


def expense(world: World) -> tuple[str, list[tuple[str, float, Rate]]]:
    """What an episode costs beside the rate, for contenders that have one: in USD where prices are known and not
    nothing, else in tokens. Returns the unit and name, cost and rate of each."""
    known = [
        (contender.name, contender.line, rate)
        for contender in world.contenders
        if (rate := contender.line.rate)
    ]
    if all(line.cost_usd is not None for _, line, _ in known) and any(line.cost_usd for _, line, _ in known):
        return "USD", [(name, (line.cost_usd or 0.0) / line.episodes, rate) for name, line, rate in known]
    return "tokens", [(name, line.tokens / line.episodes, rate) for name, line, rate in known]


def differences(world: World) -> Table:
    """Keys at which the contenders' configs differ beyond the seed, as they are typed; a dash where a method has none."""
    firsts = [contender.cells[0] for contender in world.contenders]
    keys = sorted({key for other in firsts[1:] for key in firsts[0].differences(other)})
    leaves = [key for key in keys if not any(other.startswith(f"{key}.") for other in keys)]
    heads = ("key", *(contender.name for contender in world.contenders))
    rows = [(key, *(DASH if (said := cell.says(key)) is None else said for cell in firsts)) for key in leaves]
    return Table(heads, rows, frozenset(heads))


def _tasks(rows: Rows, cells: Sequence[CellInfo]) -> dict[str, Rate]:
    found = rows.query(
        "SELECT task, count_if(status = 'success'), count_if(status != 'error') FROM rows "
        "WHERE cell IN (SELECT unnest(?)) GROUP BY task ORDER BY task",
        [cell.identity for cell in cells],
    )
    return {task: Rate(successes, episodes) for task, successes, episodes in found}


def _pairs(rows: Rows, contenders: Sequence[Contender]) -> Family:
    """A test for one look does not hold where a sequential test chose the number of episodes: such pairs are not in it."""
    looked = {each.name for each in contenders if any(map(rows.stopped, each.cells))}
    played = {
        each.name: Chosen("cell IN (SELECT unnest(?))", [[cell.identity for cell in each.cells]])
        for each in contenders
        if each.name not in looked
    }
    found: dict[tuple[str, str], Comparison] = {
        pair: contrast(rows, *(played[name] for name in pair)) for pair in combinations(played, 2)
    }
    return family(found)


def _share(rate: Rate | None) -> Share:
    return (rate.value, rate.interval()) if rate is not None else (None, None)


def _over(total: float, line: Line, shape: str) -> str:
    """Per success; without one there is no such number."""
    return shape.format(total / line.successes) if line.successes else DASH
