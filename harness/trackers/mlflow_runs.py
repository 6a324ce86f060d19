"""`tracker=mlflow`: an MLflow server, or a sqlite file of its own. An experiment of ours is one of MLflow's, a cell a
run, found again by its tag; the step of a metric is the row's number. Rows go in batches: a call costs 40 ms."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from harness.trackers import figures
from harness.trackers.protocol import Point, State, TrackedCell

if TYPE_CHECKING:
    from harness.protocols import Problem

RUN_TAG = "engram.run"
NUMBER = figures.PREFIX + "number"
STATUSES: Mapping[State, str] = {"finished": "FINISHED", "stopped": "KILLED", "failed": "FAILED"}
MOST_METRICS, MOST_PARAMS, LONGEST_PARAM = 1000, 100, 6000
"""MLflow's own limits, of one call and of one value."""
TABLE = "episodes.json"
SQLITE = "sqlite:///"


@dataclass(frozen=True)
class MlflowRuns:
    uri: str = f"{SQLITE}outputs/mlflow.db"
    """Of a server, as in http://host:5000, or of a sqlite file."""
    media: Literal["none", "failures", "all"] = "none"
    patience: float = 60.0

    def problems(self) -> list[Problem]:
        from harness.protocols import Problem

        if importlib.util.find_spec("mlflow") is None:
            return [Problem("The package mlflow is not installed", "pip install 'engram[mlflow]'")]
        return []

    def destination(self) -> str:
        return f"MLflow {without_password(self.uri)}"

    def open(self, root: Path) -> _Open:
        return _Open(self.uri)


def without_password(uri: str) -> str:
    return uri if uri.startswith(SQLITE) else re.sub(r"//.*@", "//", uri)


class _Open:
    def __init__(self, uri: str) -> None:
        # For this process only, which exists for the tracker: no usage reports, and no minutes of retries.
        os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "3")
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "20")
        from mlflow import MlflowClient

        self.address = without_password(uri)
        self._artifacts: str | None = None
        if uri.startswith(SQLITE):
            path = Path(uri.removeprefix(SQLITE)).absolute()
            path.parent.mkdir(parents=True, exist_ok=True)
            self._artifacts = path.with_name("mlflow-artifacts").as_uri()
            self.address = f"{uri} (`mlflow ui --backend-store-uri {uri}`)"
        self._client = MlflowClient(tracking_uri=uri)
        self._runs: dict[str, str] = {}
        """Of those that are begun: our name to MLflow's."""

    def begin(self, cell: TrackedCell, code: str) -> int | None:
        from mlflow.entities import Param, RunTag

        experiment = self._experiment(cell.experiment)
        tags = {**cell.tags, "cell": cell.identity, "code": code, RUN_TAG: cell.run}
        found = self._client.search_runs([experiment], f"tags.`{RUN_TAG}` = '{cell.run}'", max_results=1)
        if not found:
            started = int(time.time() * 1000)
            run = self._client.create_run(experiment, started, tags, run_name=cell.name)
            self._runs[cell.run] = run.info.run_id
            params = [Param(key, value) for key, value in flat({**cell.config, "choices": cell.choices})]
            for batch in _batches(params, MOST_PARAMS):
                self._client.log_batch(run.info.run_id, params=batch)
            return 0
        run = found[0]
        self._runs[cell.run] = run.info.run_id
        self._client.update_run(run.info.run_id, status="RUNNING")
        self._client.log_batch(run.info.run_id, tags=[RunTag(key, value) for key, value in tags.items()])
        return int(run.data.metrics.get(NUMBER, -1)) + 1

    def add(self, cell: TrackedCell, points: Sequence[Point]) -> None:
        run = self._runs[cell.run]
        rows = [_metrics(point) for point in points]
        for batch in _batches(rows, MOST_METRICS // max(map(len, rows), default=1)):
            self._client.log_batch(run, metrics=[metric for row in batch for metric in row])
        for point in points:
            for path in (*point.videos, *point.images):
                self._client.log_artifact(run, str(path), "videos" if path in point.videos else "images")

    def end(
        self, cell: TrackedCell, newest: Sequence[Point], summary: Mapping[str, Any], state: State
    ) -> None:
        from mlflow.entities import Metric

        run = self._runs[cell.run]
        now = int(time.time() * 1000)
        numbers = [
            Metric(f"summary/{name}", float(value), now, 0)
            for name, value in summary.items()
            if not isinstance(value, str)
        ]
        for batch in _batches(numbers, MOST_METRICS):
            self._client.log_batch(run, metrics=batch)
        table = {"columns": list(figures.COLUMNS), "data": [list(point.line) for point in newest]}
        self._client.log_text(run, json.dumps(table), TABLE)
        # As mlflow.log_table() marks it, which would add to the table of an earlier start.
        self._client.set_tag(run, "mlflow.loggedArtifacts", json.dumps([{"path": TABLE, "type": "table"}]))
        self._client.set_tag(run, "state", state)
        self._client.set_terminated(run, STATUSES[state])
        del self._runs[cell.run]

    def close(self) -> None:
        """What is still open here was cut off: it is not told as finished."""
        for run in self._runs.values():
            self._client.set_terminated(run, STATUSES["failed"])
        self._runs.clear()

    def _experiment(self, name: str) -> str:
        from mlflow.exceptions import MlflowException

        found = self._client.get_experiment_by_name(name)
        if found is not None:
            return str(found.experiment_id)
        artifacts = f"{self._artifacts}/{name}" if self._artifacts else None
        try:
            return str(self._client.create_experiment(name, artifact_location=artifacts))
        except MlflowException:
            found = self._client.get_experiment_by_name(name)  # another process was faster
            if found is None:
                raise
            return str(found.experiment_id)


def flat(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Dotted keys and their values as text, cut to what MLflow takes."""
    for key, value in config.items():
        if isinstance(value, Mapping) and value:
            yield from flat(value, f"{prefix}{key}.")
        else:
            text = value if isinstance(value, str) else json.dumps(value)
            yield f"{prefix}{key}", text[:LONGEST_PARAM]


def _metrics(point: Point) -> list[Any]:
    """One timestamp for a row: MLflow drops what it holds already, so a row that comes twice is there once."""
    from mlflow.entities import Metric

    milliseconds = int(point.ended * 1000)
    values = {NUMBER: float(point.number), **point.metrics}
    return [Metric(name, value, milliseconds, point.number) for name, value in values.items()]


def _batches(items: Sequence[Any], size: int) -> Iterator[list[Any]]:
    for start in range(0, len(items), size):
        yield list(items[start : start + size])
