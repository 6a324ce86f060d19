"""Rows as a table: the newest of an episode, torn and damaged ones, and the compact copy."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from analysis.rows import _COLUMNS, COMPACT, Rows, compact, load
from harness.failures import UsageError
from harness.store import CELL, ROWS, read_cell
from tests.analysis.tables.conftest import a_row, verdicts, write_cell


def counts(rows: Rows) -> list[tuple[object, ...]]:
    return rows.query("SELECT status, count(*) FROM rows GROUP BY status ORDER BY status")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_cell(tmp_path / "it's [one]", "retry", "tabletop", 0, verdicts("+--!"))


def test_every_row_is_there_with_its_nested_values(folder: Path) -> None:
    rows = load([folder.parent])
    assert counts(rows) == [("error", 1), ("failure", 2), ("success", 1)]
    assert rows.query("SELECT sum(usage.calls), sum(usage.cost_usd), max(timings.seconds) FROM rows") == [
        (12, None, 1.5)
    ]
    assert rows.query("SELECT DISTINCT models, versions['engram'] FROM rows") == [(["rules-3"], "0.1.0")]


def test_the_newest_row_of_an_episode_counts(folder: Path) -> None:
    write_cell(folder.parent, "retry", "tabletop", 0, {("lamp_off", 1): "success"})
    assert counts(load([folder.parent])) == [("failure", 2), ("success", 2)]


def test_rows_of_jobs_count_as_the_newest_also_when_one_is_torn(folder: Path) -> None:
    """A job of a cluster writes a file of its own beside the cell's."""
    rows = [json.loads(line) for line in (folder / ROWS).read_text().splitlines()]
    part = folder / "episodes-20260101T000000-00000.jsonl"
    (error,) = [row for row in rows if row["status"] == "error"]
    part.write_text(json.dumps({**error, "status": "success", "error": None}) + "\n")
    for torn in (0, 1):
        found = load([folder.parent])
        assert counts(found) == [("failure", 2), ("success", 2)]
        assert found.torn == torn
        with part.open("a") as file:
            file.write('{"method": "retry", "ta')


@pytest.mark.parametrize("torn", [0, 1])
def test_an_error_of_one_job_takes_no_verdict_of_another_away(folder: Path, torn: int) -> None:
    """The same as `harness.store` reads, whichever way the rows are read."""
    rows = [json.loads(line) for line in (folder / ROWS).read_text().splitlines()]
    (folder / ROWS).rename(folder / "episodes-20260101T000000-00000.jsonl")
    with (folder / "episodes-20260101T000000-00001.jsonl").open("w") as file:
        for row in rows:
            late = {**row, "status": "error", "failure": None, "error": "crash", "reason": "late"}
            late["trials"] = [{"facts": {"planner_calls": 99}}]
            file.write(json.dumps(late) + "\n")
        file.write('{"method": "retry", "ta' * torn)
    found = load([folder.parent])
    assert counts(found) == [("error", 1), ("failure", 2), ("success", 1)]
    assert found.torn == torn
    theirs = {key: (row["status"], row.get("reason")) for key, row in read_cell(folder).items()}
    ours = found.query("SELECT episode, status, reason FROM rows")
    assert {episode: (status, reason) for episode, status, reason in ours} == theirs
    assert [reason for _, reason in theirs.values()].count("late") == 1
    assert found.query(f"SELECT status FROM {found.with_facts} WHERE facts.planner_calls = 99") == [
        ("error",)
    ]


@pytest.mark.parametrize(
    "tail", ['{"method": "retry", "ta', json.dumps(a_row("c", "m", "e", 0, "t", 9, "success"))]
)
def test_a_torn_row_is_left_out_and_counted(folder: Path, tail: str) -> None:
    with (folder / ROWS).open("a") as file:
        file.write(tail)
    rows = load([folder.parent])
    assert rows.torn == 1
    assert counts(rows) == [("error", 1), ("failure", 2), ("success", 1)]
    with pytest.raises(UsageError, match="1 rows that a kill cut off"):
        compact(folder.parent)


def test_a_damaged_row_is_named(folder: Path) -> None:
    lines = (folder / ROWS).read_text().splitlines()
    (folder / ROWS).write_text("\n".join([lines[0], lines[1][:40], *lines[2:]]) + "\n")
    with pytest.raises(UsageError, match="line 2, is not a row"):
        load([folder.parent])


@pytest.mark.parametrize("text", ['{"format": 1, "ce', '{"format": 1}', '{"format": 2}'])
def test_a_damaged_cell_is_refused_and_not_left_out(folder: Path, text: str) -> None:
    other = write_cell(folder.parent, "mtp", "tabletop", 0, verdicts("++"))
    (other / CELL).write_text(text)
    for read in (load, lambda experiments: compact(*experiments)):
        with pytest.raises(UsageError, match=re.escape(str(other))):
            read([folder.parent])
    assert not (folder.parent / COMPACT).exists()


def test_what_is_no_experiment_is_said(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(UsageError, match="is not a folder"):
        load([tmp_path / "nowhere"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="has no cell in it"):
        load([tmp_path / "empty"])
    other = tmp_path / "copy"
    write_cell(other, "retry", "tabletop", 0, verdicts("+"))
    with pytest.raises(UsageError, match="hold the same cell"):
        load([folder.parent, other])


def test_the_compact_copy_gives_the_same_until_a_row_is_added(folder: Path) -> None:
    root = folder.parent
    before = load([root]).query("SELECT * FROM rows ORDER BY episode")
    assert compact(root) == root / COMPACT
    (root / "hidden.jsonl").write_text("")
    assert load([root]).query("SELECT * FROM rows ORDER BY episode") == before
    rows = (folder / ROWS).read_text()
    (folder / ROWS).write_text(
        rows.replace("failure", "success")
    )  # as long: only the copy can give the old rows
    assert counts(load([root])) == [("error", 1), ("failure", 2), ("success", 1)]
    write_cell(root, "retry", "tabletop", 0, {("lamp_off", 7): "success"})
    assert ("success", 4) in counts(load([root]))


def test_a_compact_copy_from_before_a_column_was_read_is_not_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        before.delitem(_COLUMNS, "reason")
        compact(folder.parent)
    text = (folder / ROWS).read_text()
    (folder / ROWS).write_text(text.replace("failure", "success"))  # as long: only the rows can give this
    assert counts(load([folder.parent])) == [("error", 1), ("success", 3)]


def test_what_a_cell_says_of_itself(folder: Path) -> None:
    write_cell(
        folder.parent, "mtp", "tabletop", 0, verdicts("+"), memory="playtable", sampling={"temperature": 0.5}
    )
    mtp, retry = sorted(load([folder.parent]).cells.values(), key=lambda cell: cell.method)
    assert mtp.parts == {"memory"}
    assert retry.parts == set()
    assert (mtp.says("llm"), mtp.says("env.noise"), mtp.says("env.tasks"), mtp.says("no.such")) == (
        "rules",
        "1.0",
        "null",
        None,
    )
    assert mtp.differences(retry) == [
        "method.memory.sources",
        "method.trials",
        "sampling",
        "sampling.temperature",
    ]
