"""Sweeps through a server: MTP with a model of its own for one role is kept, and replayed when the
server has gone and no key is left; a budget in money stops one where it should."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import store
from harness.cells import Cell
from harness.chat.rules.model import RulesModel
from harness.play import comparable, comparable_to_recording
from harness.sweep import run_cells
from tests.harness.chat.wire import WireServer, answered_by

NO_BUDGET: dict[str, Any] = {"usd": None, "tokens": None, "calls": None, "episode": {}}
MTP = {
    "_target_": "methods.replanning.Replanning",
    "trials": 3,
    "replan": {
        "_target_": "methods.replan.transfer.Transfer",
        "memory": {"_target_": "methods.code_memory.CodeMemory", "sources": ["playtable"]},
        "retriever": {"_target_": "methods.retrieval.RandomRank"},
    },
}


@pytest.mark.slow
def test_mtp_through_a_server_is_kept_and_replays(
    tmp_path: Path, make_cell: Callable[..., Cell], monkeypatch: pytest.MonkeyPatch
) -> None:
    def play(name: str, llm: dict[str, Any], **changes: Any) -> Any:
        tabletop = {
            "_target_": "envs.tabletop.Tabletop",
            "tasks": ["push_button", "beat_the_buzz"],
            "scenes": 1,
        }
        cell = make_cell(method=MTP, env=tabletop, llm=llm, run={"workers": 2}, **changes)
        return run_cells([cell], tmp_path / name)

    def rows(name: str) -> dict[str, dict[str, Any]]:
        return {row["episode"]: row for row in store.load(tmp_path / name)}

    kept = {"cache": {"path": str(tmp_path / "cache.sqlite")}}
    with WireServer() as server:
        server.always = answered_by(RulesModel())
        llm = {
            "_target_": "harness.chat.openai.OpenAIChat",
            **{"model": "gpt-4.1-mini", "base_url": server.url, "prices": "shipped"},
            "roles": {"adapter": {"model": "gpt-4o"}},
        }
        assert play("recorded", llm, **kept).complete
        sent = len(server.bodies)
        assert {body["model"] for body in server.bodies} == {"gpt-4.1-mini", "gpt-4o"}
        assert play("again", llm, **kept).complete
        probes = len(server.bodies) - sent
        assert probes == 2  # one question to each model, and nothing else
    monkeypatch.delenv("OPENAI_API_KEY")
    recorded, again = rows("recorded"), rows("again")
    assert {key: comparable(row) for key, row in again.items()} == {
        key: comparable(row) for key, row in recorded.items()
    }
    assert sum(row["spent"]["calls"] for row in again.values()) == 0
    assert sum(row["usage"]["roles"].get("adapter", 0) for row in recorded.values()) > 0
    replay = {"_target_": "harness.chat.replay.Replay", "from": str(tmp_path / "recorded")}
    assert play("replayed", replay).complete
    assert {key: comparable_to_recording(row) for key, row in rows("replayed").items()} == {
        key: comparable_to_recording(row) for key, row in recorded.items()
    }


def test_a_sweep_stops_at_its_budget_in_money_and_goes_on(
    tmp_path: Path, make_cell: Callable[..., Cell], server: WireServer
) -> None:
    llm = {"_target_": "harness.chat.openai.OpenAIChat", "model": "gpt-4.1-mini", "base_url": server.url}
    llm["prices"] = str(tmp_path / "prices.yaml")
    (tmp_path / "prices.yaml").write_text("gpt-4.1-mini: {input: 500, output: 500}\n")
    method = {"_target_": "harness.testing.talk.Talk", "calls": 1}
    limited = {**NO_BUDGET, "usd": 0.01}
    result = run_cells([make_cell(llm=llm, method=method, budget=limited)], tmp_path / "out")
    spent = [row["spent"]["cost_usd"] for row in store.load(tmp_path / "out")]
    assert sum(spent) >= 0.01 > sum(spent[:-1])
    assert not result.complete
    assert "budget.usd=0.01 is reached" in result.cells[0].stopped
    assert run_cells([make_cell(llm=llm, method=method)], tmp_path / "out").complete
    assert len(store.load(tmp_path / "out")) == 15
