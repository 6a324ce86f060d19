"""What a method is handed to be asked over HTTP instead of playing episodes: its models, where its state lies, and its
address. A method that can be served has `serve`; `harness.commands.serve` composes the config and calls it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from harness.cells import Cell
from harness.chat import cache, roles
from harness.chat.models import OpenModels
from harness.components import suggest
from harness.failures import HarnessError, UsageError
from harness.preflight import probe, text
from harness.protocols import ChatModel, Message, Reply, Sampling
from harness.records import EpisodeKey
from harness.seeding import Seeds


@dataclass(frozen=True)
class Service:
    """Several threads may ask at once."""

    method: str
    """The name of its config."""
    llm: str
    models: Mapping[str, ChatModel]
    """By role."""
    sampling: Sampling
    seed: int
    folder: Path
    """Of the method's state; it need not exist."""
    host: str
    port: int
    """0: any that is free."""

    @property
    def needs_words(self) -> bool:
        """Whether one of the models knows what a picture shows only from words beside it."""
        from harness.chat.rules.model import RulesModel

        return any(isinstance(model, RulesModel) for model in self.models.values())

    def ask(self, task: str, role: str, messages: Sequence[Message], max_tokens: int) -> Reply:
        """Ask the chat model that plays `role`; what it draws hangs on the task. Raises `ProviderError`."""
        seed = Seeds("service", task, 0, self.seed).sampling(role)
        sampling = Sampling(self.sampling.temperature, max_tokens, self.sampling.stop, seed)
        return self.models[role].complete(messages, sampling)


@runtime_checkable
class Servable(Protocol):
    """A method that can be served."""

    @property
    def roles(self) -> Sequence[str]:
        """For which it asks chat models."""
        ...

    def serve(self, service: Service) -> None:
        """Until it is interrupted. Raises `UsageError` for what cannot be served as it is."""
        ...


def composed(overrides: Sequence[str]) -> Cell:
    """The cell that `run.py` would play with these overrides. Raises `UsageError`."""
    from hydra import compose, initialize_config_module
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    from harness.cli import explain
    from harness.compose import split_hydra, to_plain

    try:
        with initialize_config_module("conf", version_base="1.3"):
            whole = compose("config", overrides=list(overrides), return_hydra_config=True)
        config, choices = split_hydra(whole)
        return Cell(to_plain(config), choices, tuple(overrides))
    except (HydraException, OmegaConfBaseException) as error:
        raise UsageError(explain(error)) from error


def method_of(cell: Cell) -> Servable:
    """The method that a config names. Raises `UsageError` for one that cannot be served, or not with this config."""
    method = cell.component("method")
    if not isinstance(method, Servable):
        raise UsageError(
            f"method={cell.method} cannot be served: it only plays episodes. Serve one that plans for a robot, such as "
            "method=hime."
        )
    if limits := list(_given(cell.config["budget"], "budget")):
        raise UsageError(f"{limits[0]} counts in sweeps only: a server keeps to no budget. Leave it out.")
    if unknown := sorted(set(roles.entries(cell.config["llm"])) - set(method.roles)):
        raise UsageError(
            f"llm.roles.{unknown[0]}: nothing in method={cell.method} asks for this role. "
            f"{suggest(unknown[0], method.roles)}"
        )
    return method


def open_models(cell: Cell, asked: Sequence[str], opened: OpenModels) -> Mapping[str, ChatModel]:
    """The chat models for these roles, open and behind the cache where it is on. Raises `UsageError` for one that cannot
    answer."""
    models = cell.chat_models()
    problems = [
        f"{where}: {text(problem)}" for where, model in models.items() for problem in model.problems()
    ]
    problems += [f"embedder: {text(problem)}" for problem in cell.component("embedder").problems()]
    if any(roles.is_cached(model) for model in models.values()):
        problems += [text(problem) for problem in cache.problems(cell.config["cache"]["path"])]
    if problems:
        raise UsageError("This cannot be served here:\n" + "\n".join(f"  - {line}" for line in problems))
    probe([cell])
    model_of = opened.of(cell, EpisodeKey("service", 0, 0))
    try:
        return {role: model_of(role) for role in asked}
    except HarnessError as error:
        raise UsageError(f"llm={cell.choices['llm']} cannot be served: {error}") from error


def _given(node: Mapping[str, Any], where: str) -> Sequence[str]:
    """Keys that have a value."""
    found: list[str] = []
    for key, value in node.items():
        if isinstance(value, Mapping):
            found += _given(value, f"{where}.{key}")
        elif value is not None:
            found.append(f"{where}.{key}")
    return found
