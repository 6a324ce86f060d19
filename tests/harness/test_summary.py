from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.cells import Cell
from harness.store import Digest
from harness.summary import show, summarise, unpaired_scenes
from harness.sweep import CellResult, SweepResult

MakeCell = Callable[..., Cell]

BASE = Digest(
    episode="t-s0-i0",
    task="t",
    scene=0,
    status="success",
    failure=None,
    error=None,
    reason="",
    state_hash="aa",
    code="c",
    models=("rules-1",),
    trials=1,
    calls=2,
    tokens=30,
    cost_usd=0.25,
    seconds=1.5,
    trace=None,
)


def result(cell: Cell, *digests: Digest, wanted: int | None = None) -> CellResult:
    rows = {f"e{i}": replace(digest, episode=f"e{i}") for i, digest in enumerate(digests)}
    names = [f"e{i}" for i in range(wanted if wanted is not None else len(digests))]
    return CellResult(cell, Path("out/cell"), names, rows)


FAILED = replace(BASE, status="failure", failure="motion", trials=3)
ERROR = replace(BASE, status="error", error="provider", reason="429 too many", models=(), calls=0, tokens=0)


def test_errors_are_shown_beside_the_rate_and_never_counted_in_it(make_cell: MakeCell) -> None:
    """cases.md RES-01: 10 ok, 5 failures, 4 errors of ours are 10 of 15."""
    cell = result(make_cell(), *[BASE] * 10, *[FAILED] * 5, *[ERROR] * 4, wanted=20)
    (line,) = summarise([cell])
    assert (line.successes, line.episodes, line.errors, line.unplayed) == (10, 15, 4, 1)
    assert line.rate == pytest.approx(2 / 3)
    assert line.interval == pytest.approx((0.384, 0.882), abs=1e-3)
    assert line.failures == {"motion": 5}
    assert (line.calls, line.tokens, line.cost_usd, line.solved_by) == (30, 450, 3.75, (10, 10, 10))
    assert not cell.complete


def test_seeds_are_pooled_and_variants_are_not(make_cell: MakeCell) -> None:
    plain = [result(make_cell(seed=seed), BASE) for seed in (0, 1)]
    varied = make_cell(env={"rate": 0.9})
    lines = summarise(
        [*plain, result(Cell(varied.config, varied.choices, ("env.rate=0.9", "seed=0")), FAILED)]
    )
    assert [(line.method, line.seeds, line.episodes) for line in lines] == [
        ("noop", 2, 2),
        ("noop (env.rate=0.9)", 1, 1),
    ]


def test_what_all_cells_have_is_said_once(make_cell: MakeCell, capsys: pytest.CaptureFixture[str]) -> None:
    cells = [
        Cell(cell.config, cell.choices, ("env.rate=0.9", f"sampling.temperature={heat}", f"seed={seed}"))
        for heat in (0, 1)
        for seed in (0, 1)
        for cell in [make_cell(seed=seed)]
    ]
    results = [result(cell, BASE) for cell in cells]
    assert [line.method for line in summarise(results)] == [
        "noop (sampling.temperature=0)",
        "noop (sampling.temperature=1)",
    ]
    show(SweepResult(Path("out"), results))
    assert "For all: env.rate=0.9\n" in capsys.readouterr().out


def test_two_models_are_two_lines(make_cell: MakeCell) -> None:
    one, other = make_cell(), make_cell(seed=1)
    other = Cell(other.config, {**other.choices, "llm": "openai"}, ("llm=openai",))
    lines = summarise([result(one, BASE), result(other, replace(BASE, models=("gpt",)))])
    assert [(line.llm, line.episodes) for line in lines] == [(BASE.models[0], 1), ("gpt", 1)]


def test_an_unknown_price_makes_the_cost_unknown(make_cell: MakeCell) -> None:
    (line,) = summarise([result(make_cell(), BASE, replace(BASE, cost_usd=None))])
    assert line.cost_usd is None


def test_nothing_but_errors_has_no_rate(make_cell: MakeCell, capsys: pytest.CaptureFixture[str]) -> None:
    cell = result(make_cell(), ERROR)
    (line,) = summarise([cell])
    assert line.rate is None
    show(SweepResult(Path("out"), [cell]))
    printed = capsys.readouterr()
    assert "0.0 %" not in printed.out
    assert "1 of 1 cells are not complete" in printed.err
    assert "e0: provider: 429 too many" in printed.err


def test_the_table_shows_the_numbers(make_cell: MakeCell, capsys: pytest.CaptureFixture[str]) -> None:
    show(SweepResult(Path("out"), [result(make_cell(), BASE, FAILED, FAILED)]))
    _, row, model, *_ = capsys.readouterr().out.splitlines()
    assert model == "Model: rules-1"
    assert row.split() == [
        "noop",
        "noop",
        "1",
        "3",
        "33.3",
        "%",
        "1",
        "to",
        "91",
        "0",
        "33",
        "33",
        "33",
        "6",
        "90",
        "$0.75",
        "1.50",
        "motion",
        "2",
    ]


def test_a_long_name_of_a_model_breaks_no_line_where_all_have_the_same(
    make_cell: MakeCell, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "qwen2.5-coder-1.5b-instruct-q4_k_m cc324af070c2 xllamacpp-0.1.23 2 threads"
    one, other = make_cell(), make_cell(env={"rate": 0.9})
    varied = Cell(other.config, other.choices, ("rate=.9",))
    named = replace(BASE, models=(name,))
    show(SweepResult(Path("out"), [result(one, named), result(varied, named)]))
    heads, first, second, model, *_ = capsys.readouterr().out.splitlines()
    assert "model" not in heads
    assert first.startswith("noop ")
    assert second.startswith("noop (rate=.9) ")
    assert model == f"Model: {name}"
    show(SweepResult(Path("out"), [result(one, named), result(varied, BASE)]))
    printed = capsys.readouterr().out
    assert "model" in printed.splitlines()[0]
    assert "Model:" not in printed
    assert "rules-1" in printed


@pytest.mark.parametrize("typed", ["memory.sources=[a,b]", "memory.sources=[/a/b]"])
def test_brackets_in_an_override_are_shown(
    make_cell: MakeCell, capsys: pytest.CaptureFixture[str], typed: str
) -> None:
    cell = make_cell()
    show(SweepResult(Path("out"), [result(Cell(cell.config, cell.choices, (typed,)), BASE)]))
    assert typed in "".join(capsys.readouterr().out.split())


def test_scenes_that_were_not_the_same_for_all_are_named(make_cell: MakeCell) -> None:
    same = [result(make_cell(seed=seed), BASE) for seed in (0, 1)]
    assert unpaired_scenes(same) == []
    other = result(make_cell(seed=2), replace(BASE, state_hash="bb"))
    assert unpaired_scenes([*same, other]) == ["t scene 0"]


def test_what_each_further_trial_adds_is_shown(make_cell: MakeCell) -> None:
    """Two solved at once, one in the second trial, one in the third, one never."""
    trials = [replace(BASE, trials=n) for n in (1, 1, 2, 3)]
    (line,) = summarise([result(make_cell(), *trials, FAILED)])
    assert line.solved_by == (2, 3, 4)
    assert line.rate == pytest.approx(4 / 5)


def test_chains_show_how_many_sentences_are_done_in_a_row(
    make_cell: MakeCell, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        replace(BASE, status="success" if done == 5 else "failure", chain=(done, 5)) for done in (5, 2, 2, 0)
    ]
    cells = [result(make_cell(), *rows, replace(ERROR, chain=(4, 5)))]
    (line,) = summarise(cells)
    assert line.in_a_row == (3, 3, 1, 1, 1)
    show(SweepResult(Path("out"), cells))
    printed = " ".join(capsys.readouterr().out.split())
    assert (
        "sentences in a row: 1: 75.0 %, 2: 75.0 %, 3: 25.0 %, 4: 25.0 %, 5: 25.0 %; average length 2.25"
        in printed
    )
    show(SweepResult(Path("out"), [result(make_cell(), BASE)]))
    assert "in a row" not in capsys.readouterr().out
