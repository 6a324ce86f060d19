"""A session that was saved, written as JSON and restored into another one goes on as if nothing had happened."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from harness.embedding import Lexical
from harness.failures import ProviderError, UsageError
from harness.protocols import Message, Reply, View
from methods.hime.frames import frame
from methods.hime.plan import Plan, restored, revised
from methods.hime.planners import Flat, PlannerConfig, Transient, WithMemory
from methods.hime.session import CONFIRMED, Session, Trigger
from methods.hime.triggers import Periodic, Sentry
from methods.hime.wire import PlanLine
from methods.record_memory import MemoryRules

QUERY = "<operation><type>QUERY</type><query>{}</query></operation>"
CREATE = "<operation><type>CREATE</type><tags>{}</tags><text>{}</text><image_path>{}</image_path></operation>"
DONE, NOT_DONE = "<status>done</status>", "<status>not_done</status>"


def turn(plan: str = "", operations: str = "") -> str:
    return f"<summary>so</summary><memory_operations>{operations}</memory_operations><plan_list>{plan}</plan_list>"


HIME = {
    "planner": [
        turn(),
        turn("[current] inspect left box\n[pending] inspect right box", CREATE.format("left_box", "a & b", 1)),
        turn(operations=QUERY.format("left_box")),
        turn("[done] inspect left box\n[current] inspect right box", CREATE.format("pear", "a pear", 99)),
        turn(operations=QUERY.format("pear")),
        turn("[done] inspect left box\n[current] inspect right box", "<operation><type>DELETE</type><id>1</id></operation>"),
        turn(),
        turn("[done] inspect left box\n[done] inspect right box"),
    ],
    "sentry": [NOT_DONE, DONE, "?", NOT_DONE, NOT_DONE, DONE],
}  # fmt: skip
STEP = "<summary>so</summary><subtask>{}</subtask><is_complete>{}</is_complete>"
FLAT = '{{"action": "inspect {}", "keyframe_positions": {}}}'
CASES = {
    "hime": (WithMemory(Lexical(), images=3), Sentry(window=3, every=2, fallback=6), HIME),
    "fifo": (
        WithMemory(Lexical(), MemoryRules(manage="append", cap=1)),
        Sentry(window=3, every=2, fallback=6),
        HIME,
    ),
    "transient": (
        Transient(),
        Periodic(every=3),
        {"planner": [STEP.format("go", "false")] * 3 + [STEP.format("", "true")] * 9},
    ),
    "flat": (
        Flat(recents=3, gap=1, most=2),
        Periodic(every=2),
        {"planner": [FLAT.format(n, [1, 3]) for n in range(12)]},
    ),
}


class Models:
    """Answer in their order, and remember what they were asked."""

    def __init__(self, replies: dict[str, list[str]]) -> None:
        self.left = {role: list(given) for role, given in replies.items()}
        self.heard: list[Any] = []

    def ask(self, role: str, messages: Sequence[Message], tokens: int) -> Reply:
        self.heard.append((role, messages, tokens))
        return Reply(self.left[role].pop(0), completion_tokens=3)


def session(planner: PlannerConfig, trigger: Trigger, models: Any, events: Counter[str]) -> Session:
    return Session(
        planner, trigger, models.ask, lambda event: events.update([event]), lambda *a, **k: None, "Tidy."
    )


def played(name: str, again: bool) -> tuple[Any, ...]:
    """Of 16 executions, with the user's words in between; `again`: in another session after each of them."""
    planner, trigger, replies = CASES[name]
    models, events = Models(replies), Counter()
    now = session(planner, trigger, models, events)
    told = []
    for step in range(16):
        shade = np.full((2, 2, 3), step, np.uint8)
        now.see(frame(step, {"wrist": View(shade, (), 1.0)}))
        if step:
            now.executed("it is stuck" if step == 7 else "")
        if step == 9:
            now.hear("And now the right box.")
        if again:
            saved, frames = json.loads(json.dumps(now.saved())), now.frames
            now = session(planner, trigger, models, events)
            now.frames = frames
            now.restore(saved)
        if now.due:
            now.adopt(now.think())
        told.append((now.assignment, now.segment, now.due, now.waits, now.planner.remembered()))
    return told, models.heard, events


@pytest.mark.parametrize("name", CASES)
def test_a_restored_session_asks_and_decides_what_the_unbroken_one_does(name) -> None:
    assert played(name, again=True) == played(name, again=False)
    told, heard, _ = played(name, again=True)
    assert len(heard) >= 4 and told[-1][0].number >= 2


def test_a_thought_that_fails_leaves_the_same_due() -> None:
    class Down(Models):
        down = True

        def ask(self, role: str, messages: Sequence[Message], tokens: int) -> Reply:
            if self.down and role == "planner":
                raise ProviderError("it is down")
            return super().ask(role, messages, tokens)

    planner, trigger, replies = CASES["hime"]
    models = Down({**replies, "sentry": [DONE, DONE]})
    now = session(planner, trigger, models, Counter())
    now.see(frame(0, {"wrist": View(np.zeros((2, 2, 3), np.uint8), (), 1.0)}))
    before = now.saved()
    with pytest.raises(ProviderError):
        now.think()
    assert now.due and now.saved() == before
    models.down = False
    now.adopt(now.think())
    models.down = True
    for _ in range(2):
        now.executed()
    with pytest.raises(ProviderError):
        now.think()
    assert now.due
    models.down = False
    thought = now.think()
    assert thought.cause == "done" and CONFIRMED in models.heard[-2][1][-1].text


def test_a_memory_against_the_planners_rules_is_refused() -> None:
    planner, trigger, replies = CASES["hime"]
    now = session(planner, trigger, Models(replies), Counter())
    now.see(frame(0, {"wrist": View(np.zeros((2, 2, 3), np.uint8), (), 1.0)}))
    now.adopt(now.think())
    other = session(WithMemory(Lexical(), MemoryRules(modality="text")), trigger, Models({}), Counter())
    with pytest.raises(UsageError, match="the planner's memory holds 1 pictures"):
        other.restore(now.saved())


def test_a_plan_keeps_the_identity_of_its_steps() -> None:
    plan = revised(Plan(), [PlanLine("current", "inspect box", "to see"), PlanLine("pending", "wait")]).plan
    plan = revised(plan.confirmed(1), [PlanLine("current", "go home")]).plan
    assert restored(json.loads(json.dumps(plan.saved()))) == plan and plan.next_key == 4
