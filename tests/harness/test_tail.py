from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from harness.tail import CellTail, Tail, identity


def line(episode: str, started: float = 1.0, **more: Any) -> bytes:
    return json.dumps({"episode": episode, "started": started, "status": "success", **more}).encode() + b"\n"


def names(tail: Tail) -> list[str]:
    return [row["episode"] for row in tail.rows()]


def test_each_row_comes_once(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    tail = Tail(path)
    assert names(tail) == []
    path.write_bytes(line("a") + line("b"))
    assert names(tail) == ["a", "b"]
    assert names(tail) == []
    with open(path, "ab") as file:
        file.write(line("c"))
    assert names(tail) == ["c"]


def test_a_line_that_is_still_being_written_comes_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    tail = Tail(path)
    text = line("a", reason="Zylinderkopfdichtung für 拿起")
    for cut in range(len(text)):
        path.write_bytes(text[:cut])
        assert Tail(path).rows() == [] == tail.rows()
    path.write_bytes(text)
    assert names(tail) == ["a"]
    assert tail.damaged == 0


def test_a_replaced_file_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    path.write_bytes(line("a", 1.0) + line("b") + line("a", 2.0))
    tail = Tail(path)
    assert names(tail) == ["a", "b", "a"]
    shorter = tmp_path / "new"
    shorter.write_bytes(line("b") + line("a", 2.0) + line("c"))
    os.replace(shorter, path)
    assert [identity(row) for row in tail.rows()] == [("b", 1.0), ("a", 2.0), ("c", 1.0)]


def test_damaged_lines_are_counted_and_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    path.write_bytes(line("a") + b'{"episode": "b", "sta\n[]\n{}\n\n\xff\n' + line("c"))
    tail = Tail(path)
    assert names(tail) == ["a", "c"]
    assert tail.damaged == 4


def test_a_cell_is_followed_through_the_parts_of_jobs(tmp_path: Path) -> None:
    tail = CellTail(tmp_path)
    assert tail.rows() == []
    (tmp_path / "episodes-2.jsonl").write_bytes(line("b") + line("c")[:-5])
    (tmp_path / "episodes-1.jsonl").write_bytes(line("a") + b"no row\n")
    assert [row["episode"] for row in tail.rows()] == ["a", "b"]
    assert tail.damaged == 1
    (tmp_path / "episodes-2.jsonl").write_bytes(line("b") + line("c"))
    assert [row["episode"] for row in tail.rows()] == ["c"]
    (tmp_path / "episodes.jsonl").write_bytes(line("a") + line("b") + line("c"))
    (tmp_path / "episodes-1.jsonl").unlink()
    (tmp_path / "episodes-2.jsonl").unlink()
    assert [row["episode"] for row in tail.rows()] == ["a", "b", "c"]
