"""Trials of one episode: what the first one shares, what later ones replay, ask for and see."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from harness.failures import ProviderError
from harness.protocols import Manipulation, Message, Reply, Sampling
from methods.replan.reflection import Reflection
from methods.replan.replay import Replay
from methods.replan.resample import Resample
from methods.replanning import Replanning
from tests.methods.conftest import Stage

MISS = {
    "lift the red block.": 'composer("move up by 5cm")',
    "move up by 5cm.": (
        "movable = parse_query_obj('gripper')\n"
        "affordance_map = get_affordance_map('a point above')\n"
        "execute(movable, affordance_map=affordance_map)"
    ),
    "gripper.": "ret_val = detect('gripper')",
    "a point above.": (
        "affordance_map = get_empty_affordance_map()\naffordance_map[50, 50, 60] = 1\nret_val = affordance_map"
    ),
}
"""Programs that run to their end and reach nothing: a planner's, a composer's and two lazy ones."""
Build = Callable[..., Stage]


def outcomes(stage: Stage) -> list[str | None]:
    return [record.failure for record in stage.episode.trials]


def test_one_trial_asks_for_each_program_once(stage: Build) -> None:
    one = stage(MISS)
    Replanning().play(one.episode)
    assert one.chat.queries() == list(MISS)
    assert outcomes(one) == ["goal"]
    facts = one.episode.trials[0].facts
    assert facts["propose"] == "llm"
    assert facts["programs"] == {"asked": 4, "replayed": 0}
    assert facts["planner_code"] == MISS["lift the red block."]


def test_the_first_trial_sends_the_same_messages_whatever_the_method(stage: Build) -> None:
    sent = []
    for method in (
        Replanning(),
        Replanning(3, Replay()),
        Replanning(3, Resample()),
    ):
        one = stage(MISS)
        method.play(one.episode)
        sent.append(one.chat.asked[:4])
    assert sent[0] == sent[1] == sent[2]


@pytest.mark.parametrize(("scope", "asked"), [("all", 4), ("planner", 4 + 3 + 3)])
def test_retry_replays_as_much_as_its_scope_says(stage: Build, scope: str, asked: int) -> None:
    one = stage(MISS)
    Replanning(3, Replay(scope=scope)).play(one.episode)
    assert len(one.chat.asked) == asked
    assert outcomes(one) == ["goal"] * 3
    assert [trial for _, _, trial in one.world.resets] == [0, 1, 2]
    later = one.episode.trials[1].facts
    assert (later["propose"], later["replay"]) == ("replay", scope)
    assert later["programs"] == {"asked": 0, "replayed": 4} if scope == "all" else {"asked": 3, "replayed": 1}
    assert later["planner_code"] == MISS["lift the red block."]


def test_success_ends_the_episode(stage: Build) -> None:
    one = stage(MISS)
    one.world.goal = lambda world: world.tool.position[2] > 0.55
    Replanning(3, Replay()).play(one.episode)
    assert [record.success for record in one.episode.trials] == [True]


def test_success_that_does_not_last_counts_and_is_told_from_one_that_does(stage: Build) -> None:
    """The tool passes through the goal on its way up."""
    one = stage(MISS)
    one.world.goal = lambda world: 0.45 < world.tool.position[2] < 0.55
    Replanning(3, Replay()).play(one.episode)
    (record,) = one.episode.trials
    assert (record.success, record.success_at_end, record.failure) == (True, False, None)


def test_a_failure_of_the_code_ends_its_trial_and_the_next_one_asks_for_what_is_missing(stage: Build) -> None:
    broken = {**MISS, "move up by 5cm.": "no_such_function()"}
    one = stage(broken)
    Replanning(2, Replay()).play(one.episode)
    assert outcomes(one) == ["code", "code"]
    assert "no_such_function" in str(one.episode.trials[0].reason)
    assert one.chat.queries() == ["lift the red block.", "move up by 5cm."]


def test_a_program_that_was_never_written_is_asked_for_again(stage: Build) -> None:
    one = stage({**MISS, "lift the red block.": Reply("", model="canned")})
    Replanning(2, Replay()).play(one.episode)
    assert outcomes(one) == ["generation", "generation"]
    assert one.chat.queries() == ["lift the red block."] * 2


def test_a_provider_that_is_down_is_no_failure(stage: Build) -> None:
    one = stage(MISS)

    def down(role: str) -> Any:
        raise ProviderError("no answer")

    one.episode.models = down
    with pytest.raises(ProviderError):
        Replanning(3, Replay()).play(one.episode)
    assert len(one.episode.trials) == 1


@pytest.mark.parametrize(("trials", "replan"), [(0, None), (2, None)])
def test_a_method_that_cannot_be_is_refused(trials: int, replan: Any) -> None:
    with pytest.raises(ValueError, match="trials is"):
        Replanning(trials, replan)


def test_it_needs_an_environment_that_it_can_move(stage: Build) -> None:
    assert Replanning().requires() == (Manipulation,)
    assert isinstance(stage(MISS).world, Manipulation)


@dataclass
class ByRole:
    """Answers the reflector with a critique and everything else as `Canned` does; notes temperatures."""

    inner: Any
    critique: str | Reply = "The block was missed."
    reflections: list[tuple[Message, ...]] = field(default_factory=list)
    temperatures: list[float] = field(default_factory=list)
    name: str = "by role"

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        self.temperatures.append(sampling.temperature)
        if messages[0].text.startswith("You judge the attempt"):
            self.reflections.append(tuple(messages))
            given = self.critique
            return given if isinstance(given, Reply) else Reply(given, model=self.name)
        return self.inner.complete(messages, sampling)

    def close(self) -> None:
        pass


def with_roles(one: Stage, **changes: Any) -> ByRole:
    chat = ByRole(one.chat, **changes)
    one.episode.models = lambda role: chat
    return chat


def test_reflection_shows_what_moved_and_the_last_picture(stage: Build) -> None:
    one = stage({**MISS, "lift the red block.": 'composer("move up by 5cm")'})
    chat = with_roles(one)
    Replanning(2, Reflection()).play(one.episode)
    (asked,) = chat.reflections
    text = asked[-1].text
    assert "Instruction: lift the red block" in text
    assert 'composer("move up by 5cm")' in text
    assert text.count("- red block: 60 60 64 64") == 2
    assert "The gripper is open." in text
    (image,) = asked[-1].images
    assert image.startswith(b"\x89PNG")
    second = one.chat.asked[4][-1].text
    assert "Critique of that attempt: The block was missed." in second
    assert "failed:\n\n```python\ncomposer(" in second
    facts = one.episode.trials[1].facts
    assert (facts["propose"], facts["critique"]) == ("reflect", "The block was missed.")


def test_a_critique_that_is_no_critique_is_a_failure_of_the_trial_that_it_was_for(stage: Build) -> None:
    one = stage(MISS)
    with_roles(one, critique=Reply("  ", model="by role"))
    Replanning(3, Reflection()).play(one.episode)
    assert outcomes(one) == ["goal", "generation", "generation"]


def test_resampling_draws_later_trials_at_its_own_temperature(stage: Build) -> None:
    one = stage(MISS)
    chat = with_roles(one)
    Replanning(2, Resample(temperature=0.9)).play(one.episode)
    assert chat.temperatures == [0.0] * 4 + [0.9] * 4
    assert one.episode.trials[1].facts["propose"] == "resample"
    with pytest.raises(ValueError, match="above 0"):
        Resample(temperature=0.0)
