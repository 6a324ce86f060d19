"""Compares two groups of rows as `statistics.comparisons` does; the scenes that they share are matched and counted by DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.rows import Rows
from analysis.statistics.comparisons import Comparison, compare, of_pairs
from analysis.statistics.paired import Pairs

_COMPARED = (
    "status",
    "failure",
    "error",
    "method",
    "env",
    "env_config",
    "task",
    "instruction_index",
    "scene",
    "seed",
    "state_hash",
    "cell",
)


@dataclass(frozen=True)
class Chosen:
    """The rows that fulfil a condition in SQL."""

    condition: str
    parameters: Sequence[object]


def contrast(rows: Rows, first: Chosen, second: Chosen) -> Comparison:
    """As `comparisons.compare`, which is asked itself where the two did not meet the same scenes: it says why."""
    chosen = "SELECT *, status = 'success' AS solved FROM rows WHERE status != 'error' AND"
    lines = rows.query(
        f"WITH ours AS ({chosen} {first.condition}), theirs AS ({chosen} {second.condition}) "
        "SELECT task, count(*), "
        "count_if(coalesce(ours.state_hash, '') = '' OR ours.state_hash != theirs.state_hash), "
        "count_if(ours.solved AND theirs.solved), count_if(ours.solved AND NOT theirs.solved), "
        "count_if(theirs.solved AND NOT ours.solved), "
        "(SELECT count(*) FROM ours) + (SELECT count(*) FROM theirs) "
        "FROM ours JOIN theirs USING (env, env_config, task, instruction_index, scene, seed) GROUP BY task ORDER BY task",
        *first.parameters,
        *second.parameters,
    )
    if not lines or any(other_scene for _, _, other_scene, *_ in lines):
        return compare(_rows_of(rows, first), _rows_of(rows, second))
    tasks = {
        task: Pairs(both, only_first, only_second, shared - both - only_first - only_second)
        for task, shared, _, both, only_first, only_second, _ in lines
    }
    verdicts = lines[0][-1]
    return of_pairs(tasks, verdicts - 2 * sum(pairs.total for pairs in tasks.values()))


def _rows_of(rows: Rows, chosen: Chosen) -> list[dict[str, object]]:
    found = rows.query(
        f"SELECT {', '.join(_COMPARED)} FROM rows WHERE {chosen.condition}", *chosen.parameters
    )
    return [dict(zip(_COMPARED, line, strict=True)) for line in found]
