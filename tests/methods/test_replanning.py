"""Trials of one episode: what the first one shares, what later ones replay, ask for and see."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hydra.utils import instantiate
from omegaconf import OmegaConf

from harness.failures import ProviderError, SimulatorError
from harness.protocols import Manipulation, Message, Reply, Sampling
from harness.records import TrialRecord
from methods.lmp.prompt import Request
from methods.replan import Attempt
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
CONF = Path(__file__).parents[2] / "conf" / "method"


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


def configured(name: str) -> Replanning:
    """The method as its config file says."""
    method = instantiate(OmegaConf.load(CONF / f"{name}.yaml"))
    assert isinstance(method, Replanning)
    return method


@dataclass
class Log:
    """Everything that is asked: role, messages and how the reply is to be drawn."""

    inner: Any
    requests: list[tuple[str, tuple[Message, ...], Sampling]] = field(default_factory=list)

    def __call__(self, role: str) -> Asked:
        return Asked(self, role)

    def roles(self) -> list[str]:
        return [role for role, _, _ in self.requests]


@dataclass
class Asked:
    """One role of a log."""

    log: Log
    role: str
    name: str = "asked"

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        self.log.requests.append((self.role, tuple(messages), sampling))
        return self.log.inner.complete(messages, sampling)

    def close(self) -> None: ...


def logged(one: Stage) -> Log:
    log = Log(one.chat)
    one.episode.models = log
    return log


@pytest.mark.parametrize("name", ["retry", "resample"])
def test_the_configured_methods_ask_in_their_first_trial_what_voxposer_asks(stage: Build, name: str) -> None:
    """Byte for byte: roles, messages, temperature and seed, so that first trials can be compared and a cache of
    replies serves them all."""
    mine, theirs = stage(MISS), stage(MISS)
    log, other = logged(mine), logged(theirs)
    configured("voxposer").play(mine.episode)
    configured(name).play(theirs.episode)
    assert log.roles() == ["planner", "composer", "low_level", "low_level"]
    assert repr(other.requests[:4]) == repr(log.requests)
    assert [len(mine.episode.trials), len(theirs.episode.trials)] == [1, 3]


def test_retry_as_configured_asks_nothing_after_its_first_trial(stage: Build) -> None:
    one = stage(MISS)
    log = logged(one)
    configured("retry").play(one.episode)
    assert outcomes(one) == ["goal"] * 3
    assert len(log.requests) == 4
    assert one.episode.usage.calls == 4


def test_each_trial_starts_from_the_scene_of_the_first(stage: Build) -> None:
    """The plan carries the block away; the next trial finds it where it was."""
    carry = {
        **MISS,
        "move up by 5cm.": (
            "movable = parse_query_obj('gripper')\n"
            "assert detect('red block').position[2] == 2\n"
            "execute(movable, affordance_map=get_affordance_map('at the block'))\n"
            "execute(movable, gripper_map=get_gripper_map('closed'))\n"
            "execute(movable, affordance_map=get_affordance_map('a point above'))\n"
            "assert detect('red block').position[2] == 60"
        ),
        "at the block.": (
            "affordance_map = get_empty_affordance_map()\naffordance_map[59, 59, 2] = 1\nret_val = affordance_map"
        ),
        "closed.": "gripper_map = get_empty_gripper_map()\ngripper_map[:] = 0\nret_val = gripper_map",
    }
    one = stage(carry)
    Replanning(3, Replay()).play(one.episode)
    assert outcomes(one) == ["goal"] * 3
    assert one.world.resets == [("lift", 0, trial) for trial in range(3)]
    assert [record.state_hash for record in one.episode.trials] == ["scene-0"] * 3
    assert [record.steps for record in one.episode.trials] == [one.world.count] * 3


def test_a_scene_that_does_not_come_back_is_no_trial(stage: Build) -> None:
    one = stage(MISS)
    reset = one.world.reset
    one.world.reset = lambda task, scene, seeds: reset(task, seeds.trial, seeds)  # type: ignore[method-assign]
    with pytest.raises(SimulatorError, match="not from scene-0"):
        Replanning(3, Replay()).play(one.episode)
    assert outcomes(one) == ["goal"]


def test_of_the_code_of_several_trials_the_earliest_is_replayed(stage: Build) -> None:
    """The second trial gets further than the first: what it wrote is replayed in the third."""
    one = stage({**MISS, "move up by 5cm.": Reply("", model="canned")})
    played: list[str] = []

    def next_reply(moment: str, trial: int) -> None:
        if (moment, trial) == ("start", 1):
            one.chat.replies["move up by 5cm."] = "reset_to_default_pose()"
        if (moment, trial) == ("start", 2):
            one.chat.replies = {}
        if moment == "end":
            played.append(str(one.episode.trials[trial].facts["programs"]))

    one.episode.observers.append(next_reply)
    Replanning(3, Replay()).play(one.episode)
    assert outcomes(one) == ["generation", "goal", "goal"]
    assert one.chat.queries() == ["lift the red block.", "move up by 5cm.", "move up by 5cm."]
    assert played == [
        "{'asked': 1, 'replayed': 0}",
        "{'asked': 1, 'replayed': 1}",
        "{'asked': 0, 'replayed': 2}",
    ]


@pytest.mark.parametrize("scope", ["all", "planner"])
def test_what_is_replayed_of_attempts_that_differ(stage: Build, scope: Any) -> None:
    plan, step, late = (
        Request(*asked) for asked in (("planner", "x."), ("composer", "y."), ("composer", "z."))
    )
    attempts = [
        Attempt(TrialRecord(), {}),
        Attempt(TrialRecord(), {plan: "p1", step: "s1"}),
        Attempt(TrialRecord(), {plan: "p2", step: "s2", late: "z2"}),
    ]
    proposal = Replay(scope=scope).propose(stage(MISS).episode, attempts)
    assert proposal.code == ({plan: "p1", step: "s1", late: "z2"} if scope == "all" else {plan: "p1"})
    assert proposal.facts == {"propose": "replay", "replay": scope}
    assert (proposal.sections, proposal.temperature) == ((), None)


def test_the_planners_code_is_replayed_even_when_the_lower_programs_change(stage: Build) -> None:
    """Scope `planner`: the plan stays, the rest is drawn anew with the seed of the trial."""
    one = stage(dict(MISS))
    log = logged(one)
    one.world.goal = lambda world: world.tool.position[2] < 0.3

    def better(moment: str, trial: int) -> None:
        if (moment, trial) == ("start", 1):
            one.chat.replies["lift the red block."] = "1 / 0"
            one.chat.replies["a point above."] = MISS["a point above."].replace("60]", "20]")

    one.episode.observers.append(better)
    Replanning(3, Replay(scope="planner")).play(one.episode)
    assert outcomes(one) == ["goal", None]
    assert log.roles() == ["planner", "composer", "low_level", "low_level"] + ["composer"] + ["low_level"] * 2
    first, second = log.requests[1], log.requests[4]
    assert first[1] == second[1]
    assert first[2].seed != second[2].seed


def test_a_fail_condition_ends_in_a_failure_and_the_next_trial_begins(stage: Build) -> None:
    """What was lost stays lost, whatever comes after it in the trial."""
    one = stage(MISS)
    one.world.loss = lambda world: world.tool.position[2] > 0.41
    one.world.goal = lambda world: world.tool.position[2] > 0.55
    Replanning(2, Replay()).play(one.episode)
    assert outcomes(one) == ["goal", "goal"]
    assert {record.reason for record in one.episode.trials} == {"a fail condition of the task was met"}
    assert [record.success for record in one.episode.trials] == [False, False]


def test_the_step_limit_ends_a_trial_and_the_next_one_has_its_own_steps(stage: Build) -> None:
    one = stage({**MISS, "move up by 5cm.": "while True:\n    reset_to_default_pose()"})
    one.world.limit = 5
    Replanning(2, Replay()).play(one.episode)
    assert outcomes(one) == ["steps", "steps"]
    assert [record.steps for record in one.episode.trials] == [6, 6]


def test_a_success_at_the_last_step_is_a_success(stage: Build) -> None:
    one = stage({**MISS, "move up by 5cm.": "while True:\n    reset_to_default_pose()"})
    one.world.limit = 5
    one.world.goal = lambda world: world.count == 5
    Replanning(3, Replay()).play(one.episode)
    (record,) = one.episode.trials
    assert (record.success, record.failure, record.success_at_end) == (True, None, False)


def test_a_provider_that_goes_down_later_is_no_failure_either(stage: Build) -> None:
    one = stage(MISS)

    def models(role: str) -> Any:
        if len(one.episode.trials) == 2 and role == "composer":
            raise ProviderError("no answer")
        return one.chat

    one.episode.models = models
    with pytest.raises(ProviderError):
        Replanning(3, Replay(scope="planner")).play(one.episode)
    assert outcomes(one) == ["goal", None]
    assert not one.episode.trials[1].success


def test_an_attempt_knows_its_plan() -> None:
    step, plan = Request("composer", "go."), Request("planner", "lift it.", "objects = []")
    assert Attempt(TrialRecord(), {step: "x = 1", plan: "composer('go')"}).plan == "composer('go')"
    assert Attempt(TrialRecord(), {step: "x = 1"}).plan == ""


def test_a_first_trial_proposes_nothing_and_does_not_look_without_replanning(
    stage: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = stage(MISS)

    def unwanted(*_: Any) -> Any:
        raise AssertionError("nothing of this is needed for one trial")

    monkeypatch.setattr(one.world, "view", unwanted)
    monkeypatch.setattr(Replay, "propose", unwanted)
    Replanning().play(one.episode)
    Replanning(1, Replay()).play(one.episode)
    assert outcomes(one) == ["goal", "goal"]


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
    chat = with_roles(one, critique=Reply("  ", model="by role"))
    Replanning(3, Reflection()).play(one.episode)
    assert outcomes(one) == ["goal", "generation", "generation"]
    assert [trial.facts["propose"] for trial in one.episode.trials] == ["llm", "reflect", "reflect"]
    assert ["There was no program" in asked[-1].text for asked in chat.reflections] == [False, False]


def test_resampling_draws_later_trials_at_its_own_temperature(stage: Build) -> None:
    one = stage(MISS)
    chat = with_roles(one)
    Replanning(2, Resample(temperature=0.9)).play(one.episode)
    assert chat.temperatures == [0.0] * 4 + [0.9] * 4
    assert one.episode.trials[1].facts["propose"] == "resample"
    with pytest.raises(ValueError, match="above 0"):
        Resample(temperature=0.0)
