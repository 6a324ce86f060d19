"""A cell: one resolved configuration, its identity, its folder and its episodes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from harness import seeding
from harness.chat import roles
from harness.components import build, suggest
from harness.failures import UsageError
from harness.protocols import EnvironmentConfig, Task
from harness.records import EpisodeKey
from harness.schema import IDENTITY_KEYS, SELECTION_KEYS

INSTRUCTION_CHOICES = ("single", "varied", "paraphrased", "all")

_NOT_A_VARIANT = (
    "method=",
    "env=",
    "llm=",
    "hydra.",
    "seed=",
    "name=",
    "run.",
    "record",
    "tracker",
    "cache",
    "budget.usd=",
    "budget.tokens=",
    "budget.calls=",
    "env.tasks=",
    "env.scenes=",
    "+",
)


@dataclass(frozen=True)
class Cell:
    """`config` is the resolved config without Hydra's node; `choices` maps a config group to the name of
    the chosen option; `overrides` are what was typed."""

    config: Mapping[str, Any]
    choices: Mapping[str, str]
    overrides: tuple[str, ...] = ()

    @property
    def method(self) -> str:
        return self.choices["method"]

    @property
    def env(self) -> str:
        return self.choices["env"]

    @property
    def seed(self) -> int:
        return int(self.config["seed"])

    @cached_property
    def identity(self) -> str:
        """Hash of everything in the config that can change a result, and of the files that the method reads."""
        kept = {**self._work, "llm": roles.identity(self.config["llm"])}
        method = self.component("method")
        fingerprint = getattr(method, "fingerprint", None)
        if fingerprint is not None and (contents := fingerprint()):
            kept["contents"] = contents
        order = getattr(method, "order", None)
        if order is not None and (ordered := order(self.episodes(), self.seed)) is not None:
            kept["episodes"] = [str(key) for key in ordered]  # each result hangs on those before
        return _hash(kept)

    @cached_property
    def work(self) -> str:
        """Hash of what the config asks for whatever the model: what a replay has in common with its recording."""
        return _hash(self._work)

    @cached_property
    def context(self) -> str:
        """Hash of what can change a result, but for the method and the seed: cells that share it can be compared."""
        kept = {key: value for key, value in self._work.items() if key not in ("method", "names", "seed")}
        return _hash({**kept, "name": self.env, "llm": roles.identity(self.config["llm"])})

    @cached_property
    def arm(self) -> str:
        """Hash of the context and the method: cells that share it differ in the seed."""
        return _hash({"context": self.context, "name": self.method, "method": self.config["method"]})

    @property
    def variant(self) -> list[str]:
        """What was typed that can tell cells of one method, environment and model apart, beside the seed."""
        return [typed for typed in self.overrides if not typed.startswith(_NOT_A_VARIANT)]

    @property
    def _work(self) -> dict[str, Any]:
        kept = {key: self.config[key] for key in IDENTITY_KEYS if key != "llm"}
        kept["env"] = {key: value for key, value in kept["env"].items() if key not in SELECTION_KEYS}
        kept["names"] = [self.method, self.env]
        limits = self.config["budget"]["episode"]
        if any(limit is not None for limit in limits.values()):
            kept["budget"] = limits
        return kept

    @property
    def folder_name(self) -> str:
        readable = re.sub(r"[^A-Za-z0-9_.]+", "-", f"{self.method}-{self.env}-s{self.seed}")[:80]
        return f"{readable}-{self.identity[:8]}"

    @cached_property
    def env_identity(self) -> str:
        """Cells of the same environment config can share a simulator."""
        node = {key: value for key, value in self.config["env"].items() if key not in SELECTION_KEYS}
        return _hash(node)

    def component(self, group: str) -> Any:
        """Build the light dataclass of a config group; of `llm` that of the roles without a model of their own."""
        node = self.config[group]
        return build(roles.base(node) if group == "llm" else node, group)

    def chat_models(self) -> dict[str, Any]:
        """Build the config of every chat model, by the key at which it stands."""
        return {where: build(node, where) for node, where in roles.each(self.config["llm"])}

    def episodes(self) -> list[EpisodeKey]:
        """The episodes that this command asks for. Raises `UsageError` for an unknown task, a scene
        count below 1 or an unknown choice of instructions."""
        environment: EnvironmentConfig = self.component("env")
        tasks = select_tasks(environment, self.env)
        if environment.scenes < 1:
            raise UsageError(f"env.scenes is {environment.scenes}; it has to be at least 1.")
        keys = []
        for task in tasks:
            for scene in range(environment.scenes * task.share):
                for instruction in _instructions(environment.instructions, self.env, task, scene):
                    keys.append(EpisodeKey(task.name, instruction, scene))
        return keys


def select_tasks(environment: EnvironmentConfig, name: str) -> Sequence[Task]:
    """The environment's tasks in their standard order, narrowed by its `tasks` field."""
    suite = {task.name: task for task in environment.suite()}
    if environment.tasks is None:
        return list(suite.values())
    if not environment.tasks:
        raise UsageError("env.tasks is empty; leave it out for all tasks.")
    for task in environment.tasks:
        if task not in suite:
            raise UsageError(f"Environment {name} has no task `{task}`. {suggest(task, suite)}")
    return [suite[task] for task in dict.fromkeys(environment.tasks)]


def _instructions(choice: str, env: str, task: Task, scene: int) -> Sequence[int]:
    """Which of a task's instructions a scene is played with: the single one, one drawn for the scene from all or from
    the paraphrases, or each of them."""
    count = len(task.instructions)
    if choice == "single":
        return (0,)
    if choice == "varied":
        return (seeding.derive("instruction", env, task.name, scene) % count,)
    if choice == "paraphrased":
        if count == 1:
            raise UsageError(
                f"Task {task.name} of {env} has no paraphrase; env.instructions=single plays it."
            )
        return (1 + seeding.derive("instruction", env, task.name, scene) % (count - 1),)
    if choice == "all":
        return range(count)
    raise UsageError(f"env.instructions is `{choice}`; it can be {', '.join(INSTRUCTION_CHOICES)}.")


def _hash(kept: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(kept, sort_keys=True, default=str).encode()).hexdigest()[:12]


def unique(cells: Sequence[Cell]) -> list[Cell]:
    """Cells that differ; of equal ones (`seed=0,0`) the first, widened by nothing."""
    seen: dict[tuple[str, str], Cell] = {}
    for cell in cells:
        seen.setdefault((cell.identity, str(cell.episodes())), cell)
    return list(seen.values())


def check_name(name: object) -> None:
    """Raise `UsageError` for a `name` that cannot name a folder under outputs/."""
    if not isinstance(name, str) or not name or Path(name).is_absolute() or ".." in Path(name).parts:
        raise UsageError(f"name={name!r} cannot name a folder under outputs/; use letters, digits, - and _.")
