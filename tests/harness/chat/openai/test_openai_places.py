"""How many requests are in flight: the arithmetic, and real processes on one machine, one of them killed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.chat.openai.places import FORGOTTEN, Places
from harness.chat.openai.shared import SharedState, folder_of
from harness.protocols import Reply
from tests.harness.chat.wire import Exchange, WireServer, limited_to, rate_limited, says, stalls

PROJECT = Path(__file__).resolve().parents[4]
PATIENCE = 300.0
"""Seconds within which processes start and end on any machine."""


def hold(places: Places, count: int) -> int:
    """How many of `count` places can be held at once."""

    async def one(held: list[int]) -> None:
        async with places.place():
            held.append(1)
            await asyncio.sleep(60)

    async def all_() -> int:
        held: list[int] = []
        tasks = [asyncio.create_task(one(held)) for _ in range(count)]
        for _ in range(count + 1):  # each task gets its place, or waits, in its first step
            await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return len(held)

    return asyncio.run(all_())


def test_no_more_than_the_limit_are_held_and_all_are_given_back(tmp_path: Path) -> None:
    places = Places(tmp_path, 3)
    assert hold(places, 5) == 3
    assert hold(places, 5) == 3
    assert hold(Places(tmp_path, 1), 5) == 1  # another's bound is its own


def test_a_rate_limit_halves_and_answers_add_one_a_round(tmp_path: Path) -> None:
    places = Places(tmp_path, 8)
    places.limited(time.time(), 0.0)
    assert places.allowed() == 4
    assert hold(places, 8) == 4
    for _ in range(5):
        places.answered()
    assert places.allowed() == 5
    for _ in range(100):
        places.answered()
    assert places.allowed() == 8


def test_one_crowd_is_one_cut(tmp_path: Path) -> None:
    """Sixteen requests in flight meet one limit: they halve once, not sixteen times."""
    places = Places(tmp_path, 16)
    sent = time.time()
    for _ in range(16):
        places.limited(sent, 0.0)
    assert places.allowed() == 8
    places.limited(time.time(), 0.0)
    assert places.allowed() == 4


def test_there_is_always_one_place(tmp_path: Path) -> None:
    places = Places(tmp_path, 2)
    for _ in range(5):
        places.limited(time.time(), 0.0)
    assert places.allowed() == 1


def test_all_wait_as_long_as_the_server_asks(tmp_path: Path) -> None:
    Places(tmp_path, 4).limited(time.time(), 0.4)
    resume = SharedState(tmp_path / "limit.json").read()["resume"]

    async def wait() -> float:
        async with Places(tmp_path, 4).place():
            return time.time()

    assert asyncio.run(wait()) >= resume


def test_what_was_learnt_is_forgotten(tmp_path: Path) -> None:
    places = Places(tmp_path, 8)
    places.limited(time.time(), 0.0)
    SharedState(tmp_path / "limit.json").change(lambda state: state.update(at=time.time() - FORGOTTEN - 1))
    assert places.allowed() == 8
    # A clock that was set back must not stop everything.
    SharedState(tmp_path / "limit.json").change(
        lambda state: state.update(at=time.time() + 1e6, resume=time.time() + 1e6)
    )
    assert hold(places, 9) == 8


@pytest.mark.parametrize("torn", ["", '{"limit": 1.0, "at', "[]", "\0\0\0"])
def test_a_torn_state_is_an_empty_one(tmp_path: Path, torn: str) -> None:
    (tmp_path / "limit.json").write_text(torn)
    places = Places(tmp_path, 8)
    assert places.allowed() == 8
    places.limited(time.time(), 0.0)
    assert places.allowed() == 4


def test_models_and_servers_do_not_share_places() -> None:
    folders = {
        folder_of(url, model)
        for url in ("http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1")
        for model in ("org/model:a", "org-model-a", "x" * 300)
    }
    assert len(folders) == 6
    assert folder_of("http://127.0.0.1:1/v1/", "org/model:a") in folders
    assert all(folder.is_dir() for folder in folders)


def test_a_rate_limit_from_the_wire_cuts(server: WireServer, ask: Callable[..., Reply]) -> None:
    server.script.append(rate_limited())
    assert ask(concurrency=6).details["retries"] == 1
    assert Places(folder_of(server.url, "gpt-4.1-mini"), 6).allowed() == 3


CALLER = """
import json, sys
from harness.chat.openai import OpenAIChat
from harness.protocols import Message, Sampling
url, concurrency, calls = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
model = OpenAIChat(model="m", base_url=url, concurrency=concurrency, timeout=300.0, deadline=600.0).open()
for number in range(calls):
    print(model.complete([Message("user", f"call {number}")], Sampling()).text, flush=True)
model.close()
"""


def caller(server: WireServer, concurrency: int, calls: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", CALLER, server.url, str(concurrency), str(calls)]
    return subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_processes_share_the_places_of_a_model(server: WireServer) -> None:
    """Two of four processes may ask: two meet at the barrier, and never are there three."""
    together = threading.Barrier(2)

    def answer(exchange: Exchange) -> None:
        if len(server.bodies) <= 2:
            together.wait(PATIENCE)
        exchange.hold(0.02)
        says("x = 1")(exchange)

    server.always = answer
    children = [caller(server, concurrency=2, calls=5) for _ in range(4)]
    assert [child.communicate(timeout=PATIENCE)[0] for child in children] == ["x = 1\n" * 5] * 4
    assert server.most_in_flight == 2


@pytest.mark.slow
def test_processes_find_what_a_server_bears(server: WireServer) -> None:
    server.always = limited_to(1, says("x = 1"))
    children = [caller(server, concurrency=8, calls=5) for _ in range(3)]
    assert [child.communicate(timeout=PATIENCE)[0] for child in children] == ["x = 1\n" * 5] * 3


@pytest.mark.slow
def test_the_place_of_a_killed_process_is_free(server: WireServer) -> None:
    asked = threading.Event()

    def holds(exchange: Exchange) -> None:
        asked.set()
        stalls(exchange)

    server.script.append(holds)
    first = caller(server, concurrency=1, calls=1)
    assert asked.wait(PATIENCE)
    second = caller(server, concurrency=1, calls=1)
    # The second has no place while the first lives: nothing of it arrives until after the kill.
    os.kill(first.pid, signal.SIGKILL)
    assert first.wait(PATIENCE) == -signal.SIGKILL
    assert second.communicate(timeout=PATIENCE)[0] == "x = 1\n"
    assert len(server.bodies) == 2
    assert json.dumps(server.bodies[0]) == json.dumps(server.bodies[1])
