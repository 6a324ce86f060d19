"""`python -m harness serve` as a process: where it listens, what it refuses, and what is left when it is killed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.methods.hime.server.conftest import Robot
from tests.methods.hime.server.test_hime_server_routes import AWAY, LEFT, into

MODEL = """
import pathlib, time
from dataclasses import dataclass
from harness.chat.rules.model import RulesModel

@dataclass(frozen=True)
class Slow:
    gate: str
    cached = False
    def problems(self): return []
    def open(self): return SlowModel(pathlib.Path(self.gate))

class SlowModel(RulesModel):
    def __init__(self, gate): self.gate = gate
    def complete(self, messages, sampling):
        if self.gate.exists():
            (self.gate / "asked").touch()
            time.sleep(60)
        return super().complete(messages, sampling)
"""


@contextmanager
def started(folder: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], Robot]]:
    command = [
        sys.executable,
        "-m",
        "harness",
        "serve",
        *arguments,
        "--port",
        "0",
        "--state",
        str(folder / "state"),
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), os.getcwd()])}
    with ExitStack() as stack:
        log = stack.enter_context(open(folder / "log.txt", "a"))
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=log, text=True
        )
        stack.callback(process.wait)
        stack.callback(process.kill)
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"at (http://127\.0\.0\.1:\d+)$", line.strip())
        assert found, line + (folder / "log.txt").read_text()
        http = httpx.Client(base_url=found[1], timeout=60, trust_env=False)
        yield process, Robot(stack.enter_context(http))


def kept(folder: Path) -> dict[str, Any]:
    (path,) = folder.glob("state/hime-*/*/task.json")
    return dict(json.loads(path.read_text()))


@pytest.mark.slow
def test_killed_in_the_middle_of_a_request_the_last_whole_state_goes_on(tmp_path) -> None:
    (tmp_path / "slow_model.py").write_text(MODEL)
    gate = tmp_path / "gate"
    arguments = ("method=hime", "llm=rules", "llm._target_=slow_model.Slow", f"+llm.gate={gate}")
    with started(tmp_path, *arguments) as (process, robot):
        state = robot.create("Inspect the left box, then inspect the right box.", AWAY).json()
        before = robot.step(*[AWAY] * 10).json()
        assert before["current_subtask_description"] == LEFT
        written = kept(tmp_path)
        gate.mkdir()
        under_way = ThreadPoolExecutor().submit(robot.step, *[into("left box")] * 10)
        while not (gate / "asked").exists():
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        with pytest.raises(httpx.HTTPError):
            under_way.result(30)
    assert kept(tmp_path) == written and written["kept"] == 11
    (gate / "asked").unlink()
    gate.rmdir()
    with started(tmp_path, *arguments) as (process, robot):
        assert robot.resume() == {"has_resumed_task": True, "task": before, "tasks": [before]}
        robot.task = state["task_id"]
        after = robot.step(*[into("left box")] * 10).json()
        assert after["plan_list"] == f"[done] {LEFT}\n[current] inspect right box"
        assert kept(tmp_path)["kept"] == 21
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
    assert "The same command goes on with its tasks" in (tmp_path / "log.txt").read_text()


@pytest.mark.slow
def test_one_folder_has_one_server_and_one_variant_of_a_method_its_own_tasks(tmp_path) -> None:
    with started(tmp_path, "method=hime", "llm=rules") as (_, robot):
        robot.create("Inspect the left box.", AWAY)
        with (
            pytest.raises(AssertionError, match="is in use by process"),
            started(tmp_path, "method=hime", "llm=rules"),
        ):
            pass
        with started(tmp_path, "method=hime_fifo", "llm=rules") as (_, other):
            assert other.resume()["tasks"] == []
        with started(tmp_path, "method=hime", "llm=rules", "method.planner.images=3") as (_, other):
            assert other.resume()["tasks"] == []
