"""Whole episodes in the household by physics, with the rules' model: what it is asked names no task, so other names and other
words change nothing, and what a variant forgets it cannot do."""

from __future__ import annotations

from typing import Any

import pytest

from envs.household import Household
from harness.chat.rules.model import RulesModel
from harness.embedding import Lexical
from harness.episode import Episode
from harness.records import EpisodeKey, TrialRecord
from harness.sandbox import Sandbox
from harness.seeding import Seeds
from methods.executors.scripted import Scripted
from methods.hime.hierarchy import Hierarchy
from methods.hime.planners import Transient, WithMemory
from methods.hime.triggers import Periodic, Sentry

RENAMED = {
    "left box": "teal crate",
    "middle box": "maroon crate",
    "right box": "navy crate",
    "chest": "laundry basket",
    "left mat": "rose rug",
    "middle mat": "azure rug",
    "right mat": "lime rug",
}

pytestmark = pytest.mark.slow


def play(method: Any, task: str, scene: int, wording: int = 0, **world: Any) -> TrialRecord:
    config = Household(**world)
    env = config.open()
    try:
        episode = Episode(
            key=EpisodeKey(task, wording, scene),
            task=next(known for known in config.suite() if known.name == task),
            env=env,
            seeds=Seeds("household", task, scene, 100),
            models=lambda role: RulesModel(),
            sandbox=Sandbox(),
            trace=lambda event, **data: None,
        )
        method.play(episode)
    finally:
        env.close()
    return episode.trials[0]


@pytest.fixture(scope="module")
def hime() -> Hierarchy:
    return Hierarchy(WithMemory(Lexical()), Sentry(), Scripted())


def test_a_memory_brings_every_toy_back_and_the_present_alone_does_not(hime: Hierarchy) -> None:
    with_memory = play(hime, "rearrangement", 0)
    assert with_memory.subtasks_done >= 5
    hits = with_memory.facts["memory"]
    assert hits["needed"] >= 2 and hits["in_store"] >= hits["retrieved"] >= 2
    without = play(Hierarchy(Transient(), Periodic(), Scripted()), "rearrangement", 0)
    assert without.subtasks_done < with_memory.subtasks_done
    assert "memory" not in without.facts


@pytest.mark.parametrize(("task", "wording"), [("object_search", 1), ("rearrangement", 2)])
def test_other_names_and_other_words_are_no_hindrance(hime: Hierarchy, task: str, wording: int) -> None:
    assert play(hime, task, 1, wording, rename=RENAMED).subtasks_done >= 5
