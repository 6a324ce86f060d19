"""The control loop: who is asked when, what the robot does meanwhile, and what the row says of it."""

from __future__ import annotations

from typing import Any

import pytest

from harness.embedding import Lexical
from harness.failures import ProviderError
from harness.protocols import Fact
from methods.hime.hierarchy import Hierarchy
from methods.hime.human import Human
from methods.hime.planners import Flat, Transient, WithMemory
from methods.hime.session import CONFIRMED, REFUSED, SPOKEN, UNCONFIRMED
from methods.hime.triggers import Periodic, Sentry
from methods.record_memory import MemoryRules

FIRST = "<summary>I ask</summary><memory_operations></memory_operations><plan_list></plan_list>"
DONE, NOT_DONE = "<status>done</status>", "<status>not_done</status>"


def second(plan: str, operations: str = "") -> str:
    return f"<summary>so</summary><memory_operations>{operations}</memory_operations><plan_list>{plan}</plan_list>"


def create(tags: str, text: str) -> str:
    return f"<operation><type>CREATE</type><tags>{tags}</tags><text>{text}</text></operation>"


def query(tag: str) -> str:
    operation = f"<operation><type>QUERY</type><query>{tag}</query></operation>"
    return (
        f"<summary>I ask</summary><memory_operations>{operation}</memory_operations><plan_list></plan_list>"
    )


def step(subtask: str, complete: str = "false") -> str:
    return f"<summary>so</summary><subtask>{subtask}</subtask><is_complete>{complete}</is_complete>"


def hime(worker: Any, **planner: Any) -> Hierarchy:
    return Hierarchy(WithMemory(Lexical(), **planner), Sentry(every=2, fallback=6), worker)


def test_the_sentry_ends_a_subtask_and_the_planner_says_what_is_next(play, hall, worker, voices) -> None:
    env = hall([[("inspect left box", 12), ("inspect right box", 8)]])
    arm = worker(env.texts)
    said = voices(
        planner=[
            FIRST,
            second("[current] inspect left box\n[pending] inspect right box"),
            FIRST,
            second("[done] inspect left box\n[current] inspect right box"),
        ],
        sentry=[NOT_DONE, DONE],
    )
    run = play(env, said)
    hime(arm).play(run.episode)
    (trial,) = run.episode.trials
    assert trial.success and (trial.subtasks_done, trial.subtasks) == (2, 2)
    assert arm.told == ["inspect left box", "inspect right box"] and arm.closed == 1
    # Asked at steps 0, 10 (not done), 20 (done); the second subtask then takes 8 steps, two executions.
    assert [event["step"] for event in run.of("sentry")] == [10, 20]
    assert [(event["step"], event["cause"]) for event in run.of("planner")] == [
        (0, "instruction"),
        (20, "done"),
    ]
    assert trial.steps == 30
    facts = trial.facts
    assert (facts["planner_calls"], facts["planner_requests"], facts["sentry_checks"]) == (2, 4, 2)
    assert facts["causes"] == {"instruction": 1, "done": 1}
    assert facts["planner_tokens"] == [14, 14] and facts["mode"] == "async"
    assert facts["sentry"]["checks"] == {"tp": 1, "fp": 0, "fn": 0, "tn": 1, "unknown": 0}
    assert facts["sentry"]["subtasks"] == {"tp": 1, "fp": 0, "fn": 0, "tn": 0, "unknown": 0}
    assert f"- {SPOKEN}" in said.asked("planner")[0] and f"- {CONFIRMED}" in said.asked("planner")[2]
    assert [(event["step"], event["done"]) for event in run.of("oracle")] == [(10, False), (20, True)]
    assert [event["step"] for event in run.of("adopted")] == [0, 20]
    assert run.of("subtask_done") == [
        {"step": 12, "index": 0, "text": "inspect left box"},
        {"step": 28, "index": 1, "text": "inspect right box"},
    ]
    assert "worker" in run.episode.served and "voices-1" in run.episode.served
    assert [sampling.max_tokens for role, _, sampling in said.heard if role == "sentry"] == [512, 512]


def test_the_sentry_is_shown_the_frames_of_its_subtask_and_the_planner_those_of_the_segment(
    play, hall, worker, voices
) -> None:
    env = hall([[("inspect left box", 30), ("inspect right box", 30)]], limit=60)
    plan = "[current] inspect left box\n[pending] inspect right box"
    said = voices(
        planner=[FIRST, second(plan), FIRST, second("[done] inspect left box\n[current] inspect right box")],
        sentry=[NOT_DONE, NOT_DONE, DONE, NOT_DONE, NOT_DONE, NOT_DONE],
    )
    run = play(env, said)
    Hierarchy(
        WithMemory(Lexical(), images=3), Sentry(window=3, every=2, fallback=99), worker(env.texts)
    ).play(run.episode)

    def steps(text: str) -> list[int]:
        return [int(line.split("step ")[1]) for line in text.splitlines() if line.startswith("Image ")]

    sentry = [steps(text) for text in said.asked("sentry")]
    assert sentry[:4] == [[0, 5, 10], [10, 15, 20], [20, 25, 30], [30, 35, 40]]
    assert [steps(text) for text in said.asked("planner")[::2]] == [[0], [0, 15, 30]]


def test_a_planner_that_takes_time_does_not_stop_the_robot(play, hall, worker, voices) -> None:
    def run_in(mode: str) -> tuple[Any, Any]:
        env = hall([[("inspect left box", 10), ("inspect right box", 8)]])
        said = voices(
            planner=[
                FIRST,
                (second("[current] inspect left box\n[pending] inspect right box"), 0.65),
                FIRST,
                (second("[done] inspect left box\n[current] inspect right box"), 1.2),
            ],
            sentry=[DONE, NOT_DONE],
        )
        run = play(env, said)
        hime(worker(env.texts), mode=mode).play(run.episode)
        return env, run

    env, run = run_in("async")
    # The first answer is there at step 7 of 10: at the end of the second execution. The hand stays as it is: open.
    assert [event["step"] for event in run.of("subtask")] == [10, 35]
    assert [event["step"] for event in run.of("planner")] == [0, 20]
    assert [event["step"] for event in run.of("adopted")] == [10, 35]
    assert all(action[0] == 0 and action[6] == 1 for action in env.taken[:10])
    # The Sentry is first asked two executions after the subtask began, at 20; its answer and the planner's take 12 steps.
    assert env.worked == {"inspect left box": 25, "inspect right box": 10}
    assert run.episode.trials[0].facts["planner_seconds"] == [0.65, 1.2]
    env, run = run_in("sync")
    assert [event["step"] for event in run.of("subtask")] == [0, 10]
    assert run.episode.trials[0].facts["mode"] == "sync"


def test_the_user_is_heard_while_the_robot_waits(play, hall, worker, voices) -> None:
    stages = [[("inspect left box", 10)], [("inspect right box", 5)]]
    env = hall(stages, said="Look into the right box, too.", pause=12)
    arm = worker(env.texts)
    said = voices(
        planner=[
            FIRST,
            second("[current] inspect left box"),
            FIRST,
            second("[done] inspect left box"),
            FIRST,
            second("[done] inspect left box\n[current] inspect right box"),
        ],
        sentry=[DONE],
    )
    run = play(env, said)
    hime(arm).play(run.episode)
    assert run.episode.trials[0].success
    causes = [(event["step"], event["cause"], event["instruction"]) for event in run.of("planner")]
    assert causes == [
        (0, "instruction", "Do the chores."),
        (10, "done", "Do the chores."),
        (25, "instruction", "Look into the right box, too."),
    ]
    assert run.of("user") == [
        {"step": 0, "text": "Do the chores."},
        {"step": 22, "text": "Look into the right box, too."},
    ]
    assert arm.told == ["inspect left box", "go to rest", "inspect right box"]
    assert "Instruction: Look into the right box, too." in said.asked("planner")[-2]


def test_a_robot_with_nothing_to_do_rests_and_the_planner_is_asked_again_after_a_while(
    play, hall, worker, voices
) -> None:
    env = hall([[("inspect left box", 10)]], limit=100)
    arm = worker(env.texts)
    wrong = second("[done] inspect left box")
    said = voices(planner=[FIRST, wrong, FIRST, second("[current] inspect left box")], sentry=[])
    run = play(env, said)
    hime(arm).play(run.episode)
    assert arm.told == ["go to rest", "inspect left box"]
    assert [event["cause"] for event in run.of("planner")] == ["instruction", "fallback"]
    assert run.of("planner")[1]["step"] == 30  # six executions of five steps
    assert f"- {UNCONFIRMED}" in said.asked("planner")[2]
    assert run.episode.trials[0].events["plan: a step is done by the planner's word alone"] == 1


def test_a_refusal_of_the_executor_is_told_to_the_planner_at_the_next_check(
    play, hall, worker, voices
) -> None:
    env = hall([[("inspect left box", 5)]])
    said = voices(
        planner=[FIRST, second("[current] dance"), FIRST, second("[current] inspect left box")], sentry=[]
    )
    run = play(env, said)
    hime(worker(env.texts)).play(run.episode)
    assert run.episode.trials[0].success
    assert [event["cause"] for event in run.of("planner")] == ["instruction", "refused"]
    assert f"- {REFUSED}'dance' is not understood" in said.asked("planner")[2]
    assert run.episode.trials[0].events["executor: words"] == 2
    assert all(action[0] == 0 for action in env.taken[:10])


def test_the_step_limit_ends_the_trial_and_the_row_keeps_what_was_counted(play, hall, worker, voices) -> None:
    env = hall([[("inspect left box", 500)]], limit=20)
    said = voices(planner=[FIRST, second("[current] inspect left box")], sentry=[NOT_DONE] * 2)
    run = play(env, said)
    arm = worker(env.texts)
    hime(arm).play(run.episode)
    (trial,) = run.episode.trials
    assert (trial.failure, trial.steps, trial.facts["sentry_checks"], arm.closed) == ("steps", 20, 2, 1)
    assert trial.facts["sentry"]["subtasks"]["tn"] == 1


def test_an_answer_that_cannot_be_used_twice_is_the_methods_failure(play, hall, worker, voices) -> None:
    env = hall([[("inspect left box", 5)]])
    run = play(env, voices(planner=["well", "well, well"], sentry=[]))
    hime(worker(env.texts)).play(run.episode)
    (trial,) = run.episode.trials
    assert trial.failure == "generation" and "asked again" in trial.reason
    assert trial.events["the planner's first turn: asked again"] == 1


def test_a_provider_that_is_down_is_no_failure_of_the_method(play, hall, worker, voices) -> None:
    class Down:
        def of(self, role: str) -> Any:
            return self

        def complete(self, messages: Any, sampling: Any) -> Any:
            raise ProviderError("it is down")

    env = hall([[("inspect left box", 5)]])
    arm = worker(env.texts)
    with pytest.raises(ProviderError):
        hime(arm).play(play(env, Down()).episode)
    assert arm.closed == 1


def test_transient_is_shown_the_latest_frame_and_starts_its_subtask_anew_each_time(
    play, hall, worker, voices
) -> None:
    env = hall([[("inspect left box", 30)]])
    arm = worker(env.texts)
    said = voices(planner=[step("inspect left box")] * 3)
    run = play(env, said)
    Hierarchy(Transient(), Periodic(every=2), arm).play(run.episode)
    assert arm.told == ["inspect left box"] * 3
    assert [event["step"] for event in run.of("planner")] == [0, 10, 20]
    for text, at in zip(said.asked("planner"), (0, 10, 20), strict=True):
        assert text.count("Image ") == 1 and f"control step {at}" in text and "Plan list" not in text
    assert "memory" not in run.episode.trials[0].facts and "sentry" not in run.episode.trials[0].facts


def test_flat_is_shown_the_frames_that_it_chose(play, hall, worker, voices) -> None:
    env = hall([[("inspect left box", 40)]])
    answers = [
        '{"action": "inspect left box", "keyframe_positions": [1]}',
        '{"action": "inspect left box", "keyframe_positions": []}',
        '{"action": "inspect left box", "keyframe_positions": [8, 9]}',
        '{"action": "inspect left box", "keyframe_positions": []}',
    ]
    said = voices(planner=answers)
    run = play(env, said)
    Hierarchy(Flat(gap=2), Periodic(every=2), worker(env.texts)).play(run.episode)
    planned = run.of("planner")
    assert [event["keyframes"] for event in planned] == [[], [0], [0], [0]]
    assert planned[2]["nominated"] == []  # five recent frames were shown: there is no eighth
    assert "Image 1: keyframe 1, control step 0" in said.asked("planner")[1]
    assert run.episode.trials[0].facts["memory_sizes"] == [1, 1, 1, 1]


def test_memory_hits_tell_what_was_stored_from_what_was_retrieved(play, hall, worker, voices) -> None:
    knows = {
        "pick up apple from table and place it to left box": {
            "facts": (Fact("left box", "holds", "pear", 0),),
            "outdated": (Fact("right box", "holds", "pear", 0),),
        }
    }
    texts = ["inspect left box", *knows]
    plan = f"[done] {texts[0]}\n[current] {texts[1]}"

    def facts(first: str, asks: str) -> Any:
        env = hall([[(texts[0], 10), (texts[1], 10)]], facts=knows)
        said = voices(
            planner=[FIRST, second(f"[current] {texts[0]}", first), asks, second(plan)],
            sentry=[DONE, NOT_DONE],
        )
        run = play(env, said)
        hime(worker(env.texts)).play(run.episode)
        assert run.episode.trials[0].success
        return run.episode.trials[0].facts

    stored = create("left_box, pear", "the left box holds a pear")
    assert facts(stored, query("pear"))["memory"] == {"needed": 1, "in_store": 1, "retrieved": 1}
    assert facts(stored, FIRST)["memory"] == {"needed": 1, "in_store": 1, "retrieved": 0}
    assert facts("", FIRST)["memory"] == {"needed": 1, "in_store": 0, "retrieved": 0}
    assert facts(stored, FIRST)["memory_sizes"] == [1, 1]


def test_a_full_memory_forgets_what_hime_keeps(play, hall, worker, voices) -> None:
    knows = {"inspect right box": {"facts": (Fact("left box", "holds", "pear", 0),)}}
    records = create("left_box", "the left box holds a pear") + create("tray", "the tray is empty") * 2
    plan = "[current] inspect left box\n[pending] inspect right box"

    def hits(**rules: Any) -> Any:
        env = hall([[("inspect left box", 10), ("inspect right box", 10)]], facts=knows)
        then = second("[done] inspect left box\n[current] inspect right box")
        said = voices(
            planner=[FIRST, second(plan, records), query("left_box"), then], sentry=[DONE, NOT_DONE]
        )
        run = play(env, said)
        hime(worker(env.texts), memory=MemoryRules(**rules)).play(run.episode)
        return run.episode.trials[0].facts["memory"]

    assert hits(manage="append", cap=2) == {"needed": 1, "in_store": 0, "retrieved": 0}
    assert hits() == {"needed": 1, "in_store": 1, "retrieved": 1}


def test_the_human_is_told_by_the_oracle_and_asks_no_model(play, hall, worker, voices) -> None:
    env = hall([[("inspect left box", 7), ("inspect right box", 5)], [("inspect tray", 5)]])
    arm = worker(env.texts)
    run = play(env, voices())
    Human(arm).play(run.episode)
    assert run.episode.trials[0].success and run.episode.usage.calls == 0
    assert arm.told == ["inspect left box", "inspect right box", "inspect tray"]
    assert [event["step"] for event in run.of("subtask_done")] == [7, 15, 20]


def test_a_hierarchy_without_cameras_is_refused(worker) -> None:
    with pytest.raises(ValueError, match="cameras is empty"):
        Hierarchy(Transient(), Periodic(), worker(()), cameras=[])
