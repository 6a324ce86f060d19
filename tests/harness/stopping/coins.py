"""Sweeps of methods that succeed by chance, with chances that are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.cells import Cell
from harness.protocols import Task
from harness.testing.noop import NoopEnv
from tests.harness.conftest import NOOP

COIN = "harness.testing.noop.Coin"


@dataclass(frozen=True)
class UnequalShares(NoopEnv):
    """The second task has three scenes for one of the others."""

    def suite(self) -> Sequence[Task]:
        return [replace(task, share=3 if task.name == "task1" else 1) for task in super().suite()]


def cell(name: str, seed: int = 0, typed: Sequence[str] = (), **changes: Mapping[str, Any]) -> Cell:
    """A cell of a no-op method that is called `name`, in a sweep that stops sequentially."""
    config = {
        key: {**value, **changes.get(key, {})} if isinstance(value, dict) else value
        for key, value in NOOP.items()
    }
    config["seed"] = seed
    config["run"] = {**config["run"], "stop": "sequential", **changes.get("run", {})}
    config["record"] = {**config["record"], "trace": False}
    return Cell(config, {"method": name, "env": "noop", "llm": "rules"}, (f"method={name}", *typed))


def coins(
    rates: Mapping[str, float],
    seeds: Sequence[int] = (0,),
    salt: int = 0,
    scenes: int = 20,
    slow: float = 0.0,
    **run: Any,
) -> list[Cell]:
    """A cell for each method and seed, with the chance that it succeeds, on three tasks. `run` are keys of the run."""
    methods = {
        name: {"_target_": COIN, "rate": rate, "salt": 1000 * salt + number, "slow": slow}
        for number, (name, rate) in enumerate(rates.items())
    }
    return [
        cell(name, seed, method=method, env={"scenes": scenes}, run=run)
        for name, method in methods.items()
        for seed in seeds
    ]
