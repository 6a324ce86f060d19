"""The table of a whole experiment: method x environment x variant, over seeds. It is the one that a sweep prints, from
any number of rows; cells that differ in more than the seed are lines of their own."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from analysis.rows import CellInfo, Rows
from analysis.statistics.rates import Interval, Rate
from analysis.tables.layout import DASH
from harness.store import PLAN


@dataclass(frozen=True)
class Line:
    """One row of the table. Counts are of episodes with a verdict; errors stand beside them."""

    method: str
    env: str
    variant: str
    """What is unlike other cells of the method and environment; empty where there are none."""
    models: str
    seeds: int
    successes: int
    episodes: int
    errors: int
    unplayed: int
    """Episodes that the newest command asked for and that have no row."""
    solved_by: tuple[int, ...]
    """Episodes solved within one trial, within two and so on, up to the most that any episode took."""
    calls: int
    tokens: int
    cost_usd: float | None
    """None when a call had no known price."""
    seconds: float | None
    """Median wall-clock time of an episode."""
    total_seconds: float
    chat_seconds: float | None
    """That the model's replies took, one from the cache as when it was made; None where rows do not say it, and of a model
    that says no time, as rules."""
    failures: dict[str, int]

    @property
    def rate(self) -> Rate | None:
        return Rate(self.successes, self.episodes) if self.episodes else None


HEADS = (
    "method",
    "env",
    "variant",
    "model",
    "seeds",
    "episodes",
    "success",
    "95 % interval",
    "errors",
    "pass@1, 2, ...",
    "calls",
    "tokens",
    "cost",
    "s/episode",
    "failures",
)
"""Of the table."""
WORDS = frozenset({"method", "env", "variant", "model", "failures"})
"""Those of them over text; the others are over numbers."""


def texts(line: Line) -> list[str]:
    """What stands below `HEADS`."""
    solved = (
        " ".join(f"{100 * count / line.episodes:.0f}" for count in line.solved_by) if line.episodes else DASH
    )
    return [
        line.method,
        line.env,
        line.variant,
        line.models,
        str(line.seeds),
        str(line.episodes),
        *rate_texts(line.rate),
        f"{line.errors}" + (f" ({line.unplayed} not played)" if line.unplayed else ""),
        solved,
        str(line.calls),
        str(line.tokens),
        "unknown" if line.cost_usd is None else f"${line.cost_usd:.2f}",
        DASH if line.seconds is None else f"{line.seconds:.2f}",
        ", ".join(f"{kind} {count}" for kind, count in line.failures.items()),
    ]


def rate_texts(rate: Rate | None) -> tuple[str, str]:
    """A rate and its exact 95 % interval, in percent."""
    if rate is None:
        return DASH, DASH
    low, high = rate.interval()
    return f"{100 * rate.successes / rate.episodes:.1f} %", f"{100 * low:.0f} to {100 * high:.0f}"


def share_text(value: float | None, interval: Interval | None) -> str:
    """A rate with its interval in brackets, in percent; a dash without one."""
    if value is None:
        return DASH
    said = f"{100 * value:.1f} %"
    return said if interval is None else f"{said} ({100 * interval[0]:.0f} to {100 * interval[1]:.0f})"


def lines(rows: Rows) -> list[Line]:
    """In the order of methods and environments' names."""
    return [line_of(rows, *key, cells) for key, cells in groups(rows).items()]


def groups(rows: Rows) -> dict[tuple[str, str, str], list[CellInfo]]:
    """The cells of each line, by method, environment and variant."""
    found: dict[tuple[str, str, str], list[CellInfo]] = {}
    for identity, variant in variants(list(rows.cells.values())).items():
        cell = rows.cells[identity]
        found.setdefault((cell.method, cell.env, variant), []).append(cell)
    return dict(sorted(found.items()))


def variants(cells: Sequence[CellInfo]) -> dict[str, str]:
    """Cell's identity to what tells it from others of its method and environment beside the seed."""
    found: dict[str, str] = {}
    for pair in {(cell.method, cell.env): None for cell in cells}:
        alike = [cell for cell in cells if (cell.method, cell.env) == pair]
        keys = _telling(alike)
        labels = {cell.identity: " ".join(f"{key}={cell.says(key)}" for key in keys) for cell in alike}
        taken = Counter((labels[cell.identity], cell.seed) for cell in alike)
        for cell in alike:
            label = labels[cell.identity]
            # The same config and seed twice: files that the method reads differ, and nothing is averaged over them.
            found[cell.identity] = (
                label if taken[label, cell.seed] == 1 else f"{label} {cell.identity}".strip()
            )
    return found


def _telling(cells: Sequence[CellInfo]) -> list[str]:
    """Groups whose choice differs, and keys that differ apart from them, as they are typed."""
    examples = list({cell.without_seed: cell for cell in cells}.values())
    if len(examples) < 2:
        return []
    differing = {key for other in examples[1:] for key in examples[0].differences(other)}
    parts = set[str]().union(*(cell.parts for cell in examples))
    groups = [group for group in sorted(parts) if len({cell.choices.get(group) for cell in examples}) > 1]
    keys = [
        key
        for key in sorted(differing)
        if not any(f".{group}." in f".{key}." for group in groups)
        and all(cell.says(key) is not None for cell in examples)
    ]
    # A part stands in the method's node and in its own: the short name is the one that is typed.
    typed = {key: _typed(key, parts) for key in keys}
    return groups + sorted(set(typed.values()))


def _typed(key: str, parts: set[str]) -> str:
    nodes = key.split(".")
    for i, node in enumerate(nodes):
        if i and node in parts:
            return ".".join(nodes[i:])
    return key


_VERDICT = "status != 'error'"


def line_of(rows: Rows, method: str, env: str, variant: str, cells: Sequence[CellInfo]) -> Line:
    """The line of a group."""
    mine = [cell.identity for cell in cells]
    chosen = "FROM rows WHERE cell IN (SELECT unnest(?))"
    (
        (
            episodes,
            successes,
            errors,
            most,
            calls,
            tokens,
            cost,
            priced,
            seconds,
            total_seconds,
            chat_seconds,
        ),
    ) = rows.query(
        f"SELECT count_if({_VERDICT}), count_if(status = 'success'), count_if(status = 'error'), "
        f"max(trial_count) FILTER ({_VERDICT}), coalesce(sum(usage.calls) FILTER ({_VERDICT}), 0), "
        f"coalesce(sum(usage.prompt_tokens + usage.completion_tokens) FILTER ({_VERDICT}), 0), "
        f"coalesce(sum(usage.cost_usd) FILTER ({_VERDICT}), 0), "
        f"bool_and(usage.cost_usd IS NOT NULL OR usage IS NULL) FILTER ({_VERDICT}), "
        f"median(timings.seconds) FILTER ({_VERDICT}), coalesce(sum(timings.seconds) FILTER ({_VERDICT}), 0), "
        f"CASE WHEN bool_and(timings.chat_seconds IS NOT NULL) FILTER ({_VERDICT}) "
        f"THEN nullif(sum(timings.chat_seconds) FILTER ({_VERDICT}), 0) END {chosen}",
        mine,
    )
    solved = dict(
        rows.query(f"SELECT trial_count, count(*) {chosen} AND status = 'success' GROUP BY ALL", mine)
    )
    failures = rows.query(
        f"SELECT failure, count(*) {chosen} AND status = 'failure' GROUP BY ALL ORDER BY ALL", mine
    )
    models = rows.query(
        f"SELECT DISTINCT unnest(models) AS model {chosen} AND {_VERDICT} ORDER BY model", mine
    )
    return Line(
        method=method,
        env=env,
        variant=variant,
        models=", ".join(model for (model,) in models)
        or ", ".join(sorted({c.choices["llm"] for c in cells})),
        seeds=len({cell.seed for cell in cells}),
        successes=successes,
        episodes=episodes,
        errors=errors,
        unplayed=sum(_unplayed(rows, cell) for cell in cells),
        solved_by=tuple(
            sum(count for trials, count in solved.items() if trials <= limit)
            for limit in range(1, (most or 0) + 1)
        ),
        calls=int(calls),
        tokens=int(tokens),
        cost_usd=cost if priced or priced is None else None,
        seconds=seconds,
        total_seconds=total_seconds,
        chat_seconds=chat_seconds,
        failures={str(kind): count for kind, count in failures},
    )


def _unplayed(rows: Rows, cell: CellInfo) -> int:
    path = cell.folder / PLAN
    if not path.exists():
        return 0
    asked = json.loads(path.read_text(encoding="utf-8"))["episodes"]
    ((played,),) = rows.query(
        "SELECT count(*) FROM rows WHERE cell = ? AND episode IN (SELECT unnest(?))", cell.identity, asked
    )
    return len(asked) - int(played)
