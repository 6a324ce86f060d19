"""MLflow against the rows: its sqlite store through its client, and a server of its own over HTTP."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import store
from harness.cells import Cell
from harness.store import Row
from harness.sweep import run_cells
from harness.trackers import figures
from harness.trackers.mlflow_runs import MlflowRuns, flat, without_password

MakeCell = Callable[..., Cell]
PROJECT = Path(__file__).resolve().parents[3]
SECRET = "s3cr3t-of-the-environment"


def config(uri: str, **changes: Any) -> dict[str, Any]:
    return {"_target_": "harness.trackers.mlflow_runs.MlflowRuns", "uri": uri, "patience": 600.0, **changes}


def of_row(row: Row, number: int) -> dict[str, float]:
    return {"episode/number": number, **figures.metrics(row)}


def summary_of(rows: list[Row], expected: int) -> dict[str, float]:
    points = [figures.point(number, row, {}, Path(), "none") for number, row in enumerate(rows)]
    return {f"summary/{name}": value for name, value in figures.summary(points, expected).items()}


def test_a_password_in_the_address_stays_here() -> None:
    assert without_password("http://ada:pa/s@s@host:5000/x") == "http://host:5000/x"
    assert without_password("postgresql://u:p@db/mlflow") == "postgresql://db/mlflow"
    assert without_password("sqlite:///out@home/mlflow.db") == "sqlite:///out@home/mlflow.db"
    assert "secret" not in MlflowRuns("http://ada:secret@host").destination()


def test_the_config_as_parameters() -> None:
    nested = {"env": {"tasks": ["a", "b"], "noise": 0.5, "renderer": None}, "name": "mine", "none": {}}
    assert dict(flat(nested)) == {
        "env.tasks": '["a", "b"]',
        "env.noise": "0.5",
        "env.renderer": "null",
        "name": "mine",
        "none": "{}",
    }
    assert len(dict(flat({"long": "x" * 10_000}))["long"]) == 6000


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pytest.importorskip("mlflow", reason="needs the extra mlflow")
    for name in [name for name in os.environ if name.startswith("MLFLOW_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("SOME_SERVICE_TOKEN", SECRET)
    return tmp_path


def client(uri: str) -> Any:
    from mlflow import MlflowClient

    return MlflowClient(tracking_uri=uri)


def runs(found: Any, experiment: str = "test") -> list[Any]:
    (identity,) = [e.experiment_id for e in found.search_experiments() if e.name == experiment]
    return list(found.search_runs([identity]))


def history(found: Any, run: Any) -> list[dict[str, float]]:
    """What was said of each row: its numbers by step."""
    steps: dict[int, dict[str, float]] = {}
    for name in run.data.metrics:
        if name.startswith("episode/"):
            for metric in found.get_metric_history(run.info.run_id, name):
                assert name not in steps.setdefault(metric.step, {}), "said twice"
                steps[metric.step][name] = metric.value
    return [steps[step] for step in sorted(steps)]


def table(found: Any, run: Any, folder: Path) -> list[list[Any]]:
    path = found.download_artifacts(run.info.run_id, "episodes.json", str(folder))
    read = json.loads(Path(path).read_text())
    assert read["columns"] == list(figures.COLUMNS)
    return list(read["data"])


@pytest.mark.filterwarnings(
    "ignore:The .*noload.* loader strategy is deprecated:DeprecationWarning"
)  # MLflow's own
def test_the_sqlite_store_says_what_the_rows_say(own_folder: Path, make_cell: MakeCell) -> None:
    uri = f"sqlite:///{own_folder}/tracked/mlflow.db"
    root = own_folder / "mine"

    def start(scenes: int) -> None:
        changes = {"fault": "provider", "fault_once": str(own_folder / "once")}
        run_cells([make_cell(tracker=config(uri), method=changes, env={"scenes": scenes})], root)

    start(40)
    first = store.load(root)
    (run,) = runs(client(uri))
    assert (run.info.status, run.info.run_name) == ("FAILED", "noop noop s0")
    assert history(client(uri), run) == [of_row(row, n) for n, row in enumerate(first)]
    start(41)
    found = client(uri)
    (again,) = runs(found)
    assert (again.info.run_id, again.info.status) == (run.info.run_id, "FINISHED")
    second = store.load(root)
    new = [row for row in second if row["started"] not in [old["started"] for old in first]]
    assert len(new) == 4, "three scenes, and the error once more"
    assert history(found, again) == [of_row(row, n) for n, row in enumerate([*first, *new])]
    summary = {name: value for name, value in again.data.metrics.items() if name.startswith("summary/")}
    assert summary == summary_of(second, 123)
    assert table(found, again, own_folder) == [list(figures.line(row)) for row in second]
    assert json.loads(again.data.tags["mlflow.loggedArtifacts"]) == [
        {"path": "episodes.json", "type": "table"}
    ]
    assert again.data.params["env.scenes"] == "40", "parameters cannot be changed"
    assert again.data.params["choices.method"] == "noop"
    expected = {"method": "noop", "env": "noop", "seed": "0", "llm": "rules", "state": "finished"}
    expected |= {"cell": second[0]["cell"], "code": second[-1]["code"]}
    assert {name: again.data.tags[name] for name in expected} == expected
    assert not [
        path for path in (own_folder / "tracked").rglob("*") if path.is_file() and holds(path, SECRET)
    ]
    assert (own_folder / "tracked" / "mlflow-artifacts").is_dir()


def holds(path: Path, text: str) -> bool:
    return text.encode() in path.read_bytes()


def test_pictures_of_failures_go_along(own_folder: Path, make_cell: MakeCell) -> None:
    uri = f"sqlite:///{own_folder}/mlflow.db"
    record = {"video": "failures", "images": True}
    cell = make_cell(
        tracker=config(uri, media="failures"), record=record, method={"steps": 3}, env={"scenes": 2}
    )
    run_cells([cell], own_folder / "mine")
    failed = {row["episode"] for row in store.load(own_folder / "mine") if row["status"] == "failure"}
    found = client(uri)
    (run,) = runs(found)
    videos = {Path(entry.path).stem for entry in found.list_artifacts(run.info.run_id, "videos")}
    images = {Path(entry.path).stem for entry in found.list_artifacts(run.info.run_id, "images")}
    assert videos == failed
    assert images == {f"{episode}-t0-{moment}" for episode in failed for moment in ("start", "end")}


@pytest.fixture
def server(own_folder: Path) -> Iterator[str]:
    held = socket.socket()  # nobody but one who asks for this port gets it
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    port = held.getsockname()[1]
    where = ["--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    kept = [f"--backend-store-uri=sqlite:///{own_folder}/server.db"]
    kept += [f"--artifacts-destination={own_folder / 'artifacts'}"]
    process = subprocess.Popen(
        [sys.executable, "-m", "mlflow", "server", *where, *kept],
        cwd=own_folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    url = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + 600
    while True:
        try:
            urllib.request.urlopen(f"{url}/health", timeout=60).close()
            break
        except (OSError, urllib.error.URLError):
            assert process.poll() is None and time.monotonic() < deadline, "the server did not come up"
            time.sleep(0.2)
    yield url
    os.killpg(process.pid, 15)
    process.wait()
    held.close()


def post(url: str, call: str, **what: Any) -> dict[str, Any]:
    request = urllib.request.Request(
        f"{url}/api/2.0/mlflow/{call}", json.dumps(what).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=300) as answer:
        return dict(json.load(answer))


def get(url: str, call: str) -> dict[str, Any]:
    with urllib.request.urlopen(f"{url}/api/2.0/mlflow/{call}", timeout=300) as answer:
        return dict(json.load(answer))


@pytest.mark.slow
def test_a_server_over_http_has_what_the_rows_say(own_folder: Path, make_cell: MakeCell, server: str) -> None:
    root = own_folder / "mine"
    run_cells([make_cell(seed=seed) for seed in (0, 1)], root)
    for sent in ("30 rows sent", "0 rows sent"):
        done = subprocess.run(
            [sys.executable, "-m", "harness", "track", str(root), "--to", "mlflow", f"uri={server}"],
            cwd=PROJECT,
            capture_output=True,
            text=True,
            timeout=1200,
        )
        assert done.returncode == 0, done.stderr
        assert sent in done.stdout
    experiment = get(server, "experiments/get-by-name?experiment_name=test")["experiment"]["experiment_id"]
    found = post(server, "runs/search", experiment_ids=[experiment])["runs"]
    assert len(found) == 2
    told: Counter[tuple[str, float]] = Counter()
    for run in found:
        name = run["info"]["run_id"]
        tags = {tag["key"]: tag["value"] for tag in run["data"]["tags"]}
        assert run["info"]["status"] == "FINISHED"
        answer = get(server, f"metrics/get-history?run_id={name}&metric_key=episode/success")
        assert [metric["step"] for metric in answer["metrics"]] == list(range(15))
        told.update((tags["cell"], metric["value"]) for metric in answer["metrics"])
    assert told == Counter((row["cell"], float(row["status"] == "success")) for row in store.load(root))


def test_a_server_that_is_down_costs_one_warning(
    own_folder: Path, make_cell: MakeCell, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as taken:  # bound and not listening: nobody else gets the port
        taken.bind(("127.0.0.1", 0))
        uri = f"http://127.0.0.1:{taken.getsockname()[1]}"
        assert run_cells([make_cell(tracker=config(uri, patience=5.0))], own_folder).complete
    assert capsys.readouterr().err.count("The tracker ") == 1
    assert len(store.load(own_folder)) == 15
