"""What the reflector is told of an attempt: what the method saw, and nothing of the oracle's verdict."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.protocols import Message, Reply, Sampling
from harness.records import TrialRecord
from methods.lmp.prompt import Request
from methods.replan import Attempt
from methods.replan.reflection import Reflection, reflection
from methods.replanning import Replanning
from tests.methods.conftest import Stage

UP = {
    "lift the red block.": 'composer("move up by 5cm")',
    "move up by 5cm.": "execute(parse_query_obj('gripper'), get_affordance_map('a point above'))",
    "gripper.": "ret_val = detect('gripper')",
    "a point above.": "ret_val = get_empty_affordance_map()\nret_val[50, 50, 60] = 1",
}
PLAN = {Request("planner", "lift it.", "objects = []"): "composer('go')"}


class Reflector:
    """Notes what the reflector is asked, and answers the programs' requests by a stage's replies."""

    name = "reflector"

    def __init__(self, one: Stage) -> None:
        self.asked: list[str] = []
        self._inner = one.chat
        one.episode.models = lambda role: self if role == "reflector" else one.chat

    def complete(self, messages: list[Message], sampling: Sampling) -> Reply:
        self.asked.append(messages[-1].text)
        return Reply("Go higher.", model=self.name)

    def close(self) -> None: ...


def test_the_reflector_cannot_tell_a_fail_condition_from_a_goal_that_was_not_met(
    stage: Callable[..., Stage],
) -> None:
    """The picture is the same in both episodes, and only the oracle knows which one is lost."""
    told = []
    for loses in (False, True):
        one = stage(UP)
        one.world.loss = lambda world, loses=loses: loses and world.tool.position[2] > 0.41  # type: ignore[misc]
        reflector = Reflector(one)
        Replanning(2, Reflection()).play(one.episode)
        assert one.episode.trials[0].reason.startswith("a fail condition") == loses
        told += reflector.asked
    assert told[0] == told[1]
    assert "The program ran to its end." in told[0]
    assert not any(word in told[0] for word in ("fail condition", "goal"))


def test_the_reflector_is_told_what_the_program_raised(stage: Callable[..., Stage]) -> None:
    one = stage(UP | {"move up by 5cm.": "no_such_function()"})
    reflector = Reflector(one)
    Replanning(2, Reflection()).play(one.episode)
    assert f"It ended with: {one.episode.trials[0].reason}" in reflector.asked[0]
    assert "no_such_function" in reflector.asked[0]


@pytest.mark.parametrize(
    ("record", "code", "seen"),
    [
        (TrialRecord(failure="goal", reason="a fail condition of the task was met"), PLAN, ""),
        (TrialRecord(failure="code", reason="line 1: no"), PLAN, "line 1: no"),
        (TrialRecord(failure="generation", reason="the reply is empty"), {}, "the reply is empty"),
    ],
)
def test_what_an_attempt_saw_of_its_end(record: TrialRecord, code: dict[Request, str], seen: str) -> None:
    attempt = Attempt(record, code)
    assert attempt.raised == seen
    assert ("It ended with: " in reflection("lift it", attempt)[-1].text) == bool(seen)
