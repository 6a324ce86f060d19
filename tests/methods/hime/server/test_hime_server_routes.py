"""The task server over HTTP: what a client sends, what it is answered, and what is refused."""

from __future__ import annotations

import errno
import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.chat.rules.model import RulesModel
from harness.embedding import Lexical
from harness.failures import ProviderError
from methods.executors.scripted import Scripted
from methods.hime.hierarchy import Hierarchy
from methods.hime.planners import Flat, Transient, WithMemory
from methods.hime.server import app
from methods.hime.server.shapes import TaskState
from methods.hime.triggers import Periodic, Sentry
from tests.methods.hime.server.conftest import FIRST, png, second

HIME = Hierarchy(WithMemory(Lexical()), Sentry(), Scripted())
TRANSIENT = Hierarchy(Transient(), Periodic(), Scripted())
FLAT = Hierarchy(Flat(), Periodic(), Scripted())
DONE, NOT_DONE = "<status>done</status>", "<status>not_done</status>"
LEFT, RIGHT = "inspect left box", "inspect right box"

# What cameras see in a room with two boxes, 100 x 100 pixels.
ROOM = [
    {"name": "left box", "box": [5, 40, 35, 80]},
    {"name": "right box", "box": [65, 40, 95, 80]},
    {"name": "gripper", "box": [45, 5, 55, 20]},
]
AWAY = {"wrist": [{"name": "table", "box": [0, 0, 100, 100]}], "third_person": ROOM}


def into(box: str) -> dict[str, Any]:
    """The wrist camera looks into a box."""
    near = [{"name": box, "box": [30, 30, 70, 70]}, {"name": "table", "box": [0, 0, 100, 100]}]
    return {"wrist": near, "third_person": ROOM}


def step(subtask: str, complete: str = "false") -> str:
    return f"<summary>so</summary><subtask>{subtask}</subtask><is_complete>{complete}</is_complete>"


def test_a_robot_asks_as_the_published_client_does_and_rules_answer_from_annotations(serve) -> None:
    robot = serve(HIME, planner=RulesModel(), sentry=RulesModel())
    assert robot.resume() == {"has_resumed_task": False, "task": None, "tasks": []}
    begun = robot.create("Inspect the left box.", AWAY)
    assert begun.status_code == 200
    state = begun.json()
    assert list(state) == [
        "task_id",
        "is_done",
        "runtime_state",
        "planner_status",
        "plan_list",
        "summary",
        "current_subtask_description",
    ]
    assert (state["is_done"], state["runtime_state"], state["planner_status"]) == (False, "observing", "idle")
    assert state["current_subtask_description"] == LEFT and state["plan_list"] == f"[current] {LEFT}"
    on_the_way = robot.step(*[AWAY] * 10).json()
    assert on_the_way == {**state, "summary": on_the_way["summary"]}
    looked = robot.step(*[AWAY] * 5, *[into("left box")] * 5).json()
    assert (looked["is_done"], looked["runtime_state"]) == (True, "done")
    assert looked["current_subtask_description"] is None and looked["plan_list"] == f"[done] {LEFT}"
    assert robot.step(AWAY).json() == looked
    # Started again meanwhile.
    task = robot.task
    robot = serve(HIME, planner=RulesModel(), sentry=RulesModel())
    robot.task = task
    assert robot.resume() == {"has_resumed_task": False, "task": None, "tasks": [looked]}
    said = robot.say("Inspect the right box.").json()
    assert (said["is_done"], said["current_subtask_description"]) == (False, RIGHT)
    assert said["plan_list"] == f"[done] {LEFT}\n[current] {RIGHT}"
    assert robot.resume() == {"has_resumed_task": True, "task": said, "tasks": [said]}
    ended = robot.step(*[into("right box")] * 10).json()
    assert ended["is_done"] and ended["plan_list"] == f"[done] {LEFT}\n[done] {RIGHT}"


def test_rules_without_annotations_are_refused_with_a_word(serve) -> None:
    robot = serve(HIME, planner=RulesModel(), sentry=RulesModel())
    refused = robot.create("Inspect the left box.")
    assert refused.status_code == 422
    assert "does not look at pixels: send the form field annotation" in refused.json()["detail"]
    robot.create("Inspect the left box.", AWAY)
    assert robot.step(moments=3).status_code == 422
    assert len(robot.resume()["tasks"]) == 1


def test_a_planner_that_sees_is_shown_the_pictures_without_words(serve, said) -> None:
    planner, sentry = said(FIRST, second(f"[current] {LEFT}")), said(NOT_DONE)
    robot = serve(HIME, planner=planner, sentry=sentry)
    assert robot.create("Tidy up.").json()["current_subtask_description"] == LEFT
    robot.step(moments=10)
    (shown,) = sentry.heard
    assert len(shown[-1].images) == 8
    lines = [line for line in shown[-1].text.splitlines() if line.startswith("Image")]
    assert (
        lines[0] == "Image 1: frame 1, control step 15" and lines[-1] == "Image 8: frame 8, control step 50"
    )
    assert "   wrist" not in shown[-1].text
    assert sentry.sampled[0].max_tokens == 512 and planner.sampled[0].max_tokens == 4096


def test_the_sentry_is_asked_once_a_step_and_sees_as_many_frames_as_the_client_wants(serve, said) -> None:
    sentry = said(NOT_DONE, NOT_DONE, NOT_DONE)
    robot = serve(HIME, planner=said(FIRST, second(f"[current] {LEFT}")), sentry=sentry)
    robot.create("Tidy up.", observer_window_size=3)
    for moments in (1, 10, 17):
        robot.step(moments=moments)
    assert [len(asked[-1].images) for asked in sentry.heard] == [2, 3, 3]


def test_the_planner_is_asked_again_when_the_sentry_is_silent_for_too_long(serve, said) -> None:
    planner = said(FIRST, second(f"[current] {LEFT}"), FIRST, second(f"[current] {RIGHT}"))
    robot = serve(HIME, planner=planner, sentry=said(*[NOT_DONE] * 5))
    robot.create("Tidy up.")
    subtasks = [robot.step(moments=10).json()["current_subtask_description"] for _ in range(5)]
    assert subtasks == [LEFT] * 4 + [RIGHT]


def test_a_baseline_without_a_sentry_plans_at_each_step_and_shows_no_plan(serve, said) -> None:
    robot = serve(TRANSIENT, planner=said(step(LEFT), step(LEFT), step("", "true")))
    assert robot.create("Tidy up.").json()["plan_list"] == f"[current] {LEFT}"
    assert robot.step(moments=2).json()["current_subtask_description"] == LEFT
    ended = robot.step(moments=2).json()
    assert (ended["is_done"], ended["plan_list"], ended["runtime_state"]) == (True, "", "done")


def test_flat_goes_on_with_the_frames_that_it_chose(serve, said) -> None:
    answers = [json.dumps({"action": LEFT, "keyframe_positions": chosen}) for chosen in ([1], [], [])]
    robot = serve(FLAT, planner=said(*answers[:2]))
    robot.create("Tidy up.")
    robot.step(moments=10)
    task, planner = robot.task, said(answers[2])
    robot = serve(FLAT, planner=planner)
    robot.task = task
    assert robot.step(moments=10).json()["current_subtask_description"] == LEFT
    assert "Image 1: keyframe 1, control step 0" in planner.heard[0][-1].text


def test_what_one_task_remembers_no_other_one_knows(serve, said) -> None:
    create = "<operation><type>CREATE</type><tags>pear</tags><text>the box holds a pear</text></operation>"
    query = FIRST.replace(
        "<memory_operations>",
        "<memory_operations><operation><type>QUERY</type><query>pear</query></operation>",
    )
    plan = f"[current] {LEFT}"
    planner = said(FIRST, second(plan, create), query, second(plan), query, second(plan))
    robot = serve(HIME, planner=planner, sentry=said())
    robot.create("Tidy up.")
    first = robot.task
    robot.create("Tidy up.")
    assert "`pear`: no record" in planner.heard[3][-1].text
    robot.task = first
    robot.say("Where is the pear?")
    assert "the box holds a pear" in planner.heard[5][-1].text
    assert planner.sampled[0].seed != planner.sampled[2].seed


def test_a_model_that_is_down_is_told_and_asked_again_with_the_next_step(serve, said) -> None:
    down = ProviderError("it is down")
    planner = said(down, down, FIRST, second(f"[current] {LEFT}"), FIRST, second(f"[current] {RIGHT}"))
    robot = serve(HIME, planner=planner, sentry=said(down, DONE))
    begun = robot.create("Tidy up.")
    assert begun.status_code == 200
    failed = begun.json()
    assert (failed["runtime_state"], failed["planner_status"], failed["summary"]) == (
        "failed",
        "failed",
        "it is down",
    )
    assert failed["current_subtask_description"] is None and not failed["is_done"]
    assert robot.step(moments=2).json()["runtime_state"] == "failed"
    planned = robot.step(moments=2).json()
    assert (planned["runtime_state"], planned["current_subtask_description"]) == ("observing", LEFT)
    assert planner.heard[2][-1].text.count("Image ") == 5  # no moment is lost
    watched = robot.step(moments=2).json()
    assert (watched["runtime_state"], watched["current_subtask_description"]) == ("failed", LEFT)
    assert robot.step(moments=2).json()["current_subtask_description"] == RIGHT


@pytest.mark.parametrize(
    "reply", ["", "I am sorry.", "<summary>s</summary><plan", FIRST, "1. pick\n2. place"]
)
def test_an_unusable_reply_never_ends_a_task(serve, said, reply) -> None:
    robot = serve(HIME, planner=said(FIRST, reply, reply), sentry=said())
    state = robot.create("Tidy up.").json()
    assert (state["runtime_state"], state["is_done"]) == ("failed", False)
    assert "the planner's second turn" in state["summary"]


def test_an_instruction_that_finds_the_model_down_is_not_forgotten(serve, said) -> None:
    planner = said(
        FIRST, second(f"[done] {LEFT}"), ProviderError("down"), FIRST, second(f"[current] {RIGHT}")
    )
    robot = serve(HIME, planner=planner, sentry=said())
    assert robot.create("Tidy up.").json()["is_done"]
    failed = robot.say("Look into the right box.").json()
    assert (failed["runtime_state"], failed["is_done"]) == ("failed", False)
    task = robot.task
    robot = serve(HIME, planner=planner, sentry=said())
    robot.task = task
    assert robot.resume()["task"]["runtime_state"] == "failed"
    assert robot.step(moments=1).json()["current_subtask_description"] == RIGHT
    assert "Instruction: Look into the right box." in planner.heard[-1][1].text


def test_with_async_steps_go_on_while_the_planner_thinks(serve, said) -> None:
    asked, go = threading.Event(), threading.Event()

    def slowly() -> str:
        asked.set()
        assert go.wait(20)
        return FIRST

    planner = said(FIRST, second(f"[current] {LEFT}"), slowly, second(f"[done] {LEFT}\n[current] {RIGHT}"))
    sentry = said(DONE, NOT_DONE)
    robot = serve(HIME, planner=planner, sentry=sentry)
    robot.create("Tidy up.", planner_execution_mode="async")
    robot.step(moments=10)
    assert asked.wait(20)
    for _ in range(2):
        state = robot.step(moments=10).json()
        assert (state["runtime_state"], state["planner_status"]) == ("planner_running", "running")
        assert state["current_subtask_description"] == LEFT
    assert robot.resume()["task"]["planner_status"] == "running"
    go.set()
    while robot.resume()["task"]["planner_status"] == "running":
        pass
    state = robot.step(moments=10).json()
    assert state["current_subtask_description"] == RIGHT and state["plan_list"].startswith(f"[done] {LEFT}")
    assert len(planner.heard) == 4 and len(sentry.heard) == 1


def test_the_users_words_wait_for_what_is_thought_and_then_for_their_own_answer(serve, said) -> None:
    asked, go = threading.Event(), threading.Event()

    def slowly() -> str:
        asked.set()
        assert go.wait(20)
        return FIRST

    planner = said(
        *(FIRST, second(f"[current] {LEFT}")),
        *(slowly, second(f"[done] {LEFT}\n[current] {RIGHT}")),
        *(FIRST, second(f"[done] {LEFT}\n[current] go home")),
    )
    robot = serve(HIME, planner=planner, sentry=said(DONE))
    robot.create("Tidy up.", planner_execution_mode="async")
    robot.step(moments=10)
    assert asked.wait(20)
    threading.Timer(0.2, go.set).start()
    assert robot.say("Go home.").json()["current_subtask_description"] == "go home"
    assert f"[current] {RIGHT}" in planner.heard[4][-1].text


def test_a_slow_task_does_not_hold_up_another(serve, said) -> None:
    asked, go = threading.Event(), threading.Event()

    def slowly() -> str:
        asked.set()
        assert go.wait(20)
        return FIRST

    plan = second(f"[current] {LEFT}")
    planner = said(FIRST, plan, FIRST, plan, slowly, plan)
    robot = serve(HIME, planner=planner, sentry=said(NOT_DONE))
    robot.create("Slow.")
    slow = robot.task
    robot.create("Fast.")
    fast, answers = robot.task, []
    robot.task = slow
    thread = threading.Thread(
        target=lambda: answers.append(
            robot.http.post(f"/tasks/{slow}/user_instruction", json={"user_new_instruction": "Think long."})
        )
    )
    thread.start()
    assert asked.wait(20)
    robot.task = fast
    assert robot.step(moments=10).json()["current_subtask_description"] == LEFT
    assert not answers
    go.set()
    thread.join()
    assert answers[0].json()["task_id"] == slow


def test_more_tasks_than_are_kept_open_go_on(serve, said, monkeypatch) -> None:
    monkeypatch.setattr("methods.hime.server.register.OPEN", 2)
    plan = (FIRST, second(f"[current] {LEFT}"))
    robot = serve(HIME, planner=said(*plan * 4), sentry=said(*[NOT_DONE] * 4))
    tasks = []
    for number in range(4):
        robot.create(f"Tidy up {number}.")
        tasks.append(robot.task)
    for task in tasks:
        robot.task = task
        assert robot.step(moments=2).json()["plan_list"] == f"[current] {LEFT}"
    assert [state["task_id"] for state in robot.resume()["tasks"]] == tasks[::-1]


@pytest.mark.parametrize(
    ("form", "status", "words"),
    [
        ({"use_observer": "false"}, 409, "use_observer=false is not what is served here, method=hime"),
        ({"use_observer": "false"}, 409, "serve method=hime_no_sentry"),
        ({"use_memory": "false"}, 409, "serve method=transient_sentry"),
        ({"use_memory": "false", "use_observer": "false"}, 409, "serve method=transient."),
        ({"reset_planner_conversation": "false"}, 409, "carry nothing from task to task"),
        (
            {"planner_execution_mode": "soon"},
            422,
            "planner_execution_mode: Input should be 'sync' or 'async'",
        ),
        (
            {"observer_window_size": "0"},
            422,
            "observer_window_size: Input should be greater than or equal to 1",
        ),
        ({"observer_window_size": "many"}, 422, "observer_window_size: Input should be a valid integer"),
        ({"global_instruction": "  "}, 422, "global_instruction: String should have at least 1 character"),
        (
            {"annotation": "{}"},
            422,
            "annotation 1 names the cameras none; it has to name wrist, third_person",
        ),
        ({"annotation": "{"}, 422, "annotation 1: Invalid JSON"),
        ({"annotation": ["{}", "{}"]}, 422, "annotation came 2 times for 1 moments"),
    ],
)
def test_a_form_that_cannot_be_honoured_is_refused_and_begins_nothing(
    serve, said, form, status, words
) -> None:
    robot = serve(HIME, planner=said(), sentry=said())
    refused = robot.create("Tidy up.", **form)
    assert refused.status_code == status and words in refused.json()["detail"]
    assert robot.resume()["tasks"] == []


def test_what_the_published_form_may_hold_and_means_what_is_served_is_taken(serve, said) -> None:
    robot = serve(HIME, planner=said(FIRST, second(f"[current] {LEFT}")), sentry=said())
    form = {"use_observer": "true", "use_memory": "True", "human_intervene_for_planner": "True"}
    form |= {"planner_execution_mode": " SYNC ", "reset_planner_conversation": "true"}
    assert robot.create("  Räum auf, 拿起红色杯子!  ", **form).status_code == 200


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_a_client_that_says_no_mode_gets_the_methods(serve, said, tmp_path, mode) -> None:
    method = replace(HIME, planner=replace(HIME.planner, mode=mode))
    robot = serve(method, planner=said(FIRST, second(f"[current] {LEFT}")), sentry=said())
    files = [("initial_image", ("a", png())), ("initial_waist_image", ("b", png()))]
    robot.http.post("/tasks", data={"global_instruction": "Tidy up."}, files=files)
    (kept,) = tmp_path.glob("state/*/task.json")
    assert json.loads(kept.read_text())["setup"] == {"mode": mode, "window": None}


def test_missing_parts_are_named(serve, said) -> None:
    robot = serve(HIME, planner=said(FIRST, second(f"[current] {LEFT}")), sentry=said())
    told = robot.http.post("/tasks", data={"global_instruction": "x"}).json()["detail"]
    assert told == "initial_image: Field required; initial_waist_image: Field required"
    robot.create("Tidy up.")
    route = f"/tasks/{robot.task}"
    missing = robot.http.post(f"{route}/step", files=[("image", ("a.png", png()))])
    assert (missing.status_code, missing.json()["detail"]) == (422, "waist_image: Field required")
    text = robot.http.post(f"{route}/step", data={"image": "a", "waist_image": "b"})
    assert text.status_code == 422 and "image" in text.json()["detail"]
    files = [("image", ("a.png", png())), ("image", ("b.png", png())), ("waist_image", ("c.png", png()))]
    uneven = robot.http.post(f"{route}/step", files=files)
    assert uneven.status_code == 422
    assert uneven.json()["detail"].startswith("waist_image came 1 times and image 2 times")
    for body in ({}, {"user_new_instruction": " "}, {"user_new_instruction": 3}):
        assert robot.http.post(f"{route}/user_instruction", json=body).status_code == 422
    broken = robot.http.post(
        f"{route}/user_instruction", content=b"{", headers={"content-type": "application/json"}
    )
    assert broken.status_code == 422 and "JSON" in broken.json()["detail"]
    cut = robot.http.post(
        f"{route}/step",
        content=b"--x\r\nnonsense",
        headers={"content-type": "multipart/form-data; boundary=x"},
    )
    assert 400 <= cut.status_code < 500 and cut.json()["detail"]


@pytest.mark.parametrize("name", ["nothing", "..", "%2e%2e", "a/b", "x" * 5000])
def test_an_unknown_task_is_404(serve, said, name) -> None:
    robot = serve(HIME, planner=said(), sentry=said())
    robot.task = name
    assert robot.say("Tidy up.").status_code == 404
    assert robot.step(moments=1).status_code == 404


def test_one_bad_picture_and_nothing_of_the_step_has_happened(serve, said) -> None:
    sentry = said(NOT_DONE)
    robot = serve(HIME, planner=said(FIRST, second(f"[current] {LEFT}")), sentry=sentry)
    robot.create("Tidy up.")
    good, bad = png(), b"not a picture"
    files = [("image", ("a.png", good)), ("image", ("b.png", bad, "image/png"))]
    files += [("waist_image", ("c.png", good)), ("waist_image", ("d.png", good))]
    refused = robot.http.post(f"/tasks/{robot.task}/step", files=files)
    assert (refused.status_code, refused.json()["detail"]) == (415, "image 2 is neither a PNG nor a JPEG.")
    begun = robot.http.post(
        "/tasks",
        data={"global_instruction": "Tidy up."},
        files=[("initial_image", ("a.png", good)), ("initial_waist_image", ("b.png", b""))],
    )
    assert (begun.status_code, begun.json()["detail"]) == (422, "initial_waist_image is empty.")
    robot.step(moments=2)
    assert len(sentry.heard[0][-1].images) == 3 and len(robot.resume()["tasks"]) == 1


def test_too_many_moments_and_too_large_a_request_are_refused(serve, said, monkeypatch) -> None:
    robot = serve(HIME, planner=said(FIRST, second(f"[current] {LEFT}")), sentry=said())
    robot.create("Tidy up.")
    assert robot.step(moments=65).status_code == 413
    monkeypatch.setattr(app, "LARGEST_REQUEST", 1000)
    robot = serve(HIME, planner=said(), sentry=said())
    refused = robot.step(moments=10)
    assert (refused.status_code, refused.text) == (413, "Content Too Large")


def test_annotations_are_refused_where_the_method_reads_none(serve, said) -> None:
    robot = serve(replace(HIME, annotated=False), planner=said(), sentry=said())
    refused = robot.create("Tidy up.", AWAY)
    assert refused.status_code == 409 and "method.annotated=false" in refused.json()["detail"]


def test_a_fault_of_ours_is_a_failed_task_and_the_log_has_it(serve, said, capfd) -> None:
    robot = serve(HIME, planner=said(ZeroDivisionError("by zero")), sentry=said())
    state = robot.create("Tidy up.").json()
    assert state["runtime_state"] == "failed" and "ZeroDivisionError: by zero" in state["summary"]
    assert "Traceback" in capfd.readouterr().err


def test_a_disk_that_takes_nothing_is_told_and_the_next_step_tries_again(serve, said, monkeypatch) -> None:
    robot = serve(HIME, planner=said(FIRST, second(f"[current] {LEFT}")), sentry=said(NOT_DONE, NOT_DONE))
    robot.create("Tidy up.")

    def full(path: Path, text: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("methods.hime.server.store._write_whole", full)
        refused = robot.step(moments=2)
    assert refused.status_code == 507 and "No space left on device" in refused.json()["detail"]
    assert robot.step(moments=2).json()["runtime_state"] == "observing"
    task = robot.task
    robot = serve(HIME, planner=said(), sentry=said(DONE))
    robot.task = task
    assert robot.step(moments=1).json()["runtime_state"] == "failed"  # its planner has no answer left


def test_a_folder_that_holds_no_task_stops_no_other_one(serve, said, tmp_path) -> None:
    robot = serve(HIME, planner=said(*[FIRST, second(f"[current] {LEFT}")] * 2), sentry=said(NOT_DONE))
    robot.create("Tidy up.")
    broken = robot.task
    robot.create("Tidy up.")
    whole = robot.task
    (planner,) = (tmp_path / "state" / broken).glob("planner-*.json")
    planner.unlink()
    (tmp_path / "state" / "other").mkdir()
    (tmp_path / "state" / "other" / "task.json").write_text("{")
    robot = serve(HIME, planner=said(), sentry=said(NOT_DONE))
    robot.task = broken
    refused = robot.step(moments=1)
    assert refused.status_code == 409 and "cannot be read as a task" in refused.json()["detail"]
    robot.task = whole
    assert robot.step(moments=1).status_code == 200
    assert [state["task_id"] for state in robot.resume()["tasks"]] == [whole, broken]


def test_the_answer_is_the_shape_that_is_written_down() -> None:
    names = ["task_id", "is_done", "runtime_state", "planner_status", "plan_list", "summary"]
    assert list(TaskState.model_fields) == [*names, "current_subtask_description"]
