"""A server on loopback, and models that ask it. What processes share of a model lies in a folder of the test's own."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.chat.openai import OpenAIChat
from harness.protocols import Message, Reply, Sampling
from tests.harness.chat.wire import Answer, Exchange, WireServer

KEY = "sk-test-0123456789abcdef"
HELLO = (Message("user", "hello"),)


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "shared"))  # for child processes
    (tmp_path / "shared").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "shared"))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


class Clock:
    """The time of the models that open while it is there. It stands still: pauses are over at once and add what they
    should have taken, `advance` does the rest. So no deadline depends on how fast the machine is."""

    def __init__(self) -> None:
        self.now = 0.0
        self._loops: list[asyncio.SelectorEventLoop] = []

    def advance(self, seconds: float) -> None:
        """From any thread; what is due then happens."""
        self.now += seconds
        for loop in self._loops:
            loop.call_soon_threadsafe(lambda: None)

    def takes(self, seconds: float, then: Answer) -> Answer:
        """An answer before which that time passes."""

        def answer(exchange: Exchange) -> None:
            self.advance(seconds)
            then(exchange)

        return answer

    def new_loop(self) -> asyncio.SelectorEventLoop:
        loop = asyncio.SelectorEventLoop()
        loop.time = lambda: self.now  # type: ignore[method-assign]
        self._loops.append(loop)
        return loop


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock, sleep = Clock(), asyncio.sleep

    async def pause(seconds: float) -> None:
        clock.now += seconds
        await sleep(0)

    monkeypatch.setattr(asyncio, "new_event_loop", clock.new_loop)
    monkeypatch.setattr(asyncio, "sleep", pause)
    return clock


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
