from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from harness.tracing import Trace, read


def test_messages_are_written_once_and_read_back_whole(tmp_path: Path) -> None:
    path = tmp_path / "traces" / "a.jsonl"
    trace = Trace(path)
    prompt = {"role": "user", "text": "x" * 5000, "images": 0}
    for reply in ("one", "two"):
        trace("chat", messages=[dict(prompt), {"role": "user", "text": reply, "images": 0}], reply=reply)
    trace.close()
    assert path.read_text().count("xxxx") == 1250
    events = list(read(path))
    assert [event["messages"][0]["text"] for event in events] == [prompt["text"]] * 2
    assert [event["messages"][1]["text"] for event in events] == ["one", "two"]


def test_events_are_there_before_the_trace_is_closed_and_a_torn_line_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    trace = Trace(path)
    trace("trial", index=0)
    assert not path.exists()
    trace("code", code="x = 1")
    trace("motion", position=np.array([1.0, 2.0]), reached=np.bool_(True))
    assert [event["event"] for event in read(path)] == ["trial", "code"]
    trace.close()
    with open(path, "a") as file:
        file.write('{"event":"to')
    events = list(read(path))
    assert [event["event"] for event in events] == ["trial", "code", "motion"]
    assert (events[2]["position"], events[2]["reached"]) == ([1.0, 2.0], True)
    assert json.loads(path.read_text().splitlines()[0])["index"] == 0


def test_no_path_no_file(tmp_path: Path) -> None:
    trace = Trace(None)
    trace("code", code="x")
    trace.close()
    assert (list(tmp_path.iterdir()), trace.written) == ([], None)


def test_half_of_a_surrogate_pair_is_kept(tmp_path: Path) -> None:
    """A reply cut inside an emoji, or a program that raises with one."""
    path = tmp_path / "a.jsonl"
    trace = Trace(path)
    trace("chat", messages=[{"role": "user", "text": "\ud83d", "images": 0}], reply="done \ud83d")
    trace.close()
    (event,) = read(path)
    assert (event["messages"][0]["text"], event["reply"]) == ("\ud83d", "done \ud83d")
