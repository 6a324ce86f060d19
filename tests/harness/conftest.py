"""Cells of the no-op environment and method, for tests of the engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.cells import Cell

NOOP: dict[str, Any] = {
    "name": "test",
    "seed": 0,
    "method": {"_target_": "harness.testing.noop.NoopMethod"},
    "env": {"_target_": "harness.testing.noop.NoopEnv"},
    "llm": {"_target_": "harness.chat.rules.Rules"},
    "embedder": {"_target_": "harness.embedding.Lexical"},
    "image_embedder": {"_target_": "harness.embedding.ColourLayout"},
    "memory": {"_target_": "methods.code_memory.CodeMemory"},
    "retriever": {"_target_": "methods.retrieval.RandomRank"},
    "tracker": {"_target_": "harness.trackers.NoTracker"},
    "record": {"trace": True, "images": False, "video": "none", "camera": "front", "fps": 10.0},
    "run": {"workers": 0, "episode_timeout": 600.0, "retries": 1, "max_errors": 5, "fail_fast": False},
    "sampling": {"temperature": 0.0, "max_tokens": 512},
    "sandbox": {"seconds": 5.0, "memory_mb": 1024, "output_chars": 10000, "api_calls": 2000},
    "cache": {"path": None},
    "budget": {
        "usd": None,
        "tokens": None,
        "calls": None,
        "episode": {"usd": None, "tokens": None, "calls": None},
    },
}


@pytest.fixture
def make_cell() -> Callable[..., Cell]:
    """`make_cell(seed=1, env={"scenes": 2}, run={"workers": 2})` changes keys of a no-op cell."""

    def make(**changes: Any) -> Cell:
        config: dict[str, Any] = {}
        for key, value in NOOP.items():
            change = changes.get(key)
            config[key] = (
                {**value, **change} if isinstance(change, dict) else value if change is None else change
            )
        choices = {
            "method": "noop",
            "env": "noop",
            "llm": "rules",
            "embedder": "lexical",
            "image_embedder": "colour_layout",
            "tracker": "none",
        }
        return Cell(config, choices, ())

    return make
