"""A task's folder: frames that are kept and seen, and a state that is replaced as a whole."""

from __future__ import annotations

import json
import os

import pytest

from harness.failures import UsageError
from methods.hime.frames import Frame, recent, uniform
from methods.hime.server import store
from methods.hime.server.store import Reel
from methods.record_memory import Picture


def frames(first: int, count: int) -> list[Frame]:
    numbers = range(first, first + count)
    return [Frame(5 * n, Picture(f"png {n}".encode(), f"wrist: mug {n} ☃" if n % 2 else "")) for n in numbers]


def test_frames_are_a_film_as_far_as_they_were_seen(tmp_path) -> None:
    reel = Reel(tmp_path)
    reel.keep(frames(0, 30))
    assert (reel.kept, len(reel), list(reel)) == (30, 0, [])
    for frame in reel.unseen():
        reel.append(frame)
        if len(reel) == 20:
            break
    whole = frames(0, 20)
    assert list(reel) == whole and reel[-1] == whole[-1] and reel[3] == whole[3]
    assert list(reel[5:12][2:4]) == whole[7:9] and reel[5:][-1] == whole[-1]
    assert recent(reel, 3) == recent(whole, 3) and uniform(reel[4:], 8) == uniform(whole[4:], 8)
    with pytest.raises(IndexError):
        reel[20]
    assert [frame.step for frame in reel.unseen() if reel.append(frame) is None] == [
        5 * n for n in range(20, 30)
    ]


def test_a_reel_goes_on_where_it_was_counted_last(tmp_path) -> None:
    Reel(tmp_path).keep(frames(0, 4))
    with open(tmp_path / "frames.jsonl", "ab") as file:
        file.write(b'{"step": 20, "se')  # killed in the middle of a line
    reel = Reel(tmp_path, kept=3, seen=2)
    assert (reel.kept, list(reel)) == (3, frames(0, 2))
    reel.keep(frames(3, 2))
    assert list(Reel(tmp_path, kept=5, seen=5)) == frames(0, 5)


def test_fewer_frames_than_were_counted_are_no_task(tmp_path) -> None:
    Reel(tmp_path).keep(frames(0, 2))
    with pytest.raises(UsageError, match="has 2 whole lines, and 3 frames were kept"):
        Reel(tmp_path, kept=3)


def test_of_frames_that_cannot_all_be_written_none_is_kept(tmp_path) -> None:
    reel = Reel(tmp_path)
    reel.keep(frames(0, 2))
    (tmp_path / "frames" / "000003.png").mkdir()
    with pytest.raises(OSError, match="directory"):
        reel.keep(frames(2, 2))
    assert reel.kept == 2
    reel.keep(frames(2, 1))
    assert list(Reel(tmp_path, 3, 3)) == frames(0, 3)


def test_a_state_is_read_as_it_was_written_and_names_its_planner(tmp_path) -> None:
    store.write(tmp_path, {"kept": 3}, {"memory": "1"})
    store.write(tmp_path, {"kept": 4, "words": "拿 \ud800"}, {"memory": "2"})
    found = store.read(tmp_path)
    assert (found["kept"], found["words"], found["planner"]) == (4, "拿 \ud800", {"memory": "2"})
    assert len(list(tmp_path.glob("planner-*.json"))) == 1 and not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize("victim", ["planner", "task"])
def test_killed_while_it_writes_the_state_before_stands(tmp_path, monkeypatch, victim) -> None:
    store.write(tmp_path, {"kept": 3}, {"memory": "1"})
    replace = os.replace

    def killed(source, target) -> None:
        if target.name.startswith(victim):
            raise KeyboardInterrupt
        replace(source, target)

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        store.write(tmp_path, {"kept": 4}, {"memory": "2"})
    assert (store.read(tmp_path)["kept"], store.read(tmp_path)["planner"]) == (3, {"memory": "1"})


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"format": "engram task 1"}'])
def test_a_damaged_state_is_told(tmp_path, content) -> None:
    (tmp_path / "task.json").write_text(content)
    with pytest.raises(UsageError, match="cannot be read as a task"):
        store.read(tmp_path)


def test_a_state_of_another_version_is_told(tmp_path) -> None:
    (tmp_path / "task.json").write_text(json.dumps({"format": "engram task 2"}))
    with pytest.raises(UsageError, match="holds a task in format 'engram task 2'"):
        store.read(tmp_path)


def test_tasks_are_named_the_latest_last_and_folders_that_were_never_whole_are_none(tmp_path) -> None:
    for number, name in enumerate(("b", "a", "c")):
        (tmp_path / name).mkdir()
        store.write(tmp_path / name, {}, {})
        os.utime(tmp_path / name / "task.json", (number, number))
    (tmp_path / "d" / "frames").mkdir(parents=True)
    assert store.names(tmp_path) == ["b", "a", "c"] and store.names(tmp_path / "none") == []


def test_each_opening_has_a_trace_of_its_own(tmp_path) -> None:
    for _ in range(2):
        trace = store.trace(tmp_path)
        trace("user", text="x")
        trace.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["trace-1.jsonl", "trace-2.jsonl"]
