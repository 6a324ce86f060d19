"""Whole sweeps whose chat model is behind a server on loopback: real workers, real rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import store
from harness.cells import Cell
from harness.chat.rules.model import RulesModel
from harness.failures import UsageError
from harness.sweep import run_cells
from tests.harness.chat.openai.conftest import KEY, Clock
from tests.harness.chat.wire import (
    Answer,
    Exchange,
    WireServer,
    answered_by,
    fails,
    out_of_quota,
    refuses,
    says,
)

MakeCell = Callable[..., Cell]
ASKING = {"_target_": "tests.harness.chat.openai.asking.Asking"}
SCRIPTED = {
    "method": {"_target_": "methods.replanning.Replanning", "trials": 1, "replan": None},
    "env": {"_target_": "envs.tabletop.Tabletop", "tasks": ["push_button"], "scenes": 1},
}


def llm(server: WireServer, **keys: Any) -> dict[str, Any]:
    model = {"model": "gpt-4.1-mini", "base_url": server.url, "prices": "shipped"}
    return {"_target_": "harness.chat.openai.OpenAIChat", **model, **keys}


def rows(folder: Path) -> dict[str, dict[str, Any]]:
    return {row["episode"]: row for row in store.load(folder)}


def everything(folder: Path) -> str:
    return "\n".join(p.read_bytes().decode(errors="replace") for p in folder.rglob("*") if p.is_file())


@pytest.mark.slow
def test_the_wire_changes_nothing_that_a_method_sees(
    server: WireServer, make_cell: MakeCell, tmp_path: Path
) -> None:
    """The rules behind the server and in the process give the same episode: prompts, pictures, sampling and replies
    come through as they are."""
    server.always = answered_by(RulesModel())
    run_cells([make_cell(llm=llm(server), **SCRIPTED)], tmp_path / "wire")
    run_cells([make_cell(**SCRIPTED)], tmp_path / "here")
    (over_wire,), (here,) = rows(tmp_path / "wire").values(), rows(tmp_path / "here").values()
    for key in ("status", "failure", "reason", "trials", "steps", "state_hash", "models"):
        assert over_wire[key] == here[key], key
    for key in ("calls", "prompt_tokens", "completion_tokens"):
        assert over_wire["usage"][key] == here["usage"][key] > 0
    assert over_wire["usage"]["cost_usd"] > 0  # gpt-4.1-mini was asked for, at its price


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_the_key_is_written_nowhere(
    workers: int, server: WireServer, make_cell: MakeCell, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Some servers repeat the key in their errors."""

    def answer(exchange: Exchange) -> None:
        asked = json.dumps(exchange.body)
        wrong: dict[str, Answer] = {"task0": fails(401, f"No such key: {exchange.headers['Authorization']}")}
        wrong["task1"] = fails(400, f"Bad request by {KEY}")
        if "seed" in exchange.body:
            return fails(400, f"Unsupported parameter: 'seed' ({KEY})", param="seed")(exchange)
        return next((wrong[task] for task in wrong if task in asked), says("x = 1"))(exchange)

    server.always = answer
    cell = make_cell(method=ASKING, llm=llm(server), run={"workers": workers, "max_errors": 99})
    result = run_cells([cell], tmp_path)
    found = rows(tmp_path)
    errors = {key: row["reason"] for key, row in found.items() if row["status"] == "error"}
    assert len(errors) >= 2
    assert any("401: No such key: Bearer ***" in reason for reason in errors.values())
    assert len(found) > len(errors)
    assert set(server.keys) == {f"Bearer {KEY}"}
    printed = capfd.readouterr()
    # What processes share of the model lies below that folder as well.
    assert KEY not in everything(tmp_path) + printed.out + printed.err + repr(result)


def test_refused_parameters_cost_one_request_each(
    server: WireServer, make_cell: MakeCell, tmp_path: Path
) -> None:
    server.always = refuses(["max_tokens", "temperature"], says("x = 1"))
    run_cells([make_cell(method=ASKING, llm=llm(server))], tmp_path)
    found = rows(tmp_path)
    assert all(row["status"] in ("success", "failure") for row in found.values())
    assert len(server.bodies) == 2 + 1 + len(found)  # two refusals, the probe, and a call an episode
    assert "'dropped': ['temperature']" in everything(tmp_path).replace('"', "'")
    counted = [trial["events"] for row in found.values() for trial in row["trials"]]
    assert counted == [{"planner: the model refuses temperature, which was left out": 1}] * len(found)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (fails(401, f"Incorrect API key provided: {KEY}"), r"401: Incorrect API key provided: \*\*\*"),
        (fails(404, "The model `gpt-4.1-mini` does not exist"), "does not exist. Check llm.model"),
        (out_of_quota(), "exceeded your current quota"),
    ],
)
def test_what_every_call_would_meet_is_told_before_anything_runs(
    server: WireServer, make_cell: MakeCell, tmp_path: Path, answer: Answer, message: str
) -> None:
    server.always = answer
    with pytest.raises(UsageError, match=message) as caught:
        run_cells([make_cell(method=ASKING, llm=llm(server))], tmp_path)
    assert KEY not in str(caught.value)
    assert len(server.bodies) == 1
    assert rows(tmp_path) == {}


def test_a_quota_that_runs_out_stops_the_sweep(
    server: WireServer, make_cell: MakeCell, tmp_path: Path
) -> None:
    server.script += [says("OK"), says("x = 1")]
    server.always = out_of_quota()
    result = run_cells([make_cell(method=ASKING, llm=llm(server))], tmp_path)
    found = rows(tmp_path)
    assert [row["error"] for row in found.values() if row["status"] == "error"] == ["quota"]
    assert "the sweep stopped at error quota of " in result.cells[0].stopped
    assert len(server.bodies) == 3


def test_a_provider_that_dies_and_comes_back_costs_nothing(
    server: WireServer, make_cell: MakeCell, tmp_path: Path, clock: Clock
) -> None:
    """Episodes that met the outage are errors, never failures; the same command plays them and keeps the others."""
    cell = make_cell(method=ASKING, llm=llm(server), env={"scenes": 2})

    def dies(exchange: Exchange) -> None:
        exchange.close_connection = True
        server.stop()

    server.script += [says("OK"), says("x = 1"), dies]
    run_cells([cell], tmp_path)
    before = rows(tmp_path)
    lost = [key for key, row in before.items() if row["status"] == "error"]
    assert len(lost) == len(cell.episodes()) - 1
    assert {before[key]["error"] for key in lost} == {"provider"}
    with WireServer(port=server.port) as again:
        result = run_cells([cell], tmp_path)
        assert len(again.bodies) == 1 + len(lost)  # the probe, and what was lost
    assert result.complete
    after = rows(tmp_path)
    (kept,) = before.keys() - lost
    assert after[kept] == before[kept]
    assert all(row["status"] in ("success", "failure") for row in after.values())


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (says(None, "length", {"reasoning_content": "so"}), "cut off"),
        (says("x = np.zer", "length"), "cut off"),
        (says(""), "is empty"),
        (says("<think>on and on"), "is empty"),
        (says(None, message={"refusal": "I cannot."}), "refused"),
        (says("", "content_filter"), "refused"),
    ],
)
def test_a_reply_that_cannot_be_used_is_the_models_failure(
    server: WireServer, make_cell: MakeCell, tmp_path: Path, answer: Answer, reason: str
) -> None:
    server.always = answer
    run_cells([make_cell(method=ASKING, llm=llm(server), env={"rate": 0.0})], tmp_path)
    for row in rows(tmp_path).values():
        assert (row["status"], row["failure"]) == ("failure", "generation")
        assert reason in row["reason"]
