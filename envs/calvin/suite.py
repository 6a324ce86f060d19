"""Which goals are played from which states: the official evaluation's initial conditions as tasks and scenes.

`paper50`: the first tasks of the first 50 official chains. The 50 single tasks of the paper are listed nowhere; this
set takes what the official evaluation asks for first. Scene i of a task is the i-th official chain that begins with
it. `chains`: one task, of which scene i is the i-th official chain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from envs.calvin.chains import Chain, official_chains
from envs.calvin.checkout import Checkout
from envs.chain import INSTRUCTION, LENGTH, words
from harness.failures import UsageError
from harness.protocols import Task
from harness.seeding import derive

SUITES = ("paper50", "chains")
INSTANCES = 50
PARAPHRASES = 5
STEP_LIMIT = 360
"""Control steps for each task of a chain, 12 seconds: the official limit."""
CHAIN = "chain"


@dataclass(frozen=True)
class Goal:
    """What a scene asks for."""

    chain: Chain
    """Where it starts."""
    subtasks: tuple[str, ...]
    """Names of the oracle's tasks, in their order."""
    words: Mapping[str, str]
    """What fills the braces of the instruction."""


def as_tasks(checkout: Checkout, suite: str) -> tuple[Task, ...]:
    """The suite as the harness lists it."""
    if suite == "chains":
        return (Task(CHAIN, (INSTRUCTION,), STEP_LIMIT, sentences=LENGTH),)
    chains = official_chains(checkout)
    asked = Counter(chain.tasks[0] for chain in chains[:INSTANCES])
    validation = checkout.validation_sentences()
    return tuple(
        Task(name, (validation[name], *paraphrases(checkout, name)), STEP_LIMIT, share=asked[name])
        for name in validation
        if asked[name]
    )


def paraphrases(checkout: Checkout, task: str) -> tuple[str, ...]:
    """Five of the task's training sentences, which the seed tree chose once."""
    sentences = dict.fromkeys(checkout.training_sentences()[task])
    drawn = sorted(sentences, key=lambda sentence: derive("calvin", "paraphrase", task, sentence))
    return tuple(drawn[:PARAPHRASES])


def goal(checkout: Checkout, task: str, scene: int) -> Goal:
    """What a scene of a task asks for. Raises `UsageError` for a scene that the official chains do not have."""
    check_scenes(checkout, task, scene + 1)
    chain = _chains_of(checkout, task)[scene]
    if task != CHAIN:
        return Goal(chain, (task,), {})
    sentences = checkout.validation_sentences()
    return Goal(chain, chain.tasks, words(sentences[name] for name in chain.tasks))


def check_scenes(checkout: Checkout, task: str, scenes: int) -> None:
    """Raise `UsageError` where the official chains have not so many scenes of a task."""
    there = len(_chains_of(checkout, task))
    if scenes > there:
        raise UsageError(f"the official chains have {there} scenes of {task}, not {scenes}; lower env.scenes")


@lru_cache(maxsize=64)
def _chains_of(checkout: Checkout, task: str) -> Sequence[Chain]:
    chains = official_chains(checkout)
    return chains if task == CHAIN else [chain for chain in chains if chain.tasks[0] == task]
