"""A task server on loopback with models that say what they are told to say, and what a robot's client sends to it."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import uvicorn
from PIL import Image

from harness.protocols import Message, Reply, Sampling
from harness.serving import Service
from methods.hime.hierarchy import Hierarchy
from methods.hime.server.app import application, listen
from methods.hime.server.register import Register

FIRST = "<summary>I ask</summary><memory_operations></memory_operations><plan_list></plan_list>"


def second(plan: str, operations: str = "", summary: str = "so") -> str:
    return (
        f"<summary>{summary}</summary><memory_operations>{operations}</memory_operations>"
        f"<plan_list>{plan}</plan_list>"
    )


class Said:
    """A chat model that gives its answers in their order; one may be an exception, or something to do first."""

    name = "said"

    def __init__(self, *answers: Any) -> None:
        self.left = list(answers)
        self.heard: list[Sequence[Message]] = []
        self.sampled: list[Sampling] = []

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        self.heard.append(messages)
        self.sampled.append(sampling)
        answer = self.left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Reply(answer() if callable(answer) else answer, model="said-1", completion_tokens=7)

    def close(self) -> None:
        pass


class Robot:
    """Sends what the published client sends, in its form."""

    def __init__(self, http: httpx.Client) -> None:
        self.http = http
        self.task = ""

    def create(self, words: str, *seen: Any, **form: Any) -> httpx.Response:
        data = {
            "global_instruction": words,
            "observer_window_size": 8,
            "human_intervene_for_planner": "False",
            "planner_execution_mode": "sync",
            **form,
        }
        if seen:
            data["annotation"] = [json.dumps(one) for one in seen]
        files = [
            ("initial_image", ("initial_image.png", png(), "image/png")),
            ("initial_waist_image", ("initial_waist_image.png", png(), "image/png")),
        ]
        answer = self.http.post("/tasks", data=data, files=files)
        self.task = answer.json().get("task_id", self.task)
        return answer

    def step(self, *seen: Any, moments: int | None = None) -> httpx.Response:
        count = len(seen) if moments is None else moments
        files = [("image", (f"step_image_{n}.png", png(), "image/png")) for n in range(count)]
        files += [("waist_image", (f"waist_step_image_{n}.png", png(), "image/png")) for n in range(count)]
        data = {"annotation": [json.dumps(one) for one in seen]} if seen else {}
        return self.http.post(f"/tasks/{self.task}/step", data=data, files=files)

    def say(self, words: str) -> httpx.Response:
        return self.http.post(f"/tasks/{self.task}/user_instruction", json={"user_new_instruction": words})

    def resume(self) -> Any:
        return self.http.get("/resume_state").json()


def png(width: int = 100, height: int = 100, shade: int = 0) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(np.full((height, width, 3), shade, np.uint8)).save(buffer, format="PNG")
    return buffer.getvalue()


@contextmanager
def served(method: Hierarchy, models: Mapping[str, Any], folder: Path, name: str = "hime") -> Iterator[Robot]:
    from harness.chat.rules.model import RulesModel

    llm = "rules" if any(isinstance(model, RulesModel) for model in models.values()) else "said"
    service = Service(name, llm, models, Sampling(), 0, folder, "127.0.0.1", 0)
    with listen("127.0.0.1", 0) as listening:
        app = application(method, service, Register(method, service.ask, folder))
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        try:
            with httpx.Client(base_url=url, timeout=30, trust_env=False) as http:
                yield Robot(http)
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Robot]]:
    """Serve a method with models by role; again with the same folder: a server that was started again."""
    with ExitStack() as stack:

        def start(method: Hierarchy, **models: Any) -> Robot:
            stack.close()
            return stack.enter_context(served(method, models, tmp_path / "state"))

        yield start


@pytest.fixture
def said() -> type[Said]:
    return Said
