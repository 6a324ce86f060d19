"""A real HTTP server on loopback that speaks the wire format of OpenAI's chat and text completions, with the faults
that providers show. It is for tests: what it answers is scripted, or comes from a chat model in this process.

    with WireServer() as server:
        server.script += [rate_limited(retry_after="1"), says("x = 1")]
        ...  # a client of server.url
        assert server.bodies[-1]["temperature"] == 0.0
"""

from __future__ import annotations

import base64
import json
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from harness.failures import ProviderError
from harness.protocols import ChatModel, Message, Sampling


class Exchange(BaseHTTPRequestHandler):
    """One request, and the means to answer it well or badly."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Listener
    body: dict[str, Any]
    left: bool
    """Whether it is no longer in flight: from where its answer begins, as the client may be the faster one then."""

    @property
    def is_chat(self) -> bool:
        return self.path.endswith("/chat/completions")

    def do_POST(self) -> None:
        self.body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with suppress(ConnectionError):  # the client has gone
            self.server.wire.take(self)

    def send(
        self,
        status: int,
        content: bytes,
        headers: Mapping[str, str] | None = None,
        content_type: str = "application/json",
        length: int | None = None,
    ) -> None:
        """Send an answer; with another `length` than it has, the answer ends too early."""
        self.server.wire.leave(self)
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(content) if length is None else length))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()

    def hold(self, seconds: float | None = None) -> None:
        """Wait; the server's end ends it."""
        self.server.wire.stopping.wait(seconds)

    def log_message(self, *arguments: Any) -> None:
        """Tests print nothing."""


Answer = Callable[[Exchange], None]


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    wire: WireServer

    def handle_error(self, *arguments: Any) -> None:
        """A client that hangs up is part of the tests."""


class WireServer:
    """Answers with what is in `script`, in order, and then always with `always`."""

    def __init__(self, always: Answer | None = None, port: int = 0) -> None:
        self.always: Answer = always or says("x = 1")
        self.script: deque[Answer] = deque()
        self.bodies: list[dict[str, Any]] = []
        """Bodies of all requests, in order of arrival."""
        self.paths: list[str] = []
        self.keys: list[str] = []
        """What the Authorization headers held."""
        self.in_flight = 0
        self.most_in_flight = 0
        self.stopping = threading.Event()
        self._lock = threading.Lock()
        self._connections: set[socket.socket] = set()
        self._kept: socket.socket | None = None
        self._listener = _Listener(("127.0.0.1", port), Exchange)
        self._listener.wire = self
        self.port: int = self._listener.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"
        self._thread = threading.Thread(target=self._listener.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def __enter__(self) -> WireServer:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.stop()

    def stop(self) -> None:
        """As killed: connections break, and the port refuses. Nobody but a server that asks for it gets it."""
        self.stopping.set()
        self._listener.shutdown()
        self._listener.server_close()
        self._kept = self._kept or _bound(self.port)
        with self._lock:
            for connection in self._connections:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def take(self, exchange: Exchange) -> None:
        with self._lock:
            self._connections.add(exchange.connection)
            self.bodies.append(exchange.body)
            self.paths.append(exchange.path)
            self.keys.append(exchange.headers.get("Authorization", ""))
            answer = self.script.popleft() if self.script else self.always
            exchange.left = False
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            answer(exchange)
        finally:
            self.leave(exchange)

    def leave(self, exchange: Exchange) -> None:
        with self._lock:
            self.in_flight -= not exchange.left
            exchange.left = True


def _bound(port: int) -> socket.socket:
    """A socket that holds a port and does not listen, for as long as it is kept."""
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # then another may listen there
    bound.bind(("127.0.0.1", port))
    return bound


# Answers


def says(
    text: str | None,
    finish_reason: str | None = "stop",
    message: Mapping[str, Any] | None = None,
    usage: Mapping[str, Any] | str | None = "counted",
    model: str | None = None,
    **fields: Any,
) -> Answer:
    """A reply. `message` adds to the message (`reasoning_content`, `refusal`), `fields` to the whole."""

    def answer(exchange: Exchange) -> None:
        exchange.send(200, json.dumps(payload(exchange)).encode())

    def payload(exchange: Exchange) -> dict[str, Any]:
        choice: dict[str, Any] = {"index": 0, "finish_reason": finish_reason}
        if exchange.is_chat:
            choice["message"] = {"role": "assistant", "content": text, **(message or {})}
        else:
            choice["text"] = text
        prompt, written = len(json.dumps(exchange.body).split()), len((text or "").split())
        counted = {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}
        return {
            "id": "wire-1",
            "object": "chat.completion" if exchange.is_chat else "text_completion",
            "created": int(time.time()),
            "model": model or exchange.body["model"],
            "choices": [choice],
            "usage": counted if usage == "counted" else usage,
            **fields,
        }

    return answer


def fails(
    status: int,
    message: str = "it does not work",
    code: str | int | None = None,
    type: str | None = "invalid_request_error",
    param: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """An error in the provider's form."""
    content = json.dumps({"error": {"message": message, "type": type, "param": param, "code": code}}).encode()
    return lambda exchange: exchange.send(status, content, headers)


def rate_limited(retry_after: str | None = None) -> Answer:
    """429 that passes."""
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return fails(
        429, "Rate limit reached for requests", "rate_limit_exceeded", type="requests", headers=headers
    )


def out_of_quota() -> Answer:
    """429 that does not pass."""
    text = "You exceeded your current quota, please check your plan and billing details."
    return fails(429, text, "insufficient_quota", type="insufficient_quota")


def refuses(names: Collection[str], otherwise: Answer) -> Answer:
    """400 that names the first of `names` that the request has, in OpenAI's words."""

    def answer(exchange: Exchange) -> None:
        for name in names:
            if name in exchange.body:
                hint = " Use 'max_completion_tokens' instead." if name == "max_tokens" else ""
                text = f"Unsupported parameter: '{name}' is not supported with this model.{hint}"
                return fails(400, text, "unsupported_parameter", param=name)(exchange)
        return otherwise(exchange)

    return answer


def page(status: int) -> Answer:
    """An HTML page, as a proxy or another server sends it."""
    html = b"<html><head><title>Bad gateway</title></head><body><h1>nginx</h1></body></html>"
    return lambda exchange: exchange.send(status, html, content_type="text/html")


def content(data: bytes, content_type: str = "application/json", status: int = 200) -> Answer:
    """Any bytes."""
    return lambda exchange: exchange.send(status, data, content_type=content_type)


def cut_short(data: bytes = b'{"id": "wire-1", "choices": [{"mess') -> Answer:
    """The connection ends in the middle of the answer."""

    def answer(exchange: Exchange) -> None:
        exchange.send(200, data, length=len(data) + 100)
        exchange.close_connection = True

    return answer


def hangs_up(exchange: Exchange) -> None:
    """The connection ends without an answer."""
    exchange.close_connection = True


def stalls(exchange: Exchange) -> None:
    """The request is taken and never answered."""
    exchange.hold()
    exchange.close_connection = True


def stalls_in_body(exchange: Exchange) -> None:
    """Status, headers, and then nothing."""
    exchange.send(200, b'{"id":', length=500)
    exchange.hold()
    exchange.close_connection = True


def drips(seconds: float) -> Answer:
    """A sound answer, of which a byte comes every so many seconds."""

    def answer(exchange: Exchange) -> None:
        data = json.dumps({"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]}).encode()
        exchange.send(200, b"", length=len(data))
        for byte in data:
            exchange.hold(seconds)
            if exchange.server.wire.stopping.is_set():
                return
            exchange.wfile.write(bytes([byte]))
            exchange.wfile.flush()

    return answer


def after(seconds: float, then: Answer) -> Answer:
    """An answer that takes its time."""

    def answer(exchange: Exchange) -> None:
        exchange.hold(seconds)
        then(exchange)

    return answer


def limited_to(most: int, then: Answer) -> Answer:
    """429 while more than `most` requests are in flight."""

    def answer(exchange: Exchange) -> None:
        crowded = exchange.server.wire.in_flight > most
        (rate_limited() if crowded else then)(exchange)

    return answer


def answered_by(model: ChatModel, otherwise: Answer | None = None) -> Answer:
    """Replies of a chat model, for example the rules: what is sent is read back from the wire. Chat only. What the
    model does not take, such as a preflight's question to the rules, is answered otherwise: by OK."""

    def answer(exchange: Exchange) -> None:
        body = exchange.body
        messages = [_message(message) for message in body["messages"]]
        sampling = Sampling(
            body.get("temperature", 1.0),
            body.get("max_tokens", 512),
            tuple(body.get("stop", ())),
            body.get("seed", 0),
        )
        try:
            reply = model.complete(messages, sampling)
        except ProviderError:
            return (otherwise or says("OK"))(exchange)
        usage = {"prompt_tokens": reply.prompt_tokens, "completion_tokens": reply.completion_tokens}
        return says(reply.text, reply.finish_reason, usage=usage, model=reply.model)(exchange)

    return answer


def _message(sent: Mapping[str, Any]) -> Message:
    if isinstance(sent["content"], str):
        return Message(sent["role"], sent["content"])
    text = "".join(part["text"] for part in sent["content"] if part["type"] == "text")
    urls = [part["image_url"]["url"] for part in sent["content"] if part["type"] == "image_url"]
    return Message(sent["role"], text, tuple(base64.b64decode(url.partition(",")[2]) for url in urls))
