"""The chat layer as a user meets it on the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness import store
from harness.chat.cache import ReplyCache
from harness.protocols import Reply

PROJECT = Path(__file__).resolve().parent.parent.parent.parent
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """`run("budget.calls=7", into="mine")` plays a method that talks, with a model from a group of its own."""
    for group, target in (("method", "Talk"), ("llm", "Parrot")):
        folder = tmp_path / "conf" / group
        folder.mkdir(parents=True)
        keys = {
            "method": "trials: 1\nasked: [planner]\n",
            "llm": "model: parrot-1\nlog: ''\ncost_usd: 0.25\n",
        }[group]
        (folder / f"{target.lower()}.yaml").write_text(f"_target_: harness.testing.talk.{target}\n{keys}")

    def play(*arguments: str, into: str = "out") -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "run.py", "-m", "method=talk", "env=noop", "run.workers=1"]
        search = f"hydra.searchpath=[file://{tmp_path}/conf,pkg://harness.testing.conf]"
        command += [search, f"hydra.sweep.dir={tmp_path / into}", *arguments]
        environment = {**os.environ, "COLUMNS": "200"}
        return subprocess.run(
            command, cwd=PROJECT, capture_output=True, text=True, env=environment, timeout=600
        )

    return play


def test_a_sweep_is_recorded_and_replayed(tmp_path: Path, run: Run) -> None:
    assert run("llm=parrot", "cache=none").returncode == 0
    again = run("llm=replay", f"llm.from={tmp_path / 'out'}", into="again")
    assert again.returncode == 0, again.stderr
    assert {row["llm"] for row in store.load(tmp_path / "again")} == {"replay"}
    heard = [[row["trials"] for row in store.load(tmp_path / name)] for name in ("out", "again")]
    assert heard[0] == heard[1]
    differs = run("llm=replay", f"llm.from={tmp_path / 'out'}", "sampling.max_tokens=9", into="differs")
    assert differs.returncode == 1
    assert "-max_tokens: 512\n+max_tokens: 9\n stop: []\n" in differs.stderr
    assert "14 not played. the sweep stopped at error replay of " in differs.stderr


def test_a_budget_ends_a_sweep_with_what_to_do_and_the_cache_pays_for_the_rest(
    tmp_path: Path, run: Run
) -> None:
    cache = f"cache.path={tmp_path / 'cache.sqlite'}"
    first = run("llm=parrot", cache, "budget.usd=0.5")
    assert first.returncode == 1
    assert "budget.usd=0.5 is reached (0.5 used); run the same command with a larger budget" in first.stderr
    assert "parrot-1" in first.stdout and "budget.usd" not in first.stdout
    assert len(store.load(tmp_path / "out")) < 15
    assert run("llm=parrot", cache, "budget.usd=1.75").returncode == 0  # six calls are new
    assert sum(row["spent"]["cost_usd"] for row in store.load(tmp_path / "out")) == 1.5


def test_another_model_for_one_role(tmp_path: Path, run: Run) -> None:
    done = run("llm=parrot", "cache=none", "llm.roles.planner.model=one,two")
    assert done.returncode == 0, done.stderr
    assert {tuple(row["models"]) for row in store.load(tmp_path / "out")} == {("one",), ("two",)}
    wrong = run("llm=parrot", "cache=none", "llm.roles.planer.model=one", into="wrong")
    assert wrong.returncode == 2
    assert "Did you mean planner?" in wrong.stderr


def test_the_cache_is_listed_and_pruned(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    cache = ReplyCache(path)
    for number, model in enumerate(("m-1", "m-1", "m-2")):
        cost = None if model == "m-2" else 1.25
        cache.put(
            f"{number:064x}", Reply("x", model=model, prompt_tokens=4, completion_tokens=3, cost_usd=cost)
        )
    cache.close()

    def command(*arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "harness", "cache", *arguments, "--path", str(path)],
            cwd=PROJECT, capture_output=True, text=True, env={**os.environ, "COLUMNS": "200"},
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    status, listed = command("list")
    assert status == 0
    rows = [line.split() for line in listed.splitlines()]
    assert [row[:4] for row in rows[1:]] == [["m-1", "2", "14", "$2.50"], ["m-2", "1", "7", "unknown"]]
    assert command("prune")[0] == 2
    assert command("prune", "--all", "--model", "m-1")[0] == 2
    for days in ("nan", "inf", "-1"):  # SQLite takes a nan for nothing, which is any age
        assert command("prune", "--days", days)[0] == 2
    assert command("prune", "--days", "1")[1].startswith("0 replies dropped, 3 left")
    assert command("prune", "--model", "m-1")[1].startswith("2 replies dropped, 1 left")
    assert command("prune", "--all")[1].startswith("1 replies dropped, 0 left")
    assert "is empty" in command("list")[1]
    path.unlink()
    assert command("list") == (2, f"There is no cache at {path}; name its file with --path.\n")
