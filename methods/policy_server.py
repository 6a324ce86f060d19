"""A client for policy servers that speak openpi's protocol: msgpack with NumPy arrays over a websocket. It is written
afresh because the package openpi-client wants NumPy 1 and waits for a server without end."""

from __future__ import annotations

import importlib.util
import socket
import threading
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from harness.addresses import is_local
from harness.failures import PolicyServerError
from harness.protocols import Problem

if TYPE_CHECKING:
    from numpy.typing import NDArray

PACKAGES = ("websockets", "msgpack")
LARGEST_ANSWER = 1 << 26
"""Bytes."""


def problems(url: str) -> list[Problem]:
    """What keeps this machine from talking to the server; whether it runs is found out when it is asked."""
    if not _is_address(url):
        return [Problem(f"server is {url!r}, which is no address", "Write method.server=ws://host:port")]
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        what = (
            f"the package{'s'[: len(missing) - 1]} {' and '.join(missing)} of policy servers is not installed"
        )
        return [Problem(what, "pip install 'engram[robots]'")]
    return []


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("ws", "wss") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is none, or half an IPv6 address
        return False


def _proxy(url: str) -> str:
    """That a proxy stands between, where websockets takes one; its own address may hold a password."""
    parts = urlsplit(url)
    if is_local(url) or proxy_bypass(parts.hostname or ""):
        return ""
    kinds = ("wss", "socks", "https") if parts.scheme == "wss" else ("ws", "socks", "https", "http")
    found = next((kind for kind in kinds if kind in getproxies()), "")
    return f" (through the proxy of the variable {found}_proxy)" if found else ""


class PolicyServer:
    """A connection, which is one episode: the server greets it with a mapping of its own (`metadata`), then answers
    each observation. The protocol has no message for a new episode. Every wait is bounded by `timeout` seconds.

    A request is the observation with the instruction under `prompt`; an answer is a mapping with `actions` (N, 7).
    A text instead is the traceback of what went wrong there.
    """

    def __init__(self, url: str, timeout: float) -> None:
        """Connect. Raises `PolicyServerError`."""
        try:
            from websockets.exceptions import WebSocketException
            from websockets.sync.client import connect
        except ImportError as error:
            raise PolicyServerError(f"method.server needs the package websockets: {error}") from error
        self._url, self._timeout = url, timeout
        self._prompt = ""
        self._open = ExitStack()
        try:
            # No pings: a server that computes does not answer them.
            self._connection = self._open.enter_context(
                connect(
                    url,
                    proxy=None if is_local(url) else True,
                    compression=None,
                    max_size=LARGEST_ANSWER,
                    open_timeout=timeout,
                    close_timeout=5,
                    ping_interval=None,
                )
            )
        except (OSError, WebSocketException) as error:
            raise self._broken("cannot be reached", error) from error
        try:
            self.metadata = self._receive()
        except PolicyServerError:
            self.close()
            raise

    def reset(self, instruction: str) -> None:
        """Name what the observations to come are asked with."""
        self._prompt = instruction

    def act(self, observation: Mapping[str, NDArray[Any]]) -> Mapping[str, Any]:
        """The server's answer to an observation. Raises `PolicyServerError`."""
        from websockets.exceptions import WebSocketException

        message = pack({**observation, "prompt": self._prompt})
        # A send to one who does not read waits in the system, where only the end of the connection reaches it.
        watch = threading.Timer(self._timeout, self._cut)
        watch.start()
        try:
            self._connection.send(message)
        except (OSError, WebSocketException) as error:
            raise self._broken("took no observation", error) from error
        finally:
            watch.cancel()
        return self._receive()

    def close(self) -> None:
        self._open.close()

    def _cut(self) -> None:
        with suppress(OSError):  # it has ended by itself
            self._connection.socket.shutdown(socket.SHUT_RDWR)

    def _receive(self) -> Mapping[str, Any]:
        from websockets.exceptions import WebSocketException

        try:
            answer = self._connection.recv(timeout=self._timeout)
        except TimeoutError as error:
            raise PolicyServerError(
                f"the policy server {self._url} did not answer within {self._timeout:g} s; method.timeout=SECONDS gives "
                "it longer"
            ) from error
        except (OSError, WebSocketException) as error:
            raise self._broken("did not answer", error) from error
        if isinstance(answer, str):
            raise PolicyServerError(
                f"the policy server {self._url} reports an exception: {answer.strip()[-2000:]}"
            )
        try:
            content = unpack(answer)
        except ValueError as error:
            raise self._broken("gave an answer that is no msgpack", error) from error
        if not isinstance(content, Mapping):
            raise PolicyServerError(
                f"the policy server {self._url} answered a {type(content).__name__} where openpi's protocol has a map"
            )
        return content

    def _broken(self, what: str, error: Exception) -> PolicyServerError:
        where = f"{self._url}{_proxy(self._url)}"
        return PolicyServerError(f"the policy server {where} {what}: {type(error).__name__}: {error}")


def pack(content: Mapping[str, Any]) -> bytes:
    """Msgpack in which an array is a map of its bytes, dtype and shape."""
    import msgpack

    packed: bytes = msgpack.packb(content, default=_array_to_map)
    return packed


def unpack(packed: bytes) -> Any:
    """The inverse of `pack`; arrays are read-only. Raises `ValueError` for what is none."""
    import msgpack

    try:
        return msgpack.unpackb(packed, object_hook=_map_to_array)
    except (KeyError, TypeError, msgpack.exceptions.UnpackException) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


def _array_to_map(value: Any) -> Any:
    import numpy as np

    if isinstance(value, np.ndarray) and value.dtype.kind in "biufSU":
        return {
            b"__ndarray__": True,
            b"data": value.tobytes(),
            b"dtype": value.dtype.str,
            b"shape": value.shape,
        }
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        return {b"__npgeneric__": True, b"data": value.item(), b"dtype": value.dtype.str}
    raise TypeError(f"{type(value).__name__} cannot be sent to a policy server")


def _map_to_array(content: dict[Any, Any]) -> Any:
    import numpy as np

    if b"__ndarray__" in content:
        return np.frombuffer(content[b"data"], np.dtype(content[b"dtype"])).reshape(content[b"shape"])
    if b"__npgeneric__" in content:
        return np.dtype(content[b"dtype"]).type(content[b"data"])
    return content
