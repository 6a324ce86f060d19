"""A server on loopback, and models that ask it. What processes share of a model lies in a folder of the test's own."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.chat.openai import OpenAIChat
from harness.protocols import Message, Reply, Sampling
from tests.harness.chat.wire import WireServer

KEY = "sk-test-0123456789abcdef"
HELLO = (Message("user", "hello"),)


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "shared"))  # for child processes
    (tmp_path / "shared").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "shared"))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def server() -> Iterator[WireServer]:
    with WireServer() as server:
        yield server


@pytest.fixture
def configured(server: WireServer) -> Callable[..., OpenAIChat]:
    """`configured(deadline=1.0)`: the config of a model behind the server."""

    def make(**keys: Any) -> OpenAIChat:
        return OpenAIChat(**{"model": "gpt-4.1-mini", "base_url": server.url, "prices": "shipped", **keys})

    return make


@pytest.fixture
def ask(
    configured: Callable[..., OpenAIChat], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Reply]]:
    """`ask(messages, sampling, **keys)`: a reply of a model with those keys. It makes short pauses."""
    monkeypatch.setattr("harness.chat.openai.model.FIRST_PAUSE", 0.01)
    opened: dict[str, Any] = {}

    def call(messages: Any = HELLO, sampling: Sampling | None = None, **keys: Any) -> Reply:
        if repr(keys) not in opened:
            opened[repr(keys)] = configured(**keys).open()
        reply: Reply = opened[repr(keys)].complete(messages, sampling or Sampling())
        return reply

    yield call
    for model in opened.values():
        model.close()
