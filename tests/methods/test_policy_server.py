"""The client of policy servers against a loopback server: what goes over the wire, and every way of not answering."""

from __future__ import annotations

import base64
import hashlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.failures import PolicyServerError, ProviderError
from methods import policy_server
from methods.policy import Policy
from methods.policy_server import PolicyServer, pack, unpack
from tests.methods.conftest import Stage
from tests.methods.test_policy import Driven

msgpack = pytest.importorskip("msgpack", reason="the extra robots is not installed")
sync_server = pytest.importorskip("websockets.sync.server", reason="the extra robots is not installed")

MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
"""With which a handshake is answered, RFC 6455."""
UP = {
    "actions": np.tile(np.array([0, 0, 0.01, 0, 0, 0, 1], np.float32), (5, 1)),
    "server_timing": {"infer_ms": 1.5},
}


@contextmanager
def serving(handler: Callable[[Any], None]) -> Iterator[str]:
    """The address of a server that runs `handler` for each connection."""
    with sync_server.serve(handler, "127.0.0.1", 0, compression=None, max_size=None) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
        finally:
            server.shutdown()
            thread.join()


def answering(*answers: Any, asked: list[Any] | None = None) -> Callable[[Any], None]:
    """Greets, then gives `answers` in turn, the last one for ever; bytes and text are sent as they are."""

    def handle(connection: Any) -> None:
        connection.send(pack({"model": "of the test"}))
        for index, message in enumerate(connection):
            if asked is not None:
                asked.append(unpack(message))
            answer = answers[min(index, len(answers) - 1)]
            connection.send(answer if isinstance(answer, bytes | str) else pack(answer))

    return handle


def play(url: str, stage: Callable[..., Stage], prompts: Path, **config: Any) -> tuple[Stage, Driven]:
    one, world = stage({}), Driven(prompts)
    world.goal, world.limit = lambda world: world.tool.position[2] > 0.475, 50
    one.episode.env = world
    Policy(server=url, cameras=["front"], timeout=60.0, **config).play(one.episode)
    return one, world


def test_the_wire_format_is_that_of_openpis_client() -> None:
    """The maps are spelled out: two ends of one's own would agree on anything."""
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    wire = msgpack.packb(
        {
            "actions": {
                b"__ndarray__": True,
                b"data": array.tobytes(),
                b"dtype": "<f4",
                b"shape": [2, 3],
            },
            "ms": {b"__npgeneric__": True, b"data": 2.5, b"dtype": "<f4"},
        }
    )
    assert pack({"actions": array, "ms": np.float32(2.5)}) == wire
    content = unpack(wire)
    assert content["actions"].dtype == np.float32
    assert (content["actions"] == array).all()
    assert content["ms"] == 2.5


@pytest.mark.parametrize(
    "value",
    [
        np.zeros((3, 4, 3), np.uint8)[:, ::-1],
        np.array(1.5),
        np.zeros((0, 7)),
        np.array([True, False]),
        np.float32(0.5),
        "text",
        None,
        {"a": [1, 2.5]},
    ],
)
def test_what_is_packed_comes_back(value: Any) -> None:
    back = unpack(pack({"value": value}))["value"]
    assert type(back) is type(value)
    assert np.array_equal(back, value)
    assert getattr(back, "dtype", None) == getattr(value, "dtype", None)
    assert np.shape(back) == np.shape(value)


@pytest.mark.parametrize("value", [np.array([object()]), np.array([1j]), np.complex128(1j), object()])
def test_what_cannot_be_sent_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="cannot be sent to a policy server"):
        pack({"value": value})


@pytest.mark.parametrize(
    "wire",
    [
        b"",
        b"\xc1",
        pack({"a": 1})[:-1],
        pack({"a": 1}) + b"\x00",
        msgpack.packb({b"__ndarray__": True}),
        msgpack.packb({b"__ndarray__": True, b"data": b"\0" * 8, b"dtype": "<f8", b"shape": [3]}),
        msgpack.packb({b"__ndarray__": True, b"data": b"\0" * 8, b"dtype": "|O", b"shape": [1]}),
        msgpack.packb({b"__ndarray__": True, b"data": b"\0" * 8, b"dtype": "rubbish", b"shape": [1]}),
    ],
)
def test_what_is_no_message_is_a_value_error(wire: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the words are those of msgpack and NumPy
        unpack(wire)


def test_an_episode_through_a_server(stage: Callable[..., Stage], prompts: Path) -> None:
    asked: list[Any] = []
    with serving(answering(UP, asked=asked)) as url:
        one, world = play(url, stage, prompts, chunk=5)
    (record,) = one.episode.trials
    assert (record.success, world.steps(), record.facts) == (True, 8, {"asked": 2})
    assert set(asked[0]) == {"rgb_front", "tool", "gripper", "joints", "prompt"}
    assert asked[0]["prompt"] == "lift the red block"
    assert (asked[0]["rgb_front"].shape, asked[0]["rgb_front"].dtype) == ((4, 4, 3), np.uint8)
    assert [seen["tool"][2] for seen in asked] == pytest.approx([0.40, 0.45])
    assert one.traced("policy_server") == [
        {"event": "policy_server", "url": url, "metadata": {"model": "of the test"}}
    ]
    assert one.episode.served == {url}


def test_each_episode_has_a_connection_of_its_own(stage: Callable[..., Stage], prompts: Path) -> None:
    opened: list[Any] = []

    def handle(connection: Any) -> None:
        opened.append(connection)
        answering({"done": True})(connection)

    with serving(handle) as url:
        for _ in range(3):
            play(url, stage, prompts)
        deadline = time.monotonic() + 60
        while any(connection.state.name != "CLOSED" for connection in opened) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert [connection.state.name for connection in opened] == ["CLOSED"] * 3


def test_an_action_that_is_none_is_the_policys_failure(stage: Callable[..., Stage], prompts: Path) -> None:
    with serving(answering({"actions": np.zeros((5, 8))})) as url:
        one, _ = play(url, stage, prompts)
    assert one.episode.trials[0].failure == "motion"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            "Traceback\nRuntimeError: out of memory",
            "reports an exception: Traceback\nRuntimeError: out of memory",
        ),
        (b"\xc1", "no msgpack"),
        (msgpack.packb([1, 2]), "answered a list"),
    ],
)
def test_an_answer_that_is_none_is_the_servers_error(
    stage: Callable[..., Stage], prompts: Path, answer: Any, message: str
) -> None:
    with serving(answering(answer)) as url, pytest.raises(PolicyServerError, match=message) as caught:
        play(url, stage, prompts)
    assert isinstance(caught.value, ProviderError)
    assert caught.value.kind == "policy_server"


def test_a_server_that_hangs_up_is_an_error(stage: Callable[..., Stage], prompts: Path) -> None:
    def handle(connection: Any) -> None:
        connection.send(pack({}))
        connection.recv()
        connection.close(1011, "out of memory")

    with serving(handle) as url, pytest.raises(PolicyServerError, match=r"did not answer.*out of memory"):
        play(url, stage, prompts)


def test_no_proxy_stands_before_a_server_on_this_machine(
    stage: Callable[..., Stage], prompts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy of another machine would look for the server there."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serving(answering(UP)) as url:
        one, _ = play(url, stage, prompts)
    assert one.episode.trials[0].success
    said = r"policy\.invalid:8000 \(through the proxy of the variable https_proxy\) cannot be reached: Connection"
    with pytest.raises(PolicyServerError, match=said):
        PolicyServer("ws://policy.invalid:8000", 5.0)  # the proxy refused: the name was looked up nowhere


def test_a_server_that_is_down_is_an_error_at_once(stage: Callable[..., Stage], prompts: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"ws://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(PolicyServerError, match="cannot be reached: ConnectionRefusedError"):
            play(url, stage, prompts)


def test_what_is_no_websocket_server_is_an_error(stage: Callable[..., Stage], prompts: Path) -> None:
    def reply(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        connection.recv(4096)
        connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=reply, args=(listener,))
        thread.start()
        with pytest.raises(PolicyServerError, match=r"cannot be reached.*404"):
            play(f"ws://127.0.0.1:{listener.getsockname()[1]}", stage, prompts)
        thread.join()


@pytest.mark.parametrize("silent_at", ["handshake", "greeting", "answer"])
def test_every_wait_is_bounded(silent_at: str) -> None:
    over = threading.Event()

    def handle(connection: Any) -> None:
        if silent_at == "answer":
            connection.send(pack({}))
            connection.recv()
        over.wait(300)

    started = time.monotonic()
    with serving(handle) as url, socket.create_server(("127.0.0.1", 0)) as mute:
        if silent_at == "handshake":
            url = f"ws://127.0.0.1:{mute.getsockname()[1]}"
        try:
            with pytest.raises(PolicyServerError, match=r"cannot be reached|within 0\.3 s; method\.timeout"):
                PolicyServer(url, timeout=0.3).act({"tool": np.zeros(7)})
        finally:
            over.set()
    assert time.monotonic() - started > 0.25


def test_a_server_that_reads_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A picture larger than the sockets' buffers, and nobody who takes it."""
    over = threading.Event()

    def deaf(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        request = connection.recv(4096).decode()
        key = next(
            line.split(": ")[1] for line in request.split("\r\n") if line.startswith("Sec-WebSocket-Key")
        )
        accept = base64.b64encode(hashlib.sha1(f"{key}{MAGIC}".encode()).digest()).decode()
        upgrade = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        connection.sendall(f"{upgrade}Sec-WebSocket-Accept: {accept}\r\n\r\n".encode())
        connection.sendall(b"\x82\x01\x80")  # a binary frame with an empty map
        over.wait(300)
        connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=deaf, args=(listener,))
        thread.start()
        try:
            server = PolicyServer(f"ws://127.0.0.1:{listener.getsockname()[1]}", timeout=60.0)
            monkeypatch.setattr(server, "_timeout", 0.5)
            with pytest.raises(PolicyServerError, match="took no observation"):
                server.act({"rgb": np.zeros(50_000_000, np.uint8)})
            server.close()
        finally:
            over.set()
            thread.join()


def test_what_is_missing_is_a_problem_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Policy(server="ws://localhost:8000").problems() == []
    (problem,) = Policy(server="localhost:8000").problems()
    assert (problem.what, problem.fix) == (
        "server is 'localhost:8000', which is no address",
        "Write method.server=ws://host:port",
    )
    for url in ("ws://", "ws:///x", "ws://robot:99999", "ws://robot:zero", "ws://robot:0", "ws://[::1"):
        (problem,) = Policy(server=url).problems()
        assert problem.what == f"server is {url!r}, which is no address"
    monkeypatch.setattr(policy_server.importlib.util, "find_spec", lambda name: None)
    (problem,) = Policy(server="ws://localhost:8000").problems()
    assert "websockets and msgpack" in problem.what
    assert problem.fix == "pip install 'engram[robots]'"
