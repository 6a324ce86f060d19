"""The client side of HiMe's task server against a stand-in on loopback: what is sent, what becomes of the answers, and every
way of not answering."""

from __future__ import annotations

import io
import json
import re
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest
from hydra import compose, initialize_config_module
from omegaconf import OmegaConf
from PIL import Image

from harness import preflight
from harness.cells import Cell
from harness.failures import ProviderError, UsageError
from harness.protocols import Mark, View
from methods.hime import task_client
from methods.hime.remote import Remote
from methods.hime.task_client import Moment, TaskServer

LEFT, RIGHT = "inspect left box", "inspect right box"
SIZES = {"wrist": (6, 4), "third_person": (8, 5)}
"""Width and height."""


def state(subtask: str | None = LEFT, done: bool = False, **more: Any) -> dict[str, Any]:
    """As the published server answers."""
    return {
        "task_id": "task_1",
        "is_done": done,
        "runtime_state": "done" if done else "observing",
        "planner_status": "idle",
        "plan_list": f"[current] {subtask}",
        "summary": "so far",
        "current_subtask_description": subtask,
        **more,
    }


@dataclass
class Received:
    """A request, read by another parser than the client's own."""

    method: str
    path: str
    kind: str
    content: bytes

    @property
    def parts(self) -> list[tuple[str, str | None, bytes]]:
        """Name, file's name and content of each part of a form, in their order."""
        whole = f"Content-Type: {self.kind}\r\n\r\n".encode() + self.content
        message = BytesParser(policy=HTTP).parsebytes(whole)
        assert message.is_multipart() and not message.defects
        found = []
        for part in message.iter_parts():
            name = part.get_param("name", header="content-disposition")
            if part.get_filename():
                assert part.get_content_type() == "image/png"
            found.append((str(name), part.get_filename(), part.get_payload(decode=True)))
        return found

    def fields(self, name: str) -> list[str]:
        return [content.decode() for key, file, content in self.parts if key == name and file is None]

    def pictures(self, name: str) -> list[np.ndarray]:
        return [
            np.asarray(Image.open(io.BytesIO(content)))
            for key, file, content in self.parts
            if key == name and file
        ]


Answer = Callable[["_Exchange"], None]


class _Exchange(BaseHTTPRequestHandler):
    server: _Listener

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        received = Received(self.command, self.path, self.headers.get("Content-Type", ""), content)
        self.server.stand_in.received.append(received)
        script = self.server.stand_in.script
        with suppress(ConnectionError):  # the client has gone
            (script.popleft() if len(script) > 1 else script[0])(self)

    def do_GET(self) -> None:
        self.do_POST()

    def send(self, status: int, content: bytes, length: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(content) if length is None else length))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments: Any) -> None:
        """Tests print nothing."""


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    stand_in: StandIn


class StandIn:
    """Answers with what is in `script`, in order, the last one for ever."""

    def __init__(self, port: int = 0) -> None:
        self.script: deque[Answer] = deque([says(state())])
        self.received: list[Received] = []
        self.ending = threading.Event()
        self._listener = _Listener(("127.0.0.1", port), _Exchange)
        self._listener.stand_in = self
        self.url = f"http://127.0.0.1:{self._listener.server_address[1]}"
        self._thread = threading.Thread(target=self._listener.serve_forever, args=(0.02,))
        self._thread.start()

    def answers(self, *states: dict[str, Any] | Answer) -> StandIn:
        self.script = deque(says(given) if isinstance(given, dict) else given for given in states)
        return self

    def close(self) -> None:
        self.ending.set()
        self._listener.shutdown()
        self._listener.server_close()
        self._thread.join()


def says(answer: Any, status: int = 200) -> Answer:
    content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    return lambda exchange: exchange.send(status, content)


def hangs_up(exchange: _Exchange) -> None:
    exchange.connection.shutdown(socket.SHUT_RDWR)


def cut_short(exchange: _Exchange) -> None:
    exchange.send(200, b'{"task_id": "ta', length=500)


def silent(exchange: _Exchange) -> None:
    exchange.server.stand_in.ending.wait()


def drips(exchange: _Exchange) -> None:
    """A byte now and then, for ever: no wait of the socket is long."""
    exchange.send(200, b"", length=1 << 20)
    while not exchange.server.stand_in.ending.wait(0.02):
        exchange.wfile.write(b" ")


@pytest.fixture
def server() -> Iterator[StandIn]:
    stand_in = StandIn()
    yield stand_in
    stand_in.close()


@pytest.fixture
def dead() -> Iterator[str]:
    """The address of nobody: a port that is taken and does not listen."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}"


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_client, "PAUSES", (0.0, 0.0))


@pytest.fixture
def seen(hall: type) -> type:
    """A hall whose cameras differ in size, and whose pictures and marks tell the control step."""

    class Seen(hall):  # type: ignore[misc]
        def view(self, camera: str) -> View:
            width, height = SIZES[camera]
            picture = np.full((height, width, 3), self.steps(), np.uint8)
            return View(picture, (Mark(f"{camera} at {self.steps()}", (0, 1, 2, 3)),), 1.0)

    return Seen


def test_a_task_begins_with_the_instruction_and_one_pair_of_pictures(
    play, seen, worker, voices, server
) -> None:
    words = 'Räum "alles" auf;\r\n--then stop.'
    env = seen([[(LEFT, 5)]])
    run = play(env, voices(), words)
    Remote(worker(env.texts), url=server.url + "/", window=5, use_memory=False).play(run.episode)
    (created,) = server.received
    assert (created.method, created.path) == ("POST", "/tasks")
    assert [(name, file) for name, file, _ in created.parts] == [
        ("global_instruction", None),
        ("observer_window_size", None),
        ("human_intervene_for_planner", None),
        ("planner_execution_mode", None),
        ("reset_planner_conversation", None),
        ("use_memory", None),
        ("annotation", None),
        ("initial_image", "initial_image.png"),
        ("initial_waist_image", "initial_waist_image.png"),
    ]
    values = [content.decode() for _, file, content in created.parts if file is None]
    assert values[:6] == [words, "5", "false", "sync", "true", "false"]
    (main,), (waist,) = created.pictures("initial_image"), created.pictures("initial_waist_image")
    assert main.shape == (5, 8, 3) and waist.shape == (4, 6, 3)
    assert json.loads(values[6]) == {
        "wrist": [{"name": "wrist at 0", "box": [0, 1, 2, 3]}],
        "third_person": [{"name": "third_person at 0", "box": [0, 1, 2, 3]}],
    }


def test_after_so_many_executions_their_pictures_are_uploaded_once_and_the_answer_is_done(
    play, seen, worker, voices, server
) -> None:
    env = seen([[(LEFT, 30), (RIGHT, 10)]], limit=100)
    server.answers(state(LEFT), state(LEFT), state(f" {RIGHT}\n"))
    arm = worker(env.texts)
    run = play(env, voices())
    Remote(arm, url=server.url, every=3).play(run.episode)
    trial = run.episode.trials[0]
    assert trial.success and trial.steps == 40 and arm.told == [LEFT, RIGHT] and arm.closed == 1
    steps = server.received[1:]
    assert [request.path for request in steps] == ["/tasks/task_1/step"] * 2
    assert [[int(picture[0, 0, 0]) for picture in request.pictures("image")] for request in steps] == [
        [5, 10, 15],
        [20, 25, 30],
    ]
    for request in steps:
        main, waist = request.pictures("image"), request.pictures("waist_image")
        assert [picture.shape for picture in main] == [(5, 8, 3)] * 3
        assert [picture.shape for picture in waist] == [(4, 6, 3)] * 3
        assert [picture[0, 0, 0] for picture in main] == [picture[0, 0, 0] for picture in waist]
    told = [json.loads(text)["wrist"][0]["name"] for text in steps[1].fields("annotation")]
    assert told == ["wrist at 20", "wrist at 25", "wrist at 30"]
    assert trial.facts["mode"] == "sync" and trial.facts["server_steps"] == 2
    assert len(trial.facts["server_seconds"]) == 3 and min(trial.facts["server_seconds"]) >= 0
    assert run.episode.served == {"worker", f"task server {server.url}"} and run.episode.usage.calls == 0
    traced = [(event["step"], event["request"], event["subtask"]) for event in run.of("server")]
    assert traced == [(0, "task", LEFT), (15, "step", LEFT), (30, "step", RIGHT)]


def test_a_server_that_looks_for_itself_is_sent_pictures_only(play, seen, worker, voices, server) -> None:
    env = seen([[(LEFT, 20)]])
    run = play(env, voices())
    Remote(worker(env.texts), url=server.url, every=2, annotated=False, mode="async").play(run.episode)
    created, *steps = server.received
    assert len(steps) == 1
    assert not any(name == "annotation" for request in server.received for name, _, _ in request.parts)
    assert created.fields("planner_execution_mode") == ["async"]
    assert not created.fields("use_observer") and not created.fields("use_memory")


def test_what_the_user_says_is_sent_at_once_behind_what_was_seen_up_to_then(
    play, seen, worker, voices, server
) -> None:
    env = seen([[(LEFT, 10)], [(RIGHT, 10)]], said="Jetzt rechts.", pause=35, limit=200)
    resting = state(None, done=True)
    server.answers(state(LEFT), resting, resting, resting, state(RIGHT))
    arm = worker(env.texts)
    run = play(env, voices())
    Remote(arm, url=server.url, every=4).play(run.episode)
    assert run.episode.trials[0].success
    # Done at 20, so it rests; at 45 the user speaks, in the middle of a batch.
    traced = [(event["step"], event["request"]) for event in run.of("server")]
    assert traced == [(0, "task"), (20, "step"), (40, "step"), (45, "step"), (45, "user_instruction")]
    assert [int(picture[0, 0, 0]) for picture in server.received[3].pictures("image")] == [45]
    spoken = server.received[4]
    assert (spoken.path, spoken.kind) == ("/tasks/task_1/user_instruction", "application/json")
    assert json.loads(spoken.content) == {"user_new_instruction": "Jetzt rechts."}
    assert arm.told == [LEFT, "go to rest", RIGHT]


def test_what_is_said_just_after_an_upload_is_sent_alone(play, seen, worker, voices, server) -> None:
    env = seen([[(LEFT, 10)], [(RIGHT, 5)]])
    server.answers(state(LEFT), state(LEFT), state(RIGHT))
    run = play(env, voices())
    Remote(worker(env.texts), url=server.url, every=2).play(run.episode)
    assert [request.path.rpartition("/")[2] for request in server.received] == [
        "tasks",
        "step",
        "user_instruction",
    ]


def test_a_step_with_the_words_of_the_one_before_is_begun_anew_when_the_plan_says_that_one_is_done(
    play, seen, worker, voices, server
) -> None:
    plans = [
        (LEFT, f"[current] {LEFT}\n[pending] {LEFT}\n[pending] {RIGHT}"),
        (LEFT, f"[current] {LEFT}\n[pending] {LEFT}\n[pending] {RIGHT}"),
        (LEFT, f"[Done] {LEFT}\n[current] {LEFT}\n[pending] {RIGHT}"),
        (LEFT, f"1. {LEFT} [done]\n2. {LEFT} [current]"),
        (LEFT, f"[current] {LEFT}"),
        (RIGHT, f"[done] {LEFT}\n[done] {LEFT}\n[current] {RIGHT}"),
    ]
    env = seen([[(LEFT, 25), (RIGHT, 5)]])
    server.answers(*(state(subtask, plan_list=plan) for subtask, plan in plans))
    arm = worker(env.texts)
    run = play(env, voices())
    Remote(arm, url=server.url, every=1).play(run.episode)
    assert run.episode.trials[0].success
    assert [(event["step"], event["text"]) for event in run.of("subtask")] == [
        (0, LEFT),
        (10, LEFT),
        (25, RIGHT),
    ]


def test_without_a_subtask_the_executor_is_given_the_users_latest_words(
    play, seen, worker, voices, server
) -> None:
    env = seen([[(LEFT, 10)], [(RIGHT, 10)]], said=RIGHT, limit=100)
    server.answers(state(None), state(""), state(None))
    arm = worker([*env.texts, "Do the chores."])
    run = play(env, voices(), LEFT)
    Remote(arm, url=server.url).play(run.episode)
    assert run.episode.trials[0].success and arm.told == [LEFT, RIGHT]


def test_a_robot_that_is_told_it_is_done_rests_and_goes_on_uploading_to_the_step_limit(
    play, seen, worker, voices, server
) -> None:
    env = seen([[(LEFT, 10)]], limit=100)
    server.answers(state(LEFT, done=True))
    arm = worker(env.texts)
    run = play(env, voices())
    Remote(arm, url=server.url).play(run.episode)
    trial = run.episode.trials[0]
    assert (trial.failure, trial.steps, trial.facts["server_steps"]) == ("steps", 100, 2)
    assert arm.told == ["go to rest"]


FLAT = {"task_id": "1", "is_done": False, "current_subtask_description": LEFT, "clusters": []}


def test_a_server_that_says_only_what_a_robot_needs_will_do(play, seen, worker, voices, server) -> None:
    """The published server of the flat baseline has no plan and no states."""
    env = seen([[(LEFT, 20)]])
    run = play(env, voices())
    Remote(worker(env.texts), url=server.answers(FLAT).url, every=2).play(run.episode)
    assert run.episode.trials[0].success and server.received[1].path == "/tasks/1/step"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (says(b"Internal Server Error", 500), r"answered 500 to /tasks/task_1/step: Internal Server Error"),
        (says({"detail": "Task not found"}, 404), r"answered 404 to .*Task not found"),
        (says({"detail": "busy"}, 503), "answered 503"),
        (says(b"<html>nginx</html>"), r"answered no JSON to .*step: <html>nginx</html>"),
        (says(b""), "answered no JSON to .*: nothing"),
        (says([state()]), "answered a JSON list where a task's state is due"),
        (says({**state(), "is_done": "no"}), "no task's state: .*is_done 'no'"),
        (says({**state(), "task_id": ""}), "no task's state: task_id ''"),
        (says({**state(), "current_subtask_description": 3}), "current_subtask_description 3"),
        (
            says(state(runtime_state="failed", summary="the planner is out of quota")),
            "says that the task failed: the planner is out of quota",
        ),
        (says(state(planner_status="failed", summary="")), "the task failed: it gives no reason"),
        (hangs_up, "did not answer .*/tasks/task_1/step: RemoteDisconnected"),
        (cut_short, 'answered no JSON to .*: {"task_id": "ta'),
    ],
)
def test_what_is_the_servers_doing_is_an_error_and_nothing_is_sent_twice(
    answer: Answer, message: str, play, seen, worker, voices, server
) -> None:
    env = seen([[(LEFT, 50)]])
    arm = worker(env.texts)
    run = play(env, voices())
    server.answers(state(LEFT), answer)
    with pytest.raises(ProviderError, match=message):
        Remote(arm, url=server.url, every=2).play(run.episode)
    assert [request.path for request in server.received] == ["/tasks", "/tasks/task_1/step"]
    assert arm.closed == 1 and run.episode.trials[0].facts["server_steps"] == 0


@pytest.mark.parametrize("answer", [silent, drips])
def test_no_server_holds_a_robot_longer_than_it_may(answer: Answer, server) -> None:
    client = TaskServer(server.answers(answer).url, 0.2)
    with pytest.raises(ProviderError, match=r"within 0.2 s; method.timeout=SECONDS gives it longer"):
        client.create({"global_instruction": "go"}, Moment(b"", b""))
    assert client.seconds == []


def test_a_server_that_is_not_there_is_an_error_before_the_robot_moves(
    play, seen, worker, voices, dead
) -> None:
    env = seen([[(LEFT, 5)]])
    run = play(env, voices())
    with pytest.raises(ProviderError, match=r"did not answer .*/tasks: ConnectionRefusedError"):
        Remote(worker(env.texts), url=dead).play(run.episode)
    assert env.taken == []


def test_a_server_that_starts_again_is_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    started: list[StandIn] = []
    monkeypatch.setattr(task_client.time, "sleep", lambda seconds: started.append(StandIn(port)))
    try:
        client = TaskServer(f"http://127.0.0.1:{port}", 60.0)
        assert client.create({"global_instruction": "go"}, Moment(b"", b"")).subtask == LEFT
        assert len(started) == len(started[0].received) == 1
    finally:
        for stand_in in started:
            stand_in.close()


def test_a_proxy_does_not_stand_before_loopback(monkeypatch: pytest.MonkeyPatch, server, dead) -> None:
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("http_proxy", dead)
    state = TaskServer(server.url, 60.0).create({"global_instruction": "go"}, Moment(b"", b""))
    assert state.task == "task_1"


def test_a_proxy_is_named_when_nothing_comes_through_it(monkeypatch: pytest.MonkeyPatch, dead) -> None:
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("http_proxy", dead.replace("//", "//user:secret@"))
    with pytest.raises(ProviderError, match="through the proxy of the variable http_proxy") as caught:
        TaskServer("http://robot.invalid:8000", 60.0).instruct("go")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "answer",
    [
        says({"has_resumed_task": False, "task": None}),
        says({"detail": "Not Found"}, 404),  # the published flat server has no such route
    ],
)
def test_a_server_that_is_up_is_no_problem(answer: Answer, worker, server) -> None:
    assert Remote(worker(()), url=server.answers(answer).url).problems() == []
    assert [(request.method, request.path) for request in server.received] == [("GET", "/resume_state")]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (says(b"Failed to open a WebSocket connection", 426), "is no task server: 426, Failed to open"),
        (says({"object": "list"}), 'is no task server: 200, {"object": "list"}'),
        (says(["has_resumed_task"]), "is no task server"),
        (hangs_up, "No task server answers at .*RemoteDisconnected"),
        (drips, "No task server answers at .*TimeoutError"),
    ],
)
def test_what_is_no_task_server_is_found_before_anything_runs(
    answer: Answer, message: str, monkeypatch: pytest.MonkeyPatch, worker, server
) -> None:
    if answer is drips:
        monkeypatch.setattr(task_client, "PATIENCE", 0.3)
    (problem,) = Remote(worker(()), url=server.answers(answer).url).problems()
    assert re.search(message, problem.what) and "method.url=" in problem.fix


def test_the_preflight_of_a_sweep_asks_the_server(server, dead) -> None:
    def cell(url: str) -> Cell:
        overrides = ["method=hime_server", "env=household", f"method.url={url}"]
        with initialize_config_module("conf", version_base="1.3"):
            config = OmegaConf.to_container(compose("config", overrides=overrides), resolve=True)
        assert isinstance(config, dict)
        config = {str(key): value for key, value in config.items()}
        return Cell(
            config, {"method": "hime_server", "env": "household", "llm": "rules", "embedder": "lexical"}
        )

    server.answers(says({"has_resumed_task": False}))
    preflight.check([cell(server.url)])
    with pytest.raises(UsageError, match="method=hime_server: No task server answers at"):
        preflight.check([cell(dead)])


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"url": "127.0.0.1:8000"}, "looks like http://"),
        ({"url": "ws://127.0.0.1:8000"}, "looks like http://"),
        ({"url": "http://"}, "looks like http://"),
        ({"url": "http://host:99999"}, "out of range"),
        ({"url": "http://me:secret@host:1"}, "holds a password"),
        ({"cameras": ["wrist"]}, "wrist and the main camera"),
        ({"every": 0}, "every is 0"),
        ({"window": 0}, "window is 0"),
        ({"timeout": 0.0}, "timeout is 0.0"),
        ({"timeout": float("inf")}, "timeout is inf"),
    ],
)
def test_a_config_that_makes_no_sense_is_refused(config: dict[str, Any], message: str, worker) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        Remote(worker(()), **config)
    assert "secret" not in str(caught.value)
