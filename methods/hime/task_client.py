"""The client of HiMe's task server, the published one or one that speaks like it: what goes over HTTP and what comes back.
It knows no robot.

A server holds the planner, the Sentry and the memory of a task. It is sent the task's first pictures, then those that were
taken after each execution, and what the user says; each answer is the task's state with the subtask for the executor.
Pictures are never sent twice, since the server would take them for two executions: only a connection that did not come about
is tried again."""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from http.client import HTTPException
from socket import gaierror
from typing import Any, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, Request, build_opener, getproxies, proxy_bypass

from harness.addresses import is_local
from harness.failures import ProviderError
from harness.protocols import Problem

PAUSES = (1.0, 2.0, 4.0)
"""Seconds before each further try to connect, as while a server starts again."""
PATIENCE = 5.0
"""Seconds that a server has to say that it is there."""
LARGEST_ANSWER = 1 << 24
"""Bytes that are read of an answer."""

_Answer = TypeVar("_Answer")


@dataclass(frozen=True)
class Moment:
    """What the two cameras saw at one time, PNG files."""

    image: bytes
    """Of the main camera."""
    waist_image: bytes
    """Of the wrist camera, by the name that it has on the wire."""
    annotation: str | None = None
    """What each camera sees, in JSON, for a server that reads it; None: not sent."""


@dataclass(frozen=True)
class TaskState:
    """What the server says of a task."""

    task: str
    done: bool
    subtask: str
    """Empty where it names none."""
    runtime: str
    """observing, planner_running or done; empty for a server that does not say."""
    planner: str
    """idle or running; empty for a server that does not say."""
    plan: str
    summary: str

    @property
    def steps_done(self) -> int:
        """Of the plan list. When it grows, the subtask is another one, also where it has the same words as the last:
        nothing else on the wire says so."""
        return sum("[done]" in line.lower() for line in self.plan.splitlines())


class TaskServer:
    """One task on a server. Every request raises `ProviderError` for a server that cannot be reached, takes longer than
    `timeout` seconds, refuses, answers what is no state, or says that the task failed on its side."""

    def __init__(self, url: str, timeout: float) -> None:
        self._url, self._timeout = url.rstrip("/"), timeout
        self._task = ""
        self.seconds: list[float] = []
        """That each answered request took, on the wall clock."""

    def create(self, fields: Mapping[str, str], moment: Moment) -> TaskState:
        """Begin the task. `fields` are those of the form, `global_instruction` among them."""
        pictures = [
            ("initial_image", "initial_image.png", moment.image),
            ("initial_waist_image", "initial_waist_image.png", moment.waist_image),
        ]
        state = self._post("/tasks", *_form([*fields.items(), *_annotations([moment])], pictures))
        self._task = state.task
        return state

    def step(self, moments: Sequence[Moment]) -> TaskState:
        """What was seen since the last time, oldest first, one moment at least."""
        pictures = [("image", f"image_{index}.png", moment.image) for index, moment in enumerate(moments)]
        pictures += [
            ("waist_image", f"waist_image_{index}.png", moment.waist_image)
            for index, moment in enumerate(moments)
        ]
        return self._post(f"/tasks/{self._task}/step", *_form(_annotations(moments), pictures))

    def instruct(self, text: str) -> TaskState:
        """What the user says takes the place of the instruction."""
        content = json.dumps({"user_new_instruction": text}).encode()
        return self._post(f"/tasks/{self._task}/user_instruction", content, "application/json")

    def _post(self, route: str, content: bytes, kind: str) -> TaskState:
        begun = time.monotonic()
        status, answer = _patiently(f"{self._url}{route}", self._timeout, content, kind)
        if status >= 300:
            raise ProviderError(f"the task server {self._url} answered {status} to {route}: {_words(answer)}")
        self.seconds.append(round(time.monotonic() - begun, 3))
        try:
            state = json.loads(answer)
        except ValueError:
            raise ProviderError(
                f"the task server {self._url} answered no JSON to {route}: {_words(answer)}"
            ) from None
        return _state(state, f"the task server {self._url}")


def check_url(url: str) -> None:
    """Raises `ValueError` for what is no address of a server."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0 or parts.query:
        raise ValueError(f"url is {url!r}; it looks like http://127.0.0.1:8000")
    if parts.username or parts.password:
        raise ValueError(
            "url holds a password, which would stand in every result; a task server asks for none"
        )


def problems(url: str) -> list[Problem]:
    """Whether a task server answers. One without a route to say so is believed."""
    fix = "Start one (docs/hime.md), or set method.url=http://host:port"
    try:
        status, answer = _fetch(f"{url.rstrip('/')}/resume_state", PATIENCE)
    except (OSError, HTTPException) as error:
        return [Problem(f"No task server answers at {url}{_proxy(url)}: {_reason(error)}", fix)]
    try:
        told = json.loads(answer)
    except ValueError:
        told = None
    if not isinstance(told, dict) or not (status == 404 or "has_resumed_task" in told):
        return [Problem(f"What answers at {url} is no task server: {status}, {_words(answer)}", fix)]
    return []


def _patiently(url: str, timeout: float, content: bytes, kind: str) -> tuple[int, bytes]:
    """`_fetch`, also of a server that is just starting. Raises `ProviderError`."""
    for pause in (*PAUSES, None):
        try:
            return _fetch(url, timeout, content, kind)
        except (OSError, HTTPException) as error:
            cause = error.reason if isinstance(error, URLError) else error
            if isinstance(cause, ConnectionRefusedError | gaierror) and pause is not None:
                time.sleep(pause)
                continue
            if isinstance(cause, TimeoutError):
                raise ProviderError(
                    f"the task server did not answer {url}{_proxy(url)} within {timeout:g} s; method.timeout=SECONDS "
                    "gives it longer"
                ) from error
            raise ProviderError(
                f"the task server did not answer {url}{_proxy(url)}: {_reason(error)}"
            ) from error
    raise AssertionError("the last try returns or raises")


def _fetch(url: str, timeout: float, content: bytes | None = None, kind: str = "") -> tuple[int, bytes]:
    """Status and content of the answer to a GET, or to a POST of `content`. Raises `OSError` and `HTTPException`."""
    request = Request(url, content, {"Content-Type": kind} if kind else {})
    opener = build_opener(ProxyHandler({})) if is_local(url) else build_opener()

    def ask() -> tuple[int, bytes]:
        try:
            with opener.open(request, timeout=timeout) as answer:
                return answer.status, answer.read(LARGEST_ANSWER)
        except HTTPError as error:
            with error:
                return error.code, error.read(LARGEST_ANSWER)

    return _within(timeout, ask)


def _within(seconds: float, ask: Callable[[], _Answer]) -> _Answer:
    """The sockets' own limit is on each wait alone, so a server that sends a byte now and then would hold the robot for
    ever: the caller is released in time, and the thread ends with the connection. Raises `TimeoutError`."""
    future: Future[_Answer] = Future()

    def run() -> None:
        try:
            future.set_result(ask())
        except Exception as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future.result(seconds)


def _form(fields: Sequence[tuple[str, str]], pictures: Sequence[tuple[str, str, bytes]]) -> tuple[bytes, str]:
    """A multipart form of fields (name, value) and PNG files (name, file's name, content), and its content type."""
    boundary = uuid.uuid4().hex
    parts = [
        f'Content-Disposition: form-data; name="{name}"\r\n\r\n{value}'.encode() for name, value in fields
    ]
    for name, file, content in pictures:
        head = f'Content-Disposition: form-data; name="{name}"; filename="{file}"\r\nContent-Type: image/png\r\n\r\n'
        parts.append(head.encode() + content)
    line = f"--{boundary}".encode()
    whole = b"".join(line + b"\r\n" + part + b"\r\n" for part in parts) + line + b"--\r\n"
    return whole, f"multipart/form-data; boundary={boundary}"


def _annotations(moments: Sequence[Moment]) -> list[tuple[str, str]]:
    return [("annotation", moment.annotation) for moment in moments if moment.annotation is not None]


def _state(answer: Any, server: str) -> TaskState:
    """Only what the robot needs has to be there; servers differ in what they add. Raises `ProviderError`."""
    if not isinstance(answer, dict):
        raise ProviderError(f"{server} answered a JSON {type(answer).__name__} where a task's state is due")
    task, done, subtask = (answer.get(key) for key in ("task_id", "is_done", "current_subtask_description"))
    if not (isinstance(task, str) and task and isinstance(done, bool) and isinstance(subtask, str | None)):
        raise ProviderError(
            f"{server} answered no task's state: task_id {task!r}, is_done {done!r}, current_subtask_description "
            f"{subtask!r}"
        )
    told = {
        key: str(answer.get(key) or "") for key in ("runtime_state", "planner_status", "plan_list", "summary")
    }
    if "failed" in (told["runtime_state"], told["planner_status"]):
        raise ProviderError(f"{server} says that the task failed: {told['summary'] or 'it gives no reason'}")
    return TaskState(task, done, (subtask or "").strip(), *told.values())


def _words(content: bytes) -> str:
    """The start of an answer, for a message."""
    return " ".join(content[:500].decode(errors="replace").split()) or "nothing"


def _reason(error: Exception) -> str:
    cause = error.reason if isinstance(error, URLError) else error
    return f"{type(cause).__name__}: {cause}" if isinstance(cause, Exception) else str(cause)


def _proxy(url: str) -> str:
    """That a proxy stands between, where one does; its own address may hold a password."""
    parts = urlsplit(url)
    direct = is_local(url) or parts.scheme not in getproxies() or proxy_bypass(parts.hostname or "")
    return "" if direct else f" (through the proxy of the variable {parts.scheme}_proxy)"
