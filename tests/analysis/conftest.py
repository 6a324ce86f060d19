"""Rows as the harness writes them, for tests of what reads them."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from harness.play import blank_row
from harness.records import EpisodeKey, Spent, Usage
from harness.store import Row

MakeRow = Callable[..., Row]


def _without_seconds(usage: Usage) -> dict[str, Any]:
    return {key: value for key, value in vars(usage).items() if key != "seconds"}


@pytest.fixture
def make_row() -> MakeRow:
    """`make_row(True, scene=3, method="mtp")` is the row of an episode that `mtp` solved on scene 3."""

    def make(
        success: bool = True,
        *,
        method: str = "voxposer",
        env: str = "tabletop",
        task: str = "push_button",
        scene: int = 0,
        seed: int = 0,
        **changes: Any,
    ) -> Row:
        cell: Any = SimpleNamespace(
            method=method, env=env, seed=seed, identity=f"{method}-{seed}", env_identity=env, choices={}
        )
        row = blank_row(cell, EpisodeKey(task, 0, scene), "push the button", "abc", 1)
        row.update(
            status="success" if success else "failure",
            failure=None if success else "goal",
            state_hash=f"{task}-{scene}",
            trial_count=1,
            usage=_without_seconds(Usage(10, 900, 100, 0.5)),
            spent=vars(Spent(10, 0, 1000, 0.5)),
            timings={"seconds": 2.0, "cpu_seconds": 1.0, "chat_seconds": 0.5, "trials": [2.0]},
        )
        return row | changes

    return make
