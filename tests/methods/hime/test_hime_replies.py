"""Whole episodes of replies that cannot be used, and of episodes that follow one another: nothing is done by a reply that was
refused, and nothing is remembered from another episode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from harness.embedding import Lexical
from harness.records import TrialRecord
from methods.hime.hierarchy import Hierarchy
from methods.hime.planners import WithMemory
from methods.hime.triggers import Sentry

LEFT, RIGHT = "inspect left box", "inspect right box"
FIRST = "<summary>I ask</summary><memory_operations></memory_operations><plan_list></plan_list>"
ASKS = FIRST.replace(
    "></memory_operations>",
    "><operation><type>QUERY</type><query>cup</query></operation></memory_operations>",
)
CREATE = "<operation><type>CREATE</type><tags>cup</tags><text>the cup is in the drawer</text></operation>"
DONE, NOT_DONE = "<status>done</status>", "<status>not_done</status>"
UNUSABLE = {
    "empty": "",
    "apology": "I am sorry, but I cannot help with that.",
    "cut off": "<summary>s</summary><plan",
    "no step": "<summary>s</summary><memory_operations></memory_operations><plan_list></plan_list>",
    "no state": "<summary>s</summary><plan_list>1. pick\n2. place</plan_list>",
    "operations without a plan": f"<summary>s</summary><memory_operations>{CREATE}</memory_operations>",
}


def plan(lines: str, operations: str = "") -> str:
    return f"<summary>so</summary><memory_operations>{operations}</memory_operations><plan_list>{lines}</plan_list>"


def hime(arm: Any) -> Hierarchy:
    return Hierarchy(WithMemory(Lexical()), Sentry(every=2), arm)


@pytest.mark.parametrize("bad", UNUSABLE.values(), ids=list(UNUSABLE))
def test_a_first_plan_that_cannot_be_used_ends_no_task_as_done_and_moves_nothing(
    bad: str, play, hall, worker, voices
) -> None:
    env = hall([[(LEFT, 5)]])
    run = play(env, voices(planner=[FIRST, bad, bad], sentry=[]))
    arm = worker(env.texts)
    hime(arm).play(run.episode)
    (trial,) = run.episode.trials
    assert (trial.success, trial.failure, trial.steps) == (False, "generation", 0)
    assert trial.events == {"the planner's second turn: asked again": 1}
    assert arm.told == [] and env.taken == []


@pytest.mark.parametrize("bad", UNUSABLE.values(), ids=list(UNUSABLE))
def test_a_second_try_is_taken_whole_and_the_first_one_not_at_all(
    bad: str, play, hall, worker, voices
) -> None:
    env = hall([[(LEFT, 5)]])
    run = play(env, voices(planner=[FIRST, bad, plan(f"[current] {LEFT}")], sentry=[]))
    hime(worker(env.texts)).play(run.episode)
    (trial,) = run.episode.trials
    assert trial.success and trial.facts["planner_requests"] == 3
    assert trial.facts["memory_sizes"] == [0]  # the operations of a refused reply are refused with it


@pytest.mark.parametrize("bad", UNUSABLE.values(), ids=list(UNUSABLE))
def test_no_old_plan_goes_on_after_a_reply_that_cannot_be_used(bad: str, play, hall, worker, voices) -> None:
    env = hall([[(LEFT, 10), (RIGHT, 10)]])
    first = plan(f"[current] {LEFT}\n[pending] {RIGHT}", CREATE)
    run = play(env, voices(planner=[FIRST, first, FIRST, bad, bad], sentry=[DONE]))
    arm = worker(env.texts)
    hime(arm).play(run.episode)
    (trial,) = run.episode.trials
    assert (trial.success, trial.failure, trial.subtasks_done) == (False, "generation", 1)
    assert arm.told == [LEFT] and trial.steps == 10


def test_a_sentry_that_cannot_be_read_hands_over_to_the_planner(play, hall, worker, voices) -> None:
    env = hall([[(LEFT, 30), (RIGHT, 5)]])
    lines = f"[current] {LEFT}\n[pending] {RIGHT}"
    said = voices(
        planner=[FIRST, plan(lines), FIRST, plan(f"[done] {LEFT}\n[current] {RIGHT}")],
        sentry=["I think that it is done", "", "<status>almost</status>"],
    )
    run = play(env, said)
    hime(worker(env.texts)).play(run.episode)
    (trial,) = run.episode.trials
    assert trial.success and trial.facts["causes"] == {"instruction": 1, "unreadable": 1}
    assert [event["judgement"] for event in run.of("sentry")] == ["unparsed", "failed", "unparsed"]
    assert (trial.events["sentry: unparsed"], trial.events["sentry: failed"]) == (2, 1)
    # None of them was taken for a word of the Sentry's: the plan's step is done by the planner's alone.
    assert trial.events["plan: a step is done by the planner's word alone"] == 1


def test_an_episode_remembers_nothing_of_another_one_in_whatever_order_they_come(
    play, hall, worker, voices
) -> None:
    def two(method: Hierarchy, operations: Sequence[str]) -> list[tuple[TrialRecord, list[str]]]:
        found = []
        for written in operations:
            env = hall([[(LEFT, 10), (RIGHT, 5)]])
            first = plan(f"[current] {LEFT}\n[pending] {RIGHT}", written)
            second = plan(f"[done] {LEFT}\n[current] {RIGHT}")
            said = voices(planner=[FIRST, first, ASKS, second], sentry=[DONE])
            run = play(env, said)
            method.play(run.episode)
            found.append((run.episode.trials[0], said.asked("planner")))
        return found

    method = hime(worker([LEFT, RIGHT]))
    (wrote, told), (bare, untold) = two(method, [CREATE, ""])
    assert (wrote.facts["memory_sizes"], bare.facts["memory_sizes"]) == ([1, 1], [0, 0])
    assert "the cup is in the drawer" in told[3] and "it holds no record yet" in untold[0]
    assert (
        not any("the cup is in the drawer" in text for text in untold)
        and "Query `cup`: no record" in untold[3]
    )
    assert [asked for _, asked in two(method, ["", CREATE])] == [untold, told]
