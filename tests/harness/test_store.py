from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import store
from harness.cells import Cell
from harness.failures import UsageError
from harness.store import CellStore, StorageError, claimed

MakeCell = Callable[..., Cell]


def row(episode: str, **more: Any) -> dict[str, Any]:
    known = {"task": "t", "scene": 0, "status": "success", "failure": None, "error": None, "reason": ""}
    rest = {
        "state_hash": "",
        "code": "c",
        "models": [],
        "trial_count": 1,
        "usage": {},
        "timings": {},
        "trace": None,
    }
    return {"episode": episode, **known, **rest, **more}


@pytest.fixture
def cell_store(tmp_path: Path, make_cell: MakeCell) -> CellStore:
    opened = CellStore(tmp_path, make_cell())
    opened.open()
    return opened


def reopened(old: CellStore) -> CellStore:
    new = CellStore(old.folder.parent, old.cell)
    new.open()
    return new


def test_rows_survive_reopening_in_order(cell_store: CellStore) -> None:
    for name in ("b", "a", "ç"):
        cell_store.append(row(name, text="line\nbreak"))
    again = reopened(cell_store)
    assert list(again.digests()) == ["b", "a", "ç"]
    assert store.load(again.folder.parent)[1]["text"] == "line\nbreak"
    assert again.torn == 0


def test_a_row_with_half_of_a_surrogate_pair_is_kept(cell_store: CellStore) -> None:
    """A program's exception can hold one: its row must neither be lost nor stop the sweep."""
    cell_store.append(row("a", reason="ValueError: \ud83d"))
    cell_store.append(row("a", reason="ValueError: \ud83d \u00e7"))  # so that opening it again writes it anew
    again = reopened(cell_store)
    assert [kept["reason"] for kept in store.load(again.folder.parent)] == ["ValueError: \ud83d \u00e7"]


def test_the_newest_row_of_an_episode_counts_and_older_ones_are_dropped(cell_store: CellStore) -> None:
    cell_store.append(row("a", status="error"))
    cell_store.append(row("b"))
    cell_store.append(row("a", status="success"))
    again = reopened(cell_store)
    assert again.digests()["a"].status == "success"
    assert (again.folder / store.ROWS).read_text().count("\n") == 2


@pytest.mark.parametrize(
    "tail", ['{"episode":"c","val', '{"episode":"c","value":12', '{"episode":"c","value":1}']
)
def test_a_torn_last_line_is_put_aside(cell_store: CellStore, tail: str) -> None:
    cell_store.append(row("a"))
    path = cell_store.folder / store.ROWS
    with open(path, "a") as file:
        file.write(tail)
    again = reopened(cell_store)
    assert (list(again.digests()), again.torn) == (["a"], 1)
    assert (again.folder / store.TORN).read_text() == tail + "\n"
    again.append(row("d"))
    assert [json.loads(line)["episode"] for line in path.read_text().splitlines()] == ["a", "d"]


def test_a_damaged_line_in_the_middle_is_refused_and_kept(cell_store: CellStore) -> None:
    cell_store.append(row("a"))
    path = cell_store.folder / store.ROWS
    with open(path, "a") as file:
        file.write("rubbish\n" + json.dumps(row("b")) + "\n")
    before = path.read_bytes()
    with pytest.raises(UsageError, match="line 2"):
        reopened(cell_store)
    assert path.read_bytes() == before


def test_nan_is_refused_before_it_reaches_the_file(cell_store: CellStore) -> None:
    with pytest.raises(ValueError, match="JSON"):
        cell_store.append(row("a", value=float("nan")))
    assert not (cell_store.folder / store.ROWS).exists()


def test_a_full_disk_leaves_whole_rows(cell_store: CellStore, monkeypatch: pytest.MonkeyPatch) -> None:
    cell_store.append(row("a"))
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, data[:7]))
    with pytest.raises(StorageError, match="disk is full"):
        cell_store.append(row("b"))
    monkeypatch.setattr(os, "write", real)
    again = reopened(cell_store)
    assert (list(again.digests()), again.torn) == (["a"], 0)


def test_a_disk_that_is_really_full(make_cell: MakeCell) -> None:
    """/dev/full answers every write with ENOSPC, as a full disk does."""
    full = CellStore(Path("unused"), make_cell())
    full._path = Path("/dev/full")
    with pytest.raises(StorageError, match="No space left"):
        full.append(row("a"))


def test_a_folder_of_another_version_is_refused_unchanged(tmp_path: Path, make_cell: MakeCell) -> None:
    cell_store = CellStore(tmp_path, make_cell())
    cell_store.folder.mkdir()
    text = '{"format": 99}'
    (cell_store.folder / store.CELL).write_text(text)
    for read in (cell_store.open, lambda: store.load(tmp_path)):
        with pytest.raises(UsageError, match=r"written in format 99; this version writes format 1\..*name="):
            read()
    assert (cell_store.folder / store.CELL).read_text() == text


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "Expecting value"),
        ("[]", "it is no JSON object"),
        ("{}", "it has no `format`"),
        ('{"format": 1', "Expecting ',' delimiter"),
        ('{"format": 1}', "it has no `cell`"),
        ('{"format": 1, "cell": null}', "`cell` is no str"),
        ("\x00\x00", "Expecting value"),
    ],
)
def test_a_damaged_cell_is_refused_unchanged_until_it_is_deleted(
    cell_store: CellStore, text: str, what: str
) -> None:
    cell_store.append(row("a"))
    description = cell_store.folder / store.CELL
    before = description.read_text()
    description.write_text(text)
    for read in (lambda: reopened(cell_store), lambda: store.load(cell_store.folder.parent)):
        with pytest.raises(UsageError, match="Delete that file and run") as told:
            read()
        assert str(told.value).startswith(f"{description} is damaged ({what}")
    assert description.read_text() == text
    description.unlink()
    assert list(reopened(cell_store).digests()) == ["a"]
    assert description.read_text() == before


def test_a_cell_that_may_not_be_read_is_told(cell_store: CellStore) -> None:
    description = cell_store.folder / store.CELL
    description.unlink()
    description.mkdir()
    with pytest.raises(UsageError, match=r"cell\.json cannot be read: Is a directory\."):
        store.load(cell_store.folder.parent)


def test_load_gives_all_rows_of_an_experiment(tmp_path: Path, make_cell: MakeCell) -> None:
    for seed in (0, 1):
        one = CellStore(tmp_path, make_cell(seed=seed))
        one.open()
        one.append(row("a", seed=seed))
    assert sorted(found["seed"] for found in store.load(tmp_path)) == [0, 1]
    with pytest.raises(UsageError, match="not a folder"):
        store.load(tmp_path / "missing")


def test_a_folder_is_held_by_one_process_and_freed_by_its_death(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from harness.store import claimed\n"
        f"with claimed(Path({str(tmp_path)!r})):\n    print('held', flush=True)\n    time.sleep(600)"
    )
    holder = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(UsageError, match=f"process {holder.pid}"), claimed(tmp_path):
        pass
    holder.kill()
    holder.wait()
    with claimed(tmp_path):
        pass


def part(old: CellStore, name: str) -> CellStore:
    written = CellStore(old.folder.parent, old.cell, f"episodes-{name}.jsonl")
    written.open()
    return written


def test_readers_see_the_parts_of_jobs_and_a_sweep_gathers_them(cell_store: CellStore) -> None:
    root = cell_store.folder.parent
    cell_store.append(row("a"))
    cell_store.append(row("b", status="error", error="crash"))
    first, second = part(cell_store, "1"), part(cell_store, "2")
    assert list(first.digests()) == ["a", "b"]
    first.append(row("b"))
    second.append(row("c"))
    assert [(r["episode"], r["status"]) for r in store.load(root)] == [
        ("a", "success"),
        ("b", "success"),
        ("c", "success"),
    ]
    gathered = reopened(cell_store)
    assert store.row_files(gathered.folder) == [gathered.folder / store.ROWS]
    assert {name: digest.status for name, digest in gathered.digests().items()} == {
        "a": "success",
        "b": "success",
        "c": "success",
    }
    assert [r["episode"] for r in store.load(root)] == ["a", "b", "c"]


def test_a_part_that_a_job_still_writes_is_read_and_left_alone(cell_store: CellStore) -> None:
    writing = part(cell_store, "1")
    writing.append(row("a"))
    path = writing.folder / "episodes-1.jsonl"
    path.write_bytes(path.read_bytes() + b'{"episode": "b", "sta')
    before = path.read_bytes()
    again = CellStore(cell_store.folder.parent, cell_store.cell)
    again.open(being_written=["episodes-1.jsonl"])
    assert (list(again.digests()), again.torn) == (["a"], 0)
    assert path.read_bytes() == before


def test_a_job_mends_its_own_part_only(cell_store: CellStore) -> None:
    ours, other = part(cell_store, "1"), part(cell_store, "2")
    ours.append(row("a", status="error", error="crash"))
    ours.append(row("a"))
    other.append(row("b"))
    for name in ("1", "2"):
        with open(cell_store.folder / f"episodes-{name}.jsonl", "ab") as file:
            file.write(b'{"episode": "c", "st')
    assert part(cell_store, "1").torn == 1
    assert (cell_store.folder / "episodes-1.jsonl").read_bytes().count(b"\n") == 1
    assert (cell_store.folder / "episodes-2.jsonl").read_bytes().endswith(b'"st')
    assert not (cell_store.folder / store.ROWS).exists()
    assert reopened(cell_store).torn == 1
    assert [r["episode"] for r in store.load(cell_store.folder.parent)] == ["a", "b"]


def test_an_error_takes_no_verdict_away_in_one_file_either(cell_store: CellStore) -> None:
    for status in ("failure", "success"):
        cell_store.append(row("a", status=status))
    cell_store.append(row("a", status="error", error="crash"))
    assert store.read_cell(cell_store.folder)["a"]["status"] == "success"


def test_an_error_of_one_job_takes_no_verdict_of_another_away(cell_store: CellStore) -> None:
    cell_store.append(row("a"))
    first, second = part(cell_store, "1"), part(cell_store, "2")
    first.append(row("b"))
    second.append(row("a", status="error", error="crash"))
    second.append(row("b", status="error", error="crash"))
    second.append(row("c", status="error", error="crash"))
    expected = {"a": "success", "b": "success", "c": "error"}
    assert {key: found["status"] for key, found in store.read_cell(cell_store.folder).items()} == expected
    again = CellStore(cell_store.folder.parent, cell_store.cell)
    again.open()
    assert {key: found.status for key, found in again.digests().items()} == expected
    assert [path.name for path in store.row_files(cell_store.folder)] == [store.ROWS]
