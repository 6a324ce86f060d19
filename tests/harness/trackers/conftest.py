"""A W&B server on loopback that keeps what it is sent, and has the faults of one that is not well."""

from __future__ import annotations

import gzip
import json
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


@pytest.fixture
def own_wandb(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No key, no settings and no cache of whoever runs the tests."""
    home = tmp_path_factory.mktemp("home")
    for name in [name for name in os.environ if name.startswith("WANDB_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    for name in ("CONFIG", "CACHE", "DATA"):
        monkeypatch.setenv(f"WANDB_{name}_DIR", str(home))
    monkeypatch.setenv("WANDB_ERROR_REPORTING", "false")


@dataclass
class ServerRun:
    """What the server knows of one run."""

    name: str
    settings: dict[str, Any] = field(default_factory=dict)
    """Group, job type, tags, config, as they were last put."""
    history: list[dict[str, Any]] = field(default_factory=list)
    summary: dict[str, Any] = field(default_factory=dict)
    exit_code: int | None = None
    files: dict[str, bytes] = field(default_factory=dict)


class WandbServer(ThreadingHTTPServer):
    """As much of W&B as a run needs: resuming, configs, the stream of history, files. `fault` is a status to answer
    with, or "hang"."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.runs: dict[str, ServerRun] = {}
        self.requests: list[str] = []
        """Everything that was sent, as text."""
        self.fault: int | str | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def graphql(self, operation: str, query: str, variables: dict[str, Any]) -> dict[str, Any]:
        if operation == "RunResumeStatus":
            return {"model": self._resume(self.runs.get(variables["name"]))}
        if operation == "UpsertBucket":
            return {"upsertBucket": self._upsert(variables)}
        if operation == "CreateRunFiles":
            run = self.runs[variables["run"]]
            files = [
                {"name": name, "uploadUrl": f"{self.url}/upload/{run.name}/{name}"}
                for name in variables["files"]
            ]
            return {"createRunFiles": {"runID": run.name, "uploadHeaders": [], "files": files}}
        if "query ArtifactType(" in query:
            return {"project": {"artifact": None}}
        if operation == "CreateArtifact":  # as if it were there: its file comes with the run's as well
            artifact = {"id": "a", "state": "COMMITTED", "artifactSequence": {"latestArtifact": {"id": "a"}}}
            return {"createArtifact": {"artifact": artifact}}
        if operation == "Viewer":
            return {"viewer": {"id": "1", "entity": "lab", "username": "ada", "teams": {"edges": []}}}
        return {}

    def stream(self, name: str, sent: dict[str, Any]) -> None:
        run = self.runs[name]
        files = sent.get("files") or {}
        if "wandb-history.jsonl" in files:
            part = files["wandb-history.jsonl"]
            assert part["offset"] == len(run.history), (
                f"{name}: offset {part['offset']}, not {len(run.history)}"
            )
            run.history += [json.loads(line) for line in part["content"]]
        if "wandb-summary.json" in files:
            run.summary = json.loads(files["wandb-summary.json"]["content"][-1])
        if sent.get("complete"):
            run.exit_code = sent["exitcode"]

    def _resume(self, run: ServerRun | None) -> dict[str, Any]:
        project = {"id": "p", "name": "engram", "entity": {"id": "e", "name": "lab"}}
        if run is None:
            return {**project, "bucket": None}
        bucket = {
            "id": run.name,
            "name": run.name,
            "summaryMetrics": json.dumps(run.summary),
            "displayName": run.settings.get("displayName"),
            "logLineCount": 0,
            "historyLineCount": len(run.history),
            "eventsLineCount": 0,
            "historyTail": json.dumps([json.dumps(line) for line in run.history[-1:]]),
            "eventsTail": "[]",
            "config": run.settings["config"],
            "tags": run.settings.get("tags") or [],
            "notes": None,
            "wandbConfig": json.dumps({"t": 1}),  # it has begun
        }
        return {**project, "bucket": bucket}

    def _upsert(self, variables: dict[str, Any]) -> dict[str, Any]:
        inserted = variables["name"] not in self.runs
        run = self.runs.setdefault(variables["name"], ServerRun(variables["name"]))
        run.settings.update({key: value for key, value in variables.items() if value is not None})
        project = {"id": "p", "name": "engram", "entity": {"id": "e", "name": "lab"}}
        bucket = {
            "id": run.name,
            "name": run.name,
            "displayName": run.settings.get("displayName"),
            "description": None,
            "config": run.settings.get("config"),
            "sweepName": None,
            "project": project,
            "historyLineCount": len(run.history),
        }
        return {"bucket": bucket, "inserted": inserted}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: WandbServer

    def log_message(self, *arguments: Any) -> None:
        """Not to the test's output."""

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            data = b""
            while size := int(self.rfile.readline(), 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return data
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        return gzip.decompress(data) if self.headers.get("Content-Encoding") == "gzip" else data

    def _answer(self) -> None:
        body = self._body()
        headers = {key: value for key, value in self.headers.items() if key.lower() != "authorization"}
        self.server.requests.append(f"{self.command} {self.path} {headers} {body.decode(errors='replace')}")
        if self.server.fault == "hang":
            time.sleep(600)
        found: dict[str, Any] = {}
        status = 200
        if isinstance(self.server.fault, int):
            status = self.server.fault
        elif self.path == "/graphql":
            sent = json.loads(body)
            found = {
                "data": self.server.graphql(sent["operationName"], sent["query"], sent.get("variables") or {})
            }
        elif self.path.endswith("/file_stream"):
            self.server.stream(self.path.split("/")[-2], json.loads(body))
        elif self.path.startswith("/upload/"):
            _, _, run, name = self.path.split("/", 3)
            self.server.runs[run].files[name] = body
        answer = json.dumps(found).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_POST = do_PUT = do_HEAD = _answer  # noqa: N815 - as http.server wants them


@pytest.fixture
def wandb_server() -> Iterator[WandbServer]:
    server = WandbServer()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()
