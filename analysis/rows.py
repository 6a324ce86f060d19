"""Rows of experiments as a DuckDB table, read from `episodes.jsonl` or from the compact copy of a finished experiment.
Of an episode the row counts that the store counts: the newest, but an error takes no verdict away. It judges nothing
else: what may be put together is for who asks."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import store
from harness.chat import roles
from harness.failures import UsageError
from harness.records import VERDICTS
from harness.schema import IDENTITY_KEYS, SELECTION_KEYS
from harness.stopping import record as standings

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

COMPACT = "rows.parquet"
_COLUMNS = {
    "cell": "VARCHAR",
    "method": "VARCHAR",
    "env": "VARCHAR",
    "env_config": "VARCHAR",
    "task": "VARCHAR",
    "episode": "VARCHAR",
    "instruction": "VARCHAR",
    "instruction_index": "INTEGER",
    "scene": "INTEGER",
    "seed": "INTEGER",
    "status": "VARCHAR",
    "failure": "VARCHAR",
    "error": "VARCHAR",
    "reason": "VARCHAR",
    "state_hash": "VARCHAR",
    "models": "VARCHAR[]",
    "trial_count": "INTEGER",
    "subtasks_done": "INTEGER",
    "subtasks": "INTEGER",
    "steps": "BIGINT",
    "usage": "STRUCT(calls BIGINT, prompt_tokens BIGINT, completion_tokens BIGINT, cost_usd DOUBLE)",
    "timings": "STRUCT(seconds DOUBLE, chat_seconds DOUBLE)",
    "code": "VARCHAR",
    "versions": "MAP(VARCHAR, VARCHAR)",
    "trace": "VARCHAR",
    "video": "VARCHAR",
}
"""What of a row is read, with DuckDB's types."""
_COUNTS = dict.fromkeys(("tp", "fp", "fn", "tn", "unknown"), "BIGINT")
_FACTS: Mapping[str, Any] = {
    "planner_calls": "BIGINT",
    "planner_requests": "BIGINT",
    "planner_seconds": ["DOUBLE"],
    "planner_tokens": ["BIGINT"],
    "sentry_checks": "BIGINT",
    "sentry": {"checks": _COUNTS, "subtasks": _COUNTS},
    "memory": {"needed": "BIGINT", "in_store": "BIGINT", "retrieved": "BIGINT"},
    "memory_sizes": ["BIGINT"],
}
"""What is read of the facts of an episode's first trial, for items that ask for it. What a row does not say is null, and
what another method says by the same name in another form is, too."""


@dataclass(frozen=True)
class _Table:
    """Of the database: its columns, those of a line of JSON, and how the first come from the second."""

    name: str
    columns: Mapping[str, str]
    read: Mapping[str, str]
    select: str


def _kind(node: Any) -> str:
    """DuckDB's type for what `json_transform` makes of a node of `_FACTS`."""
    if isinstance(node, dict):
        return f"STRUCT({', '.join(f'{name} {_kind(inner)}' for name, inner in node.items())})"
    return f"{node[0]}[]" if isinstance(node, list) else str(node)


_ROWS = _Table("rows", _COLUMNS, _COLUMNS, "*")
_OF_EPISODES = _Table(
    "episode_facts",
    {"cell": "VARCHAR", "episode": "VARCHAR", "facts": _kind(_FACTS)},
    {"cell": "VARCHAR", "episode": "VARCHAR", "status": "VARCHAR", "trials": "STRUCT(facts JSON)[]"},
    f"cell, episode, json_transform(trials[1].facts, '{json.dumps(_FACTS)}') AS facts",
)


@dataclass(frozen=True)
class CellInfo:
    """What a cell's folder says of it."""

    identity: str
    folder: Path
    method: str
    env: str
    seed: int
    choices: dict[str, str]
    config: dict[str, Any]

    @property
    def parts(self) -> set[str]:
        """Config groups whose options the method uses: those that its node holds whole."""
        held = list(_nodes(self.config["method"]))
        return {
            group
            for group in self.choices
            if group != "method" and isinstance(node := self.config.get(group), dict) and node in held
        }

    def says(self, key: str) -> str | None:
        """What a cell has for a config group or a key, as it is typed; None for an unknown one. A key of `llm.roles.ROLE`
        is that of the model which plays the role, also where it is the one of all roles; without a key, the model's name."""
        if key in self.choices:
            return self.choices[key]
        node: Any = self.config
        parts = key.split(".")
        if parts[:2] == ["llm", "roles"] and len(parts) > 2:
            node, _ = roles.of_role(self.config["llm"], parts[2])
            if len(parts) == 3:
                return str(node.get("model", node["_target_"].rpartition(".")[2].lower()))
            parts = parts[3:]
        for part in parts:
            if not isinstance(node, dict) or part not in node:
                return None
            node = node[part]
        return node if isinstance(node, str) else json.dumps(node)

    @property
    def without_seed(self) -> str:
        """Everything in the config that can change a result, but for the seed."""
        return json.dumps({key: self._kept(key) for key in IDENTITY_KEYS if key != "seed"}, sort_keys=True)

    def differences(self, other: CellInfo) -> list[str]:
        """Keys, as they are typed, at which two cells differ beyond the seed."""
        ours, theirs = (
            dict(_leaves({key: cell._kept(key) for key in IDENTITY_KEYS if key != "seed"}))
            for cell in (self, other)
        )
        return sorted(key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key))

    def _kept(self, key: str) -> Any:
        node = self.config[key]
        return {k: v for k, v in node.items() if k not in SELECTION_KEYS} if key == "env" else node


@dataclass
class Rows:
    """`db` has a table `rows`, one row an episode, with the columns of a row as `harness.play` writes them (nested ones
    are structs). `cells` are by identity."""

    db: DuckDBPyConnection
    cells: dict[str, CellInfo]
    experiments: Sequence[Path] = ()
    torn: int = 0
    """Rows that were cut off by a kill and are left out; they run again at the next start."""
    notes: list[str] = field(default_factory=list)
    stopping: dict[Path, standings.Record] = field(default_factory=dict)
    """How sequential comparisons stand, by the experiment's folder. Rows that they leave out are not in the table."""

    def stopped(self, cell: CellInfo) -> bool:
        """Whether a sequential test left out episodes of a cell."""
        return cell.folder.name in self.stopping[cell.folder.parent].counted

    def query(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        return self.db.execute(sql, list(parameters)).fetchall()

    @cached_property
    def statuses(self) -> list[tuple[str, str, bool, str, int]]:
        """Cell, task, whether the instruction is a paraphrase, status, and the number of such episodes."""
        return self.query("SELECT cell, task, instruction_index > 0, status, count(*) FROM rows GROUP BY ALL")

    @cached_property
    def with_facts(self) -> str:
        """What to select from for the rows with their `facts` beside them. These are read when they are first asked for:
        most items need none, and they are the larger part of a row."""
        _fill(self, _OF_EPISODES, self.experiments)
        return "rows LEFT JOIN episode_facts USING (cell, episode)"


def load(experiments: Sequence[Path]) -> Rows:
    """Read the experiments' folders. Raises `UsageError` for a folder that is no experiment, for a damaged cell or row, and
    for a cell that two of the folders hold: which of its episodes count could not be told."""
    rows = _load(experiments)
    for folder in experiments:
        rows.stopping[folder] = standings.read(folder)
        _leave_out(rows, folder)
    return rows


def _load(experiments: Sequence[Path]) -> Rows:
    """With rows that do not count."""
    import duckdb

    cells: dict[str, CellInfo] = {}
    for folder in experiments:
        for cell in _cells(folder):
            other = cells.setdefault(cell.identity, cell)
            if other is not cell:
                raise UsageError(
                    f"{other.folder} and {cell.folder} hold the same cell. Name one of the two experiments."
                )
    rows = Rows(duckdb.connect(), cells, experiments)
    rows.torn = _fill(rows, _ROWS, experiments)
    return rows


def compact(experiment: Path) -> Path:
    """Write the compact copy of an experiment beside its cells. It is used as long as no row is added."""
    rows = _load([experiment])
    if rows.torn:
        raise UsageError(
            f"{experiment} has {rows.torn} rows that a kill cut off; run its sweep again, then compact it."
        )
    target = experiment / COMPACT
    part = target.with_suffix(".part")
    sizes = _escaped(json.dumps(_sizes(experiment)))
    rows.db.execute(
        f"COPY (FROM {rows.with_facts}) TO '{_escaped(part)}' (FORMAT parquet, COMPRESSION zstd, KV_METADATA {{sizes: '{sizes}'}})"
    )
    part.replace(target)
    return target


def _cells(experiment: Path) -> Iterable[CellInfo]:
    if not experiment.is_dir():
        raise UsageError(f"{experiment} is not a folder; name one under outputs/.")
    descriptions = sorted(experiment.glob(f"*/{store.CELL}"))
    if not descriptions:
        raise UsageError(f"{experiment} has no cell in it; name the folder of an experiment, outputs/NAME.")
    for description in descriptions:
        found = store.read_description(description)
        yield CellInfo(
            identity=found["cell"],
            folder=description.parent,
            method=found["method"],
            env=found["env"],
            seed=found["seed"],
            choices=found["choices"],
            config=found["config"],
        )


def _leave_out(rows: Rows, experiment: Path) -> None:
    """Rows of episodes that a sequential test did not need any more."""
    stopping = rows.stopping[experiment]
    rows.notes += [f"Sequential test: {one.words()}" for one in stopping.comparisons]
    ((before,),) = rows.query("SELECT count(*) FROM rows")
    for cell in rows.cells.values():
        if cell.folder.parent == experiment and rows.stopped(cell):
            counted = sorted(stopping.counted[cell.folder.name])
            rows.query(
                "DELETE FROM rows WHERE cell = ? AND episode NOT IN (SELECT unnest(?))",
                cell.identity,
                counted,
            )
    ((after,),) = rows.query("SELECT count(*) FROM rows")
    if before > after:
        rows.notes.append(
            f"{before - after} episodes beyond the stop of a sequential test count in no number."
        )


def _fill(rows: Rows, table: _Table, experiments: Sequence[Path]) -> int:
    """Make a table of the database. Returns how many rows a kill cut off."""
    columns = ", ".join(f"{name} {kind}" for name, kind in table.columns.items())
    rows.db.execute(f"CREATE TABLE {table.name} ({columns})")
    return sum(_read(rows, table, folder) for folder in experiments)


def _read(rows: Rows, table: _Table, experiment: Path) -> int:
    if _is_fresh(rows, experiment):
        names = ", ".join(table.columns)
        rows.db.execute(f"INSERT INTO {table.name} SELECT {names} FROM '{_quoted(experiment / COMPACT)}'")
        return 0
    files = [path for path in _row_files(experiment) if path.stat().st_size]
    torn = {path.parent for path in files if not _ends_with_newline(path)}
    _read_json(rows, table, [path for path in files if path.parent not in torn])
    return _read_slowly(rows, table, [path for path in files if path.parent in torn])


def _read_json(rows: Rows, table: _Table, files: Sequence[Path]) -> None:
    import duckdb

    if not files:
        return
    try:
        _insert(rows, table, files)
    except duckdb.Error:
        _read_slowly(rows, table, files)  # says which line of which file is damaged


def _read_slowly(rows: Rows, table: _Table, files: Sequence[Path]) -> int:
    """By the store's own reader, which knows what a torn row is and names a damaged one. Returns how many are torn."""
    cut = 0
    with tempfile.TemporaryDirectory() as folder:
        for _, of_cell in groupby(files, key=lambda path: path.parent):
            found: list[store.Row] = []
            for path in of_cell:
                whole, torn, _ = store.read_rows(path)
                found += whole.values()
                cut += torn
            copy = Path(folder) / "rows.jsonl"
            copy.write_text("".join(json.dumps(row) + "\n" for row in found), encoding="utf-8")
            if found:
                _insert(rows, table, [copy])
    return cut


def _insert(rows: Rows, table: _Table, files: Sequence[Path]) -> None:
    columns = ", ".join(f"{name}: '{kind}'" for name, kind in table.read.items())
    names = ", ".join(f"'{_quoted(path)}'" for path in files)
    rows.db.execute(
        f"WITH lines AS (SELECT *, row_number() OVER () AS line FROM read_json([{names}], "
        f"format='newline_delimited', columns={{{columns}}}, maximum_object_size=67108864)), "
        "counting AS (SELECT * EXCLUDE (line) FROM lines "
        f"QUALIFY row_number() OVER (PARTITION BY cell, episode ORDER BY status IN {VERDICTS} DESC, line DESC) = 1) "
        f"INSERT INTO {table.name} SELECT {table.select} FROM counting"
    )


def _row_files(experiment: Path) -> list[Path]:
    folders = sorted(description.parent for description in experiment.glob(f"*/{store.CELL}"))
    return [path for folder in folders for path in store.row_files(folder)]


def _sizes(experiment: Path) -> dict[str, int]:
    return {str(path.relative_to(experiment)): path.stat().st_size for path in _row_files(experiment)}


def _is_fresh(rows: Rows, experiment: Path) -> bool:
    """Whether the compact copy is there, has what is read of a row, and was made from the rows as they are."""
    path = experiment / COMPACT
    if not path.is_file():
        return False
    names = {name for (name,) in rows.query(f"SELECT name FROM parquet_schema('{_quoted(path)}')")}
    if not names.issuperset({*_COLUMNS, *_FACTS, "facts"}):
        return False
    found = rows.query(f"SELECT value FROM parquet_kv_metadata('{_quoted(path)}') WHERE key = 'sizes'")
    return bool(found) and json.loads(bytes(found[0][0]).decode()) == _sizes(experiment)


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read(1) == b"\n"


def _nodes(node: Any) -> Iterable[dict[str, Any]]:
    """All mappings in a config node, at any depth."""
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from _nodes(value)
    elif isinstance(node, list):
        for value in node:
            yield from _nodes(value)


def _leaves(node: Any, where: str = "") -> Iterable[tuple[str, Any]]:
    if isinstance(node, dict) and node:
        for key, value in node.items():
            yield from _leaves(value, f"{where}.{key}" if where else str(key))
    else:
        yield where, json.dumps(node)


def _escaped(text: object) -> str:
    """For a string of DuckDB's."""
    return str(text).replace("'", "''")


def _quoted(path: Path) -> str:
    """The name of a file to read; brackets and stars of a glob are taken as they are."""
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in _escaped(path))
