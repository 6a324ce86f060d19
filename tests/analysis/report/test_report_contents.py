"""What a report is made of: the sweep's table, the packed episodes, the scripts with traces."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import numpy
import pytest

from analysis import commands, rows
from analysis.report import FOLDER, PAGE, episodes, overview, traces, write
from harness.commandline import main
from harness.store import PLAN, ROWS
from tests.analysis.report.conftest import NASTY, record, trace
from tests.analysis.tables.conftest import verdicts, write_cell


def unpacked(text: str) -> bytes:
    return gzip.decompress(base64.b64decode(text))


def scripts(folder: Path) -> list[dict[str, Any]]:
    found = sorted(folder.glob("*.js"), key=lambda path: int(path.stem))
    matches = [re.fullmatch(r'engramTraces\((\d+),"([\w+/=]+)"\)\n', path.read_text()) for path in found]
    assert [match and match[1] for match in matches] == [path.stem for path in found]
    return [json.loads(unpacked(match[2]), parse_constant=pytest.fail) for match in matches if match]


def test_the_table_is_of_methods_environments_and_variants(experiment: Path) -> None:
    found = {(line.method, line.variant): line for line in overview.lines(rows.load([experiment]))}
    assert list(found) == [
        ("mtp", "memory=playtable"),
        ("mtp", "memory=tabletop"),
        ("retry", ""),
        ("voxposer", ""),
    ]
    both = found["mtp", "memory=playtable"]
    assert (both.seeds, both.successes, both.episodes, both.errors, both.solved_by) == (2, 7, 8, 0, (7,))
    assert (both.calls, both.tokens, both.cost_usd, both.seconds) == (24, 200, None, 1.5)
    retry = found["retry", ""]
    assert (retry.successes, retry.episodes, retry.errors, retry.failures) == (2, 3, 1, {"goal": 1})
    assert retry.calls == 9  # the error's are in no sum


def test_trials_add_up_and_unplayed_episodes_are_counted(experiment: Path) -> None:
    cell = write_cell(experiment, "retry", "tabletop", 1, verdicts("+++-"))
    record(cell, "lamp_off-s0-i0", trial_count=3)
    record(cell, "push_button-s1-i0", trial_count=2)
    asked = ["lamp_off-s0-i0", "lamp_off-s7-i0", "lamp_off-s8-i0"]
    (cell / PLAN).write_text(json.dumps({"started": 0.0, "episodes": asked}))
    found = next(line for line in overview.lines(rows.load([experiment])) if line.method == "retry")
    assert found.solved_by == (3, 4, 5)
    assert found.unplayed == 2


def test_a_cell_with_nothing_but_errors_has_no_rate(tmp_path: Path) -> None:
    write_cell(tmp_path / "it", "retry", "tabletop", 0, verdicts("!!"))
    (line,) = overview.lines(rows.load([tmp_path / "it"]))
    assert (line.rate, line.errors, line.seconds, line.solved_by) == (None, 2, None, ())
    assert "<td>–</td>" in write(tmp_path / "it").read_text()


def test_what_tells_variants_apart_is_said_as_it_is_typed(experiment: Path) -> None:
    write_cell(experiment, "retry", "tabletop", 0, verdicts("+"), sampling={"temperature": 0.5})
    found = {line.variant for line in overview.lines(rows.load([experiment])) if line.method == "retry"}
    assert found == {"sampling={}", 'sampling={"temperature": 0.5}'}


def test_the_same_config_and_seed_twice_is_not_put_together(experiment: Path) -> None:
    first = next(experiment.glob("retry-*"))
    second = experiment / "retry again"
    second.mkdir()
    described = json.loads((first / "cell.json").read_text()) | {"cell": "other"}
    (second / "cell.json").write_text(json.dumps(described))
    text = (first / ROWS).read_text()
    (second / ROWS).write_text(text.replace(f'"cell": "{first.name}"', '"cell": "other"'))
    found = [line for line in overview.lines(rows.load([experiment])) if line.method == "retry"]
    assert [(line.variant, line.episodes) for line in found] == [("other", 3), (first.name, 3)]


def test_packed_episodes_have_every_row_in_the_order_of_cells(experiment: Path) -> None:
    voxposer = next(experiment.glob("voxposer-*-s0-"))
    record(voxposer, "lamp_off-s0-i0", reason=NASTY, usage=None, timings={})
    found = rows.load([experiment])
    data = unpacked(episodes.pack(found, {voxposer.name: {"lamp_off-s0-i0": 7}}))
    head, _, body = data.partition(b"\n")
    described = json.loads(head)
    assert described["count"] == 24
    assert len(body) == 4 * 24 * len(described["columns"])
    table: dict[str, Any] = {}
    for i, column in enumerate(described["columns"]):
        kind = "<f4" if column["type"] == "f4" else "<i4"
        values = numpy.frombuffer(body, kind, 24, i * 96).tolist()
        texts = column.get("values")
        table[column["name"]] = [texts[code] for code in values] if texts else values
    assert table["cell"] == sorted(table["cell"])
    at = table["reason"].index(NASTY)
    assert (table["method"][at], table["task"][at], table["scene"][at], table["script"][at]) == (
        "voxposer",
        "lamp_off",
        0,
        7,
    )
    assert (table["calls"][at], table["cost"][at]) == (0, 0.0)
    assert numpy.isnan(table["seconds"][at])
    assert sum(table["script"]) == 7
    assert table["status"].count("error") == 1 and table["kind"].count("provider") == 1


def test_scripts_hold_shared_messages_once_and_close_when_full(
    experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = next(experiment.glob("mtp-*playtable-s0-"))
    keys = [f"{task}-s{scene}-i0" for task in ("push_button", "lamp_off") for scene in (0, 1)]
    for key in keys:
        trace(cell, key, reply=f"reply to {key}")
    one, several = tmp_path / "one", tmp_path / "several"
    one.mkdir()
    several.mkdir()
    places = traces.write(rows.load([experiment]), one)
    assert places == {cell.name: dict.fromkeys(keys, 1)}
    (script,) = scripts(one)
    assert set(script) == set(keys)
    assert json.dumps(script).count("You plan.") == 1
    assert script[keys[0]]["row"]["trial_count"] == 1
    chat = next(event for event in script[keys[3]]["events"] if event["event"] == "chat")
    assert chat["reply"] == f"reply to {keys[3]}"
    assert chat["details"] == {"score": "nan"}
    monkeypatch.setattr(traces, "CHARACTERS", 1)
    assert sorted(traces.write(rows.load([experiment]), several)[cell.name].values()) == [1, 2, 3, 4]
    assert all(json.dumps(script).count("You plan.") == 1 for script in scripts(several))


def test_a_damaged_trace_shows_what_came_before(experiment: Path, tmp_path: Path) -> None:
    cell = next(experiment.glob("mtp-*playtable-s0-"))
    trace(cell, "lamp_off-s0-i0", reply="done")
    path = cell / "traces" / "lamp_off-s0-i0.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:2], lines[2][:50], *lines[3:]]) + "\n")
    (tmp_path / "out").mkdir()
    traces.write(rows.load([experiment]), tmp_path / "out")
    (script,) = scripts(tmp_path / "out")
    assert [event["event"] for event in script["lamp_off-s0-i0"]["events"]] == ["episode", "trial"]
    assert "lamp_off-s0-i0.jsonl is damaged after 2 events" in script["lamp_off-s0-i0"]["problem"]


def test_the_page_is_self_contained_escaped_and_the_same_when_made_again(reported: Path) -> None:
    text = write(reported).read_text()
    before = {path.name: path.read_bytes() for path in (reported / FOLDER).iterdir()}
    assert "<title>it&#x27;s &lt;b&gt;#1 100%</title>" in text
    assert not re.search(r"""(src|href)\s*=\s*["'](?!#)""", text.partition("<script")[0])
    assert "http" not in text
    assert text.count("<script") == 2
    assert "hacked" not in text
    assert write(reported).read_text() == text
    assert {path.name: path.read_bytes() for path in (reported / FOLDER).iterdir()} == before


def test_what_cannot_be_put_in_a_table_is_said_on_the_page(experiment: Path) -> None:
    write_cell(experiment, "retry", "tabletop", 0, verdicts("+"), sampling={"temperature": 0.5})
    text = write(experiment).read_text()
    assert re.search(r"<li>mtp_table1 is left out\. .*sampling", text)


def test_the_command_says_where_the_page_is(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(commands, "", ["report", str(experiment)]) == 0
    assert capsys.readouterr().out.strip() == str(experiment / PAGE)
    assert main(commands, "", ["report", str(experiment / "nowhere")]) == 2
    assert "is not a folder" in capsys.readouterr().err
