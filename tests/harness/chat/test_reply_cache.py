"""What is kept and what is not, what a key is made of, and what many processes and a kill do to the file."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness import store
from harness.cells import Cell
from harness.chat.cache import CachedModel, ReplyCache, is_whole, problems
from harness.chat.keys import reply_key, request_key, written_down
from harness.failures import ProviderError, UsageError
from harness.play import comparable
from harness.protocols import Message, Reply, Sampling
from harness.sweep import run_cells
from harness.testing.talk import Parrot

MESSAGES = (Message("system", "You count."), Message("user", "Go on.", (b"a picture",)))
REPLY = Reply("one", "stop", "m-1", 5, 2, 0.25, details={"thinking": "hm", "retries": 1})
KEY = "ab" * 32
PARROT = {"_target_": "harness.testing.talk.Parrot"}
TALK = {"_target_": "harness.testing.talk.Talk"}


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[ReplyCache]:
    cache = ReplyCache(tmp_path / "folder" / "cache.sqlite")
    yield cache
    cache.close()


def model(cache: ReplyCache, **parrot: Any) -> CachedModel:
    return CachedModel("llm", {"model": "m"}, cache, Parrot(**parrot).open)


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def test_a_reply_comes_back_whole_and_says_that_it_was_kept(cache: ReplyCache) -> None:
    assert cache.get(KEY) is None
    cache.put(KEY, REPLY)
    assert cache.get(KEY) == replace(REPLY, cached=True)
    cache.put(KEY, replace(REPLY, text="two", cost_usd=None))
    again = cache.get(KEY)
    assert again is not None
    assert (again.text, again.cost_usd) == ("two", None)


def test_one_request_is_sent_once_and_the_model_opened_when_it_is_needed(
    cache: ReplyCache, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    first = model(cache, log=str(log))
    new, kept = (first.complete(MESSAGES, Sampling()) for _ in range(2))
    assert (new.cached, kept.cached, kept) == (False, True, replace(new, cached=True))
    assert len(lines(log)) == 1

    def never() -> Any:
        raise AssertionError("opened for a reply that was kept")

    unopened = CachedModel("llm", {"model": "m"}, cache, never)
    assert unopened.complete(MESSAGES, Sampling()).text == new.text
    unopened.close()


@pytest.mark.parametrize(
    "reply",
    [
        {"text": ""},
        {"text": " \n"},
        {"finish_reason": "length"},
        {"finish_reason": "content_filter"},
        {"finish_reason": "refusal"},
        {"finish_reason": "unknown"},
    ],
)
def test_what_did_not_end_by_itself_or_says_nothing_is_asked_for_again(
    cache: ReplyCache, tmp_path: Path, reply: dict[str, str]
) -> None:
    log = tmp_path / "log"
    asked = model(cache, log=str(log), **reply)
    for _ in range(2):
        assert not asked.complete(MESSAGES, Sampling()).cached
    assert len(lines(log)) == 2
    assert cache.holdings() == []


def test_an_error_is_not_kept_and_frees_its_claim(cache: ReplyCache) -> None:
    with pytest.raises(ProviderError):
        model(cache, down_after=0).complete(MESSAGES, Sampling())
    assert model(cache).complete(MESSAGES, Sampling()).cached is False
    assert is_whole(Reply("x"))


@pytest.mark.parametrize(
    ("messages", "sampling"),
    [
        ((Message("system", "You count!"), MESSAGES[1]), Sampling()),
        ((Message("user", "You count."), MESSAGES[1]), Sampling()),
        (MESSAGES[::-1], Sampling()),
        (MESSAGES[:1], Sampling()),
        ((MESSAGES[0], Message("user", "Go on.", (b"another picture",))), Sampling()),
        ((MESSAGES[0], Message("user", "Go on.", (b"a picture", b"a picture"))), Sampling()),
        ((MESSAGES[0], Message("user", "Go on.")), Sampling()),
        (MESSAGES, Sampling(temperature=0.5)),
        (MESSAGES, Sampling(max_tokens=513)),
        (MESSAGES, Sampling(stop=("#",))),
    ],
)
def test_all_that_is_sent_is_in_the_key(messages: tuple[Message, ...], sampling: Sampling) -> None:
    assert request_key(messages, sampling) != request_key(MESSAGES, Sampling())


def test_the_seed_is_in_the_key_where_something_is_drawn() -> None:
    cold = {request_key(MESSAGES, Sampling(seed=seed)) for seed in range(4)}
    warm = {request_key(MESSAGES, Sampling(temperature=0.2, seed=seed)) for seed in range(4)}
    assert (len(cold), len(warm)) == (1, 4)
    assert request_key(MESSAGES, Sampling(temperature=0)) in cold


def test_the_model_is_in_the_key_and_the_order_of_its_settings_is_not() -> None:
    keys = {
        reply_key(settings, MESSAGES, Sampling())
        for settings in (
            {"model": "a", "base_url": "http://x"},
            {"base_url": "http://x", "model": "a"},
            {"model": "b", "base_url": "http://x"},
            {"model": "a", "base_url": "http://y"},
        )
    }
    assert len(keys) == 3


def test_a_lone_surrogate_in_a_prompt_has_a_key() -> None:
    assert len(request_key([Message("user", "\ud800")], Sampling())) == 64


def test_pictures_are_written_down_by_their_content() -> None:
    plain, shown = written_down(MESSAGES)
    assert plain == {"role": "system", "text": "You count."}
    assert [len(image) for image in shown["images"]] == [32]
    (other,) = written_down([Message("user", "Go on.", (b"another",))])
    assert other["images"] != shown["images"]


@pytest.mark.parametrize(
    "damage",
    [
        "reply = '{'",
        "reply = replace(reply, 'one', 'two')",
        "reply = '[]'",
        "reply = CAST(x'ff7b' AS TEXT)",
        "checksum = ''",
    ],
)
def test_a_damaged_entry_is_asked_for_again_and_mended(
    cache: ReplyCache, tmp_path: Path, damage: str
) -> None:
    good = model(cache, text="one").complete(MESSAGES, Sampling())
    with sqlite3.connect(tmp_path / "folder" / "cache.sqlite") as connection:
        connection.execute(f"UPDATE replies SET {damage}")
    mended = model(cache, text="three").complete(MESSAGES, Sampling())
    assert (good.text, mended.text, mended.cached) == ("one", "three", False)
    assert model(cache, text="four").complete(MESSAGES, Sampling()).text == "three"


def test_a_cache_that_breaks_costs_no_reply(cache: ReplyCache, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "folder" / "cache.sqlite") as connection:
        connection.execute("DROP TABLE replies")
    reply = model(cache).complete(MESSAGES, Sampling())
    assert not reply.cached
    assert "no such table" in reply.details["cache"]
    assert reply.details["thinking"] == "hm"


def test_a_file_that_is_no_cache_is_told_before_anything_runs(
    tmp_path: Path, make_cell: Callable[..., Cell]
) -> None:
    path = tmp_path / "cache.sqlite"
    path.write_text("this is a letter, not a database, and long enough for sqlite to see that " * 20)
    (problem,) = problems(str(path))
    assert "cache=none" in problem.fix
    with pytest.raises(UsageError, match="not a database"):
        run_cells([make_cell(llm=PARROT, cache={"path": str(path)})], tmp_path / "out")
    assert path.read_text().startswith("this is a letter")
    assert problems(None) == []


def test_what_it_holds_and_what_is_dropped(cache: ReplyCache) -> None:
    for number, (name, cost) in enumerate([("a", 0.5), ("a", 0.25), ("b", None), ("b", 1.0)]):
        cache.put(f"{number:064x}", replace(REPLY, model=name, cost_usd=cost))
    held = {holding.model: holding for holding in cache.holdings()}
    assert {name: (one.replies, one.tokens, one.cost_usd) for name, one in held.items()} == {
        "a": (2, 14, 0.75),
        "b": (2, 14, None),
    }
    assert cache.prune("a", time.time() - 60) == 0
    assert cache.prune("a", None) == 2
    assert [holding.model for holding in cache.holdings()] == ["b"]
    assert cache.prune(None, time.time() + 60) == 2
    assert cache.holdings() == []


WRITER = """
import sys
from harness.chat.cache import CachedModel, ReplyCache
from harness.protocols import Message, Sampling
from harness.testing.talk import Parrot
from pathlib import Path
path, log, first, last = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
cache = ReplyCache(Path(path))
model = CachedModel("llm", {}, cache, Parrot(log=log, fickle=True).open)
for number in range(first, last):
    print(model.complete([Message("user", str(number))], Sampling()).text, flush=True)
"""


def write(path: Path, log: Path, first: int, last: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(path), str(log), str(first), str(last)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_processes_that_ask_the_same_at_once_send_it_once_and_hear_the_same(tmp_path: Path) -> None:
    log = tmp_path / "log"
    processes = [write(tmp_path / "cache.sqlite", log, 0, 100) for _ in range(6)]
    heard = [process.communicate(timeout=300)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 6
    assert len(set(heard)) == 1
    assert len(heard[0].splitlines()) == 100
    assert len(lines(log)) == 100


def test_a_killed_writer_leaves_the_file_whole_and_its_claim_free(tmp_path: Path) -> None:
    path, log = tmp_path / "cache.sqlite", tmp_path / "log"
    for _ in range(3):
        process = write(path, log, 0, 100_000)
        assert process.stdout is not None
        for _ in range(20):
            process.stdout.readline()
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    before = len(lines(log))
    assert before >= 20
    again = write(path, log, 0, 20)
    assert len(again.communicate(timeout=300)[0].splitlines()) == 20
    assert len(lines(log)) == before


def rows_of(root: Path) -> dict[str, Any]:
    return {row["episode"]: row for row in store.load(root)}


@pytest.mark.parametrize("workers", [0, 2])
def test_a_sweep_has_the_same_rows_with_and_without_the_cache_and_says_what_was_new(
    tmp_path: Path, make_cell: Callable[..., Cell], workers: int
) -> None:
    def play(name: str, path: str | None) -> dict[str, Any]:
        llm = {**PARROT, "log": str(tmp_path / name)}
        cell = make_cell(
            method={**TALK, "trials": 2}, llm=llm, run={"workers": workers}, cache={"path": path}
        )
        assert run_cells([cell], tmp_path / f"out-{name}").complete
        return rows_of(tmp_path / f"out-{name}")

    path = str(tmp_path / "cache.sqlite")
    uncached, first, second = play("uncached", None), play("first", path), play("second", path)
    # two questions for each of three tasks; scenes and trials ask the same
    assert len(lines(tmp_path / "first")) == 6
    assert lines(tmp_path / "second") == []
    assert len(lines(tmp_path / "uncached")) == sum(row["usage"]["calls"] for row in uncached.values()) > 30
    for key, row in uncached.items():
        assert comparable(row) == comparable(first[key]) == comparable(second[key])
        calls = row["usage"]["calls"]
        assert row["usage"]["cost_usd"] == 0.25 * calls
        assert row["usage"]["roles"] == {"planner": calls}
        assert row["spent"] == {
            "calls": calls, "cached_calls": 0, "tokens": 40 * calls, "cost_usd": 0.25 * calls,
        }  # fmt: skip
        assert second[key]["spent"] == {"calls": 0, "cached_calls": calls, "tokens": 0, "cost_usd": 0.0}


def test_first_trials_of_methods_and_seeds_share_their_replies_at_temperature_0_only(
    tmp_path: Path, make_cell: Callable[..., Cell]
) -> None:
    def play(name: str, temperature: float) -> set[str]:
        cells = [
            make_cell(
                seed=seed, method={**TALK, "trials": trials}, env={"scenes": 1, "size": 1, "rate": 0.0},
                llm={**PARROT, "fickle": True, "log": str(tmp_path / name)},
                sampling={"temperature": temperature}, cache={"path": str(tmp_path / f"{name}.sqlite")},
            )
            for seed in (0, 1)
            for trials in (1, 2)
        ]  # fmt: skip
        assert run_cells(cells, tmp_path / f"out-{name}").complete
        heard = [
            trial["facts"]["heard"] for row in store.load(tmp_path / f"out-{name}") for trial in row["trials"]
        ]
        assert len(heard) == 6
        return {str(answers) for answers in heard}

    assert len(play("cold", 0.0)) == 1
    assert len(lines(tmp_path / "cold")) == 2
    # two seeds, and a second trial in each; the methods share the first
    assert len(play("warm", 0.7)) == 4
    assert len(lines(tmp_path / "warm")) == 8


def test_a_model_that_wants_no_cache_has_none(tmp_path: Path, make_cell: Callable[..., Cell]) -> None:
    path = tmp_path / "cache.sqlite"
    run_cells([make_cell(cache={"path": str(path)})], tmp_path / "out")
    assert not path.exists()
