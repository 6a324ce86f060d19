"""W&B against the rows: the offline file record by record, and what a server on loopback is sent."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from harness import store
from harness.cells import Cell
from harness.store import Row
from harness.sweep import run_cells
from harness.trackers import figures
from harness.trackers.wandb_runs import WandbRuns

pytest.importorskip("wandb", reason="needs the extra wandb")

MakeCell = Callable[..., Cell]
PROJECT = Path(__file__).resolve().parents[3]
SECRET = "s3cr3t-of-the-environment"
BLOCK, HEADER = 32768, 7


@pytest.fixture(autouse=True)
def _own_environment(own_wandb: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_SERVICE_TOKEN", SECRET)


def config(mode: str = "offline", **changes: Any) -> dict[str, Any]:
    return {"_target_": "harness.trackers.wandb_runs.WandbRuns", "mode": mode, "patience": 600.0, **changes}


def log_records(path: Path) -> Iterator[Any]:
    """The records of a `.wandb` file: blocks of 32 KiB, each piece with its CRC, length and kind (1 whole, 2 first,
    3 middle, 4 last)."""
    from wandb.proto import wandb_internal_pb2

    data = path.read_bytes()
    assert data.startswith(b":W&B")
    position, record = HEADER, b""
    while position + HEADER <= len(data):
        left = BLOCK - position % BLOCK
        if left < HEADER:
            position += left
            continue
        checksum, length, kind = struct.unpack_from("<IHB", data, position)
        piece = data[position + HEADER : position + HEADER + length]
        assert checksum == zlib.crc32(bytes([kind]) + piece)
        position += HEADER + length
        record += piece
        if kind in (1, 4):
            found = wandb_internal_pb2.Record()
            found.ParseFromString(record)
            yield found
            record = b""
    assert not record


@dataclass
class Told:
    """All that the offline files of one run say, in the order in which `wandb sync` would send them."""

    settings: list[Any] = field(default_factory=list)
    history: list[dict[str, Any]] = field(default_factory=list)
    summary: dict[str, Any] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)
    metrics: dict[str, Any] = field(default_factory=dict)
    exit_codes: list[int] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)

    def table(self) -> list[dict[str, Any]]:
        entry = self.summary["episodes_table"]
        table = json.loads((self.folders[-1] / "files" / entry["path"]).read_text())
        assert len(table["data"]) == entry["nrows"]
        return [dict(zip(table["columns"], line, strict=True)) for line in table["data"]]


def put(target: dict[str, Any], item: Any) -> None:
    *path, name = item.nested_key or [item.key]
    for part in path:
        target = target.setdefault(part, {})
    target[name] = json.loads(item.value_json)


def offline(root: Path) -> dict[str, Told]:
    found: dict[str, Told] = defaultdict(Told)
    for path in sorted((root / "wandb").glob("offline-run-*/run-*.wandb")):
        told = found[path.stem.removeprefix("run-")]
        told.folders.append(path.parent)
        for record in log_records(path):
            kind = record.WhichOneof("record_type")
            if kind == "run":
                told.settings.append(record.run)
                for item in record.run.config.update:
                    told.config[item.key] = json.loads(item.value_json)
            elif kind == "history":
                told.history.append({})
                for item in record.history.item:
                    put(told.history[-1], item)
            elif kind == "summary":
                for item in record.summary.update:
                    put(told.summary, item)
            elif kind == "metric":
                told.metrics[record.metric.name or record.metric.glob_name] = record.metric
            elif kind == "exit":
                told.exit_codes.append(record.exit.exit_code)
    return dict(found)


def numbers(history: dict[str, Any]) -> dict[str, float]:
    """What we said, without what wandb adds."""
    return {key: value for key, value in history.items() if key.startswith("episode/")}


def of_row(row: Row, number: int) -> dict[str, float]:
    return {"episode/number": number, **figures.metrics(row)}


def of_cell(root: Path, cell: str) -> list[Row]:
    return [row for row in store.load(root) if row["cell"] == cell]


def ours(summary: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value for key, value in summary.items() if not key.startswith("_") and key != "episodes_table"
    }


def summary_of(rows: list[Row], expected: int, state: str) -> dict[str, Any]:
    points = [figures.point(number, row, {}, Path(), "none") for number, row in enumerate(rows)]
    return {"state": state, **figures.summary(points, expected)}


def files_with(text: str, folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def test_the_offline_files_say_what_the_rows_say(tmp_path: Path, make_cell: MakeCell) -> None:
    cells = [
        make_cell(seed=seed, tracker=config(project="lab"), env={"scenes": 30}, method={"trials": 2})
        for seed in (0, 1)
    ]
    run_cells(cells, tmp_path)
    runs = offline(tmp_path)
    assert len(runs) == 2
    for name, told in runs.items():
        cell = told.config["cell"]
        rows = of_cell(tmp_path, cell)
        assert len(rows) == 90
        assert [numbers(entry) for entry in told.history] == [of_row(row, n) for n, row in enumerate(rows)]
        assert [entry["_step"] for entry in told.history] == list(range(90))
        assert [entry["so_far/success_rate"] for entry in told.history] == [
            sum(row["status"] == "success" for row in rows[: n + 1]) / (n + 1) for n in range(90)
        ]
        assert ours(told.summary) == summary_of(rows, 90, "finished")
        assert [[line[column] for column in figures.COLUMNS] for line in told.table()] == [
            list(figures.line(row)) for row in rows
        ]
        (run,) = told.settings
        assert name.startswith(f"{cell}-")
        assert (run.project, run.run_group, run.job_type) == ("lab", "test", "noop")
        assert set(run.tags) == {"method:noop", "env:noop", f"seed:{rows[0]['seed']}", "llm:rules"}
        assert told.config["seed"] == rows[0]["seed"]
        assert told.config["env"]["scenes"] == 30
        assert told.config["code"] == rows[0]["code"]
        assert "tracker" not in told.config
        assert told.exit_codes == [0]
        assert told.metrics["episode/*"].step_metric == "episode/number"
    assert files_with(SECRET, tmp_path / "wandb") == []


def test_a_second_start_continues_the_run_with_the_new_rows_only(tmp_path: Path, make_cell: MakeCell) -> None:
    once = {"fault": "provider", "fault_once": str(tmp_path / "once")}

    def start(scenes: int) -> Counter[tuple[str, str]]:
        run_cells([make_cell(tracker=config(), method=once, env={"scenes": scenes})], tmp_path / "mine")
        return Counter((row["episode"], row["status"]) for row in store.load(tmp_path / "mine"))

    first = start(2)
    assert sum(first.values()) == 6 and {status for _, status in first} == {"success", "failure", "error"}
    second = start(3)
    start(3)
    (told,) = offline(tmp_path / "mine").values()
    assert len(told.folders) == 2, "the third start had nothing to tell"
    assert all(run.resume for run in told.settings)
    assert [entry["episode/number"] for entry in told.history] == list(range(10))
    assert sum(entry["episode/error"] for entry in told.history) == 1
    assert Counter((line["episode"], line["status"]) for line in told.table()) == second
    assert (told.summary["episodes"], told.summary["errors"], told.summary["state"]) == (9, 0, "finished")
    assert told.exit_codes == [1, 0]


def test_a_stopped_one_is_told_so(tmp_path: Path, make_cell: MakeCell) -> None:
    run_cells([make_cell()], tmp_path)
    for folder in tmp_path.glob("noop*"):
        plan = json.loads((folder / "plan.json").read_text())
        (folder / "plan.json").write_text(
            json.dumps({**plan, "episodes": [*plan["episodes"], "task0-s9-i0"]})
        )
    track(tmp_path, "mode=offline")
    (told,) = offline(tmp_path).values()
    assert (told.exit_codes, told.summary["state"], told.summary["unplayed"]) == ([255], "stopped", 1)


def test_pictures_of_failures(tmp_path: Path, make_cell: MakeCell) -> None:
    record = {"video": "failures", "images": True}
    cell = make_cell(tracker=config(media="failures"), record=record, method={"steps": 3}, env={"scenes": 2})
    run_cells([cell], tmp_path)
    (told,) = offline(tmp_path).values()
    for row, entry in zip(store.load(tmp_path), told.history, strict=True):
        assert (row["status"] == "failure") == ("video" in entry) == ("images" in entry)
        if row["status"] == "failure":
            assert entry["video"]["captions"] == [row["episode"]]
            assert entry["images"]["count"] == 2
    videos = list((told.folders[0] / "files" / "media" / "videos").rglob("*.mp4"))
    assert len(videos) == sum(row["status"] == "failure" for row in store.load(tmp_path))


def test_disabled_is_nowhere(tmp_path: Path, make_cell: MakeCell) -> None:
    assert WandbRuns(mode="disabled").destination() == ""
    assert WandbRuns(mode="disabled").problems() == []
    run_cells([make_cell(tracker=config("disabled"))], tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir() if path.name in ("wandb", ".tracking")) == []


def track(root: Path, *settings: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "harness", "track", str(root), "--to", "wandb", *settings],
        cwd=PROJECT,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=1200,
    )


def logged_in(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_BASE_URL", server.url)
    monkeypatch.setenv("WANDB_API_KEY", "k" * 40)


def test_a_server_gets_what_the_rows_say(
    tmp_path: Path, make_cell: MakeCell, wandb_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged_in(wandb_server, monkeypatch)
    run_cells([make_cell(seed=seed, tracker=config("online")) for seed in (0, 1)], tmp_path)
    assert len(wandb_server.runs) == 2
    for run in wandb_server.runs.values():
        rows = of_cell(tmp_path, json.loads(run.settings["config"])["cell"]["value"])
        assert [numbers(entry) for entry in run.history] == [of_row(row, n) for n, row in enumerate(rows)]
        assert ours(run.summary) == summary_of(rows, 15, "finished")
        assert (run.settings["groupName"], run.settings["jobType"]) == ("test", "noop")
        (table,) = [json.loads(data) for name, data in run.files.items() if name.endswith(".table.json")]
        assert table["data"] == [list(figures.line(row)) for row in rows]
        assert run.exit_code == 0
    assert [request for request in wandb_server.requests if SECRET in request or "k" * 40 in request] == []


def test_a_server_continues_where_it_was(
    tmp_path: Path, make_cell: MakeCell, wandb_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when it did not get all that was sent: it is asked how much it has."""
    logged_in(wandb_server, monkeypatch)
    run_cells([make_cell(tracker=config("online"))], tmp_path)
    (run,) = wandb_server.runs.values()
    del run.history[11:]
    run.summary["_step"] = 10
    run.exit_code = None
    (ledger,) = (tmp_path / ".tracking").glob("*/*.jsonl")
    lines = ledger.read_text().splitlines(keepends=True)
    assert lines[-1] == '{"told": "finished"}\n'
    ledger.write_text("".join(lines[:-1]))  # as if its process had been killed before it knew
    done = track(tmp_path)
    assert done.returncode == 0, done.stderr
    assert [entry["episode/number"] for entry in run.history] == list(range(15))
    assert run.exit_code == 0
    assert "0 rows sent" in track(tmp_path).stdout
    assert len(run.history) == 15


@pytest.mark.parametrize("fault", [429, 500, "hang"])
def test_a_server_that_is_not_well_costs_one_warning(
    tmp_path: Path,
    make_cell: MakeCell,
    wandb_server: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    fault: int | str,
) -> None:
    logged_in(wandb_server, monkeypatch)
    wandb_server.fault = fault
    assert run_cells([make_cell(tracker=config("online", patience=4.0))], tmp_path).complete
    assert capsys.readouterr().err.count("The tracker ") == 1
    assert len(store.load(tmp_path)) == 15
    wandb_server.fault = None
    assert track(tmp_path).returncode == 0
    (run,) = wandb_server.runs.values()
    assert [entry["episode/number"] for entry in run.history] == list(range(15))


def test_nobody_is_asked_for_a_key(
    tmp_path: Path, make_cell: MakeCell, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_cells([make_cell(tracker=config("online"))], tmp_path).complete
    printed = capsys.readouterr().err
    assert printed.count("The tracker ") == 1
    assert "wandb login" in printed
    done = track(tmp_path)
    assert done.returncode == 1
    assert "wandb login" in done.stderr
