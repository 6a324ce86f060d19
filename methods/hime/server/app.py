"""The routes of the task server, and the process that answers them."""

from __future__ import annotations

import asyncio
import hashlib
import socket
import sys
from collections.abc import Callable, Coroutine, Sequence
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import uvicorn
from fastapi import FastAPI, File, Form, Request, UploadFile
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BeforeValidator

from harness.addresses import is_local
from harness.failures import UsageError
from harness.store import claimed
from methods.hime.planners import Transient
from methods.hime.server.pictures import MOST, Sent, moments
from methods.hime.server.register import Register
from methods.hime.server.shapes import Mode, Refused, ResumeState, TaskState, UserInstruction, Words
from methods.hime.server.tasks import Setup
from methods.hime.server.threads import begun
from methods.hime.triggers import Sentry

if TYPE_CHECKING:
    from harness.serving import Service
    from methods.hime.hierarchy import Hierarchy

LARGEST_REQUEST = 256 << 20
"""Bytes."""
MOST_REQUESTS = 256
"""That can be under way."""
PUBLISHED = {
    (True, True): "hime",
    (False, True): "hime_no_sentry",
    (True, False): "transient_sentry",
    (False, False): "transient",
}
"""What to serve for `use_observer` and `use_memory`."""


def serve(method: Hierarchy, service: Service) -> None:
    """Until it is interrupted. Raises `UsageError` for what cannot be served as it is."""
    if len(method.cameras) != 2:
        raise UsageError(
            f"method.cameras is {method.cameras}; a client sends pictures of two cameras, the wrist's and the main one."
        )
    folder = service.folder / f"{service.method}-{_variant(method)}"
    with claimed(folder), listen(service.host, service.port) as listening:
        register = Register(method, service.ask, folder)
        for trouble in register.troubles:
            print(f"left out: {trouble}", file=sys.stderr)
        _tell(service, listening, register, folder)
        config = uvicorn.Config(
            application(method, service, register),
            log_level="warning",
            access_log=False,
            limit_concurrency=MOST_REQUESTS,
            timeout_graceful_shutdown=2,  # who waits for a model would wait for long
        )
        uvicorn.Server(config).run(sockets=[listening])


def application(method: Hierarchy, service: Service, register: Register) -> FastAPI:
    """The routes; `shapes` says what they take and give."""
    routes = _Routes(method, service, register)
    app = FastAPI(title=f"engram: {service.method}", max_body_size=LARGEST_REQUEST)
    app.add_api_route("/tasks", _in_thread(routes.begin), methods=["POST"])
    app.add_api_route("/tasks/{task_id}/step", _in_thread(routes.step), methods=["POST"])
    app.add_api_route(
        "/tasks/{task_id}/user_instruction", _in_thread(routes.user_instruction), methods=["POST"]
    )
    app.add_api_route("/resume_state", _in_thread(routes.resume_state), methods=["GET"])
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(OSError, _unwritten)
    return app


def _plain(word: Any) -> Any:
    return word.strip().lower() if isinstance(word, str) else word


class _Routes:
    def __init__(self, method: Hierarchy, service: Service, register: Register) -> None:
        self._method, self._service, self._register = method, service, register

    def begin(
        self,
        global_instruction: Annotated[Words, Form()],
        initial_image: Annotated[UploadFile, File()],
        initial_waist_image: Annotated[UploadFile, File()],
        observer_window_size: Annotated[int | None, Form(ge=1, le=1000)] = None,
        planner_execution_mode: Annotated[Mode | None, BeforeValidator(_plain), Form()] = None,
        use_observer: Annotated[bool | None, Form()] = None,
        use_memory: Annotated[bool | None, Form()] = None,
        human_intervene_for_planner: Annotated[bool, Form()] = False,
        reset_planner_conversation: Annotated[bool, Form()] = True,
        annotation: Annotated[list[str], Form()] = [],  # noqa: B006  FastAPI copies it
    ) -> TaskState:
        self._check_variant(use_observer, use_memory)
        if not reset_planner_conversation:
            raise Refused(
                409,
                "reset_planner_conversation=false: planners here carry nothing from task to task. Leave it out.",
            )
        picture = self._moments(
            [_sent(initial_waist_image, "initial_waist_image")],
            [_sent(initial_image, "initial_image")],
            annotation,
        )[0]
        setup = Setup(planner_execution_mode or self._method.planner.mode, observer_window_size)
        return self._register.begin(setup, global_instruction, picture)

    def step(
        self,
        task_id: str,
        image: Annotated[list[UploadFile], File()],
        waist_image: Annotated[list[UploadFile], File()],
        annotation: Annotated[list[str], Form()] = [],  # noqa: B006
    ) -> TaskState:
        self._register.check(task_id)
        if max(len(image), len(waist_image)) > MOST:
            raise Refused(
                413, f"{max(len(image), len(waist_image))} moments came; a step takes {MOST} at most."
            )
        waist = [_sent(upload, f"waist_image {number}") for number, upload in enumerate(waist_image, start=1)]
        main = [_sent(upload, f"image {number}") for number, upload in enumerate(image, start=1)]
        return self._register.step(task_id, self._moments(waist, main, annotation))

    def user_instruction(self, task_id: str, said: UserInstruction) -> TaskState:
        return self._register.instruct(task_id, said.user_new_instruction)

    def resume_state(self) -> ResumeState:
        states = self._register.states()
        task = next((state for state in states if not state.is_done), None)
        return ResumeState(has_resumed_task=task is not None, task=task, tasks=states)

    def _moments(self, waist: Sequence[Sent], main: Sequence[Sent], annotations: Sequence[str]) -> list[Any]:
        if annotations and not self._method.annotated:
            raise Refused(
                409,
                "annotation is not read with method.annotated=false. Leave it out, or serve without that key.",
            )
        if not annotations and self._service.needs_words:
            raise Refused(
                422,
                f"llm={self._service.llm} does not look at pixels: send the form field annotation for each moment, which "
                "says what the cameras see (docs/server.md), or serve a model that sees (llm=...).",
            )
        return moments(self._method.cameras, waist, main, annotations)

    def _check_variant(self, use_observer: bool | None, use_memory: bool | None) -> None:
        """A variant is served as it was started; nothing is switched off silently."""
        served = isinstance(self._method.trigger, Sentry), not isinstance(self._method.planner, Transient)
        wanted = tuple(
            have if want is None else want
            for have, want in zip(served, (use_observer, use_memory), strict=True)
        )
        if wanted == served:
            return
        found = " and ".join(
            f"{name}={str(want).lower()}"
            for name, want, have in zip(("use_observer", "use_memory"), wanted, served, strict=True)
            if want != have
        )
        raise Refused(
            409,
            f"{found} is not what is served here, method={self._service.method}. Leave it out, or serve "
            f"method={PUBLISHED[wanted[0], wanted[1]]}.",
        )


def _in_thread(route: Callable[..., Any]) -> Callable[..., Coroutine[Any, Any, Any]]:
    """The route as FastAPI calls it, in a thread of its own."""

    @wraps(route)
    async def carried_out(**given: Any) -> Any:
        try:
            return await asyncio.wrap_future(begun(partial(route, **given), "request"))
        except asyncio.CancelledError:
            raise Refused(
                503,
                "The server was stopped before it had an answer. It goes on with the state before this request.",
            ) from None

    return carried_out


def _sent(upload: UploadFile, name: str) -> Sent:
    return Sent(name, upload.file.read())


async def _malformed(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    found = [
        f"{'.'.join(str(part) for part in one['loc'] if part != 'body') or 'the request'}: {one['msg']}"
        for one in error.errors()
    ]
    return JSONResponse({"detail": "; ".join(found)}, 422)


async def _refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Refused)
    return JSONResponse({"detail": str(error)}, error.status)


async def _unwritten(request: Request, error: Exception) -> JSONResponse:
    print(f"A task cannot be kept: {error}", file=sys.stderr)
    return JSONResponse({"detail": f"The server cannot keep the task on its disk: {error}."}, 507)


def listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=128)
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"Cannot listen at {host}, port {port}: {error}. Another address: --host, --port (0 for any port that is free)."
        ) from error


def _tell(service: Service, listening: socket.socket, register: Register, folder: Path) -> None:
    host, port = listening.getsockname()[:2]
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    print(f"method={service.method} llm={service.llm} at {url}", flush=True)
    print(
        f"Tasks in {folder}: {len(register.states())}. A step is one check, whatever method.trigger.every is.",
        flush=True,
    )
    if not is_local(url):
        print("Whoever reaches this address can use it: there is no password.", file=sys.stderr, flush=True)


def _variant(method: Hierarchy) -> str:
    """Tells apart what a task cannot be moved between."""
    parts = (method.planner, method.trigger, method.executor.executed, method.cameras, method.annotated)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:8]
