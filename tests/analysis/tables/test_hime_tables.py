"""HiMe's tables from rows with facts: each metric counted by hand, rows that do not say it, and which cells belong to which
table where an experiment holds other rounds, windows and models, too."""

from __future__ import annotations

import csv
import io
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from analysis import items, rows
from analysis.statistics import ratios
from analysis.statistics.ratios import Sums
from analysis.tables import latex, layout, markdown, page, spreadsheet
from analysis.tables.entries import Computed, Entry, compute
from harness.failures import UsageError
from harness.store import CELL, ROWS
from tests.analysis.tables.conftest import a_row, write_cell

TASKS = ("object_search", "counting", "rearrangement")


def facts(**changes: Any) -> dict[str, Any]:
    """Of an episode in which the planner was asked three times and the Sentry five times."""
    return {
        "mode": "async",
        "planner_calls": 3,
        "planner_requests": 6,
        "planner_seconds": [1.0, 2.0, 3.0],
        "planner_tokens": [10, 20, 60],
        "causes": {"instruction": 1, "done": 2},
        "sentry_checks": 5,
        "sentry": {
            "checks": {"tp": 2, "fp": 1, "fn": 1, "tn": 0, "unknown": 1},
            "subtasks": {"tp": 2, "fp": 0, "fn": 0, "tn": 1, "unknown": 1},
        },
        "memory": {"needed": 2, "in_store": 2, "retrieved": 1},
        "memory_sizes": [1, 2, 6],
    } | changes


def write(
    root: Path,
    *told: dict[str, Any] | None,
    method: str = "hime",
    seed: int = 0,
    status: str = "failure",
    done: int = 3,
    rounds: int | None = None,
    window: int | None = 8,
    llm: dict[str, Any] | None = None,
    task: str | None = None,
) -> Path:
    """A cell whose episodes say this, in turns over the tasks (or of one task) with six subtasks each; None: no facts."""
    trigger = {"every": 10} if window is None else {"every": 10, "window": window}
    variant = f"{rounds}-{window}-{(llm or {}).get('roles', '')}"
    folder = write_cell(root, method, "household", seed, {}, variant=variant.replace("/", "_"))
    described = json.loads((folder / CELL).read_text())
    described["config"] |= {
        "method": {"planner": {"embedder": {"kind": "lexical"}}, "trigger": trigger},
        "env": {"rounds": rounds, "scenes": 7, "tasks": None, "instructions": "single"},
        "llm": llm or {"_target_": "harness.chat.rules.Rules", "roles": {}},
    }
    described["choices"]["llm"] = "openai" if llm else "rules"
    (folder / CELL).write_text(json.dumps(described))
    name = described["cell"]
    with (folder / ROWS).open("a") as file:
        for i, found in enumerate(told):
            row = a_row(name, method, "household", seed, task or TASKS[i % 3], i, status)
            row |= {"subtasks_done": done, "subtasks": 6, "trials": [{"success": False}]}
            if found is not None:
                row["trials"][0]["facts"] = found
            file.write(json.dumps(row) + "\n")
    return folder


def table(root: Path, number: str, **where: str) -> Computed:
    (item,) = items.load("hime", [number])
    return compute(item, rows.load([root]), where)


def entry(root: Path, number: str, row: str, column: str) -> Entry:
    return table(root, number).entries[row, column]


def test_calls_per_subtask_are_over_all_subtasks_of_all_episodes(tmp_path: Path) -> None:
    write(tmp_path, facts(), facts(planner_calls=12), facts(), facts(planner_calls=6))
    found = table(tmp_path, "table2").entries
    search = found["HiMe", "Object search: calls"]
    assert search.value == Fraction(3 + 6, 12)
    assert (search.counted.part, search.counted.whole, search.episodes) == (9, 12, 2)
    assert search.interval == pytest.approx(ratios.ratio(Sums.of([(3, 6), (6, 6)])))
    assert search.published is not None
    assert search.published.value == "1.8"
    assert found["HiMe", "Counting: calls"].value == 2
    assert found["HiMe", "Counting: calls"].interval is None  # one episode
    assert found["HiMe", "All: requests"].value == 1
    assert found["HiMe", "All: Sentry calls"].value == Fraction(20, 24)
    assert found["Flat", "Object search: calls"].value is None


def test_a_hit_is_of_the_subtasks_that_took_memory(tmp_path: Path) -> None:
    write(
        tmp_path,
        facts(),
        facts(memory={"needed": 0, "in_store": 0, "retrieved": 0}),
        facts(),
        facts(memory={"needed": 6, "in_store": 3, "retrieved": 3}),
    )
    found = table(tmp_path, "table2").entries
    search = found["HiMe", "Object search: hit (%)"]
    assert search.value == Fraction(100 * 5, 8)  # and not the mean of 100 and 50
    assert search.interval == pytest.approx(
        [100 * bound for bound in ratios.share(Sums.of([(2, 2), (3, 6)])) or ()]
    )
    counting = found["HiMe", "Counting: hit (%)"]
    assert (counting.value, counting.interval, counting.episodes, counting.silent) == (None, None, 1, 0)
    assert found["HiMe", "All: retrieved (%)"].value == Fraction(100 * 5, 10)


def test_the_memory_is_counted_at_the_end_and_over_calls(tmp_path: Path) -> None:
    sizes = [[1, 2, 6], [4], []]
    write(tmp_path, *(facts(memory_sizes=of) for of in sizes), rounds=1, task="object_search", done=6)
    found = table(tmp_path, "table10").entries
    assert found["1 round", "Memory size"].value == 5
    assert found["1 round", "Mean size over calls"].value == Fraction(13, 4)
    assert found["1 round", "Memory size"].silent == 1
    assert found["1 round", "Subtasks"].value == 6
    assert found["1 round", "Subtasks"].interval is None
    assert found["1 round", "Task progress (%)"].value == 100


def test_precision_and_recall_by_check_and_by_subtask(tmp_path: Path) -> None:
    nothing = dict.fromkeys(("tp", "fp", "fn", "tn"), 0)
    unknown = {"checks": nothing | {"unknown": 9}, "subtasks": nothing | {"unknown": 2}}
    write(tmp_path, facts(), facts(sentry=unknown, sentry_checks=9), facts(), window=1)
    found = table(tmp_path, "figure7").entries
    precision = found["1 frame", "Precision"]
    assert precision.value == Fraction(100 * 4, 6)
    assert (precision.counted.part, precision.counted.whole, precision.counted.left_out) == (4, 6, 11)
    assert found["1 frame", "Recall"].value == Fraction(100 * 4, 6)
    assert found["1 frame", "Precision by subtask"].value == 100
    assert found["1 frame", "Recall by subtask"].interval == pytest.approx(
        [100 * bound for bound in ratios.share(Sums.of([(2, 2), (2, 2)])) or ()]
    )
    assert found["4 frames", "Precision"].published is None
    assert found["8 frames", "Precision"].published is not None
    notes = layout.arrange(table(tmp_path, "figure7")).notes
    said = "rightly called done of checks called done: 1 frame 4 of 6 (11 more could not be judged)"
    assert f"Precision, {said}." in notes


@pytest.mark.parametrize("kind", ["checks", "subtasks"])
def test_a_sentry_that_is_never_judged_has_a_dash(tmp_path: Path, kind: str) -> None:
    never = {
        each: {"tp": 0, "fp": 0, "fn": 0, "tn": 0, "unknown": 4 if each == kind else 0}
        for each in ("checks", "subtasks")
    }
    write(tmp_path, facts(sentry=never, sentry_checks=0), window=1)
    found = table(tmp_path, "figure7")
    assert all(found.entries["1 frame", column.label].value is None for column in found.item.columns)
    assert layout.arrange(found).lines[0].texts[0].text == layout.DASH


def test_latency_is_of_all_calls_together_and_tokens_are_per_call(tmp_path: Path) -> None:
    model = {"_target_": "harness.chat.openai.OpenAIChat", "model": "gpt-4o-2024-11-20", "roles": {}}
    write(tmp_path, facts(), facts(planner_seconds=[9.5], planner_tokens=[100]), llm=model)
    found = table(tmp_path, "table11").entries
    assert found["GPT-4o", "P50 (s)"].value == Fraction(5, 2)  # of 1, 2, 3, 9.5
    assert float(found["GPT-4o", "P90 (s)"].value or 0) == pytest.approx(7.55)
    assert found["GPT-4o", "P99 (s)"].interval is None
    assert found["GPT-4o", "Tokens"].value == Fraction(190, 4)
    assert found["Qwen3-VL-30B", "P50 (s)"].value is None
    arranged = layout.arrange(table(tmp_path, "table11"))
    assert arranged.lines[0].texts[0].text == "2.50"
    assert "P50 (s), P90 (s), P99 (s), planner calls: GPT-4o 4." in arranged.notes
    assert "Model of the planner: gpt-4o-2024-11-20." in arranged.notes


def test_a_model_that_says_no_time_has_no_latency(tmp_path: Path) -> None:
    write(tmp_path, facts(planner_seconds=[0.0, 0.0, 0.0]), facts(planner_seconds=[0.0], planner_tokens=[4]))
    found = table(tmp_path, "table11")
    latency = found.entries["Rules", "P50 (s)"]
    assert (latency.value, latency.interval, latency.episodes, latency.silent) == (None, None, 2, 2)
    assert found.entries["Rules", "Tokens"].value == Fraction(94, 4)
    assert (
        "Rules, P50 (s), P90 (s), P99 (s): 2 of 2 episodes are not in it; a model that says no time, as rules, has no latency."
    ) in found.notes


OLD: list[Any] = [
    None,
    {},
    {
        "planner_code": "composer('x')",
        "planner_calls": "many",
        "sentry": True,
        "memory": [],
        "memory_sizes": {},
    },
    {"planner_calls": None, "sentry": {"checks": None}, "memory": {}, "memory_sizes": None},
]


@pytest.mark.parametrize("told", OLD)
def test_rows_that_do_not_say_it_are_a_dash_with_a_reason(tmp_path: Path, told: Any) -> None:
    write(tmp_path, told, told, told)
    found = table(tmp_path, "table2")
    assert found.entries["HiMe", "Object search: progress (%)"].value == 50
    others = [column.label for column in found.item.columns if "progress" not in column.label]
    assert all(found.entries["HiMe", label].value is None for label in others)
    assert not found.empty
    arranged = layout.arrange(found)
    assert arranged.lines[0].texts[0].text == layout.DASH
    assert any("1 of 1 episodes are not in it; their rows do not say it" in note for note in arranged.notes)


def test_rows_that_do_not_say_it_are_in_neither_sum_of_those_that_do(tmp_path: Path) -> None:
    write(tmp_path, facts(), None, None, None)
    write(tmp_path, facts(planner_calls=6), facts(), facts(), facts(), seed=1)
    search = entry(tmp_path, "table2", "HiMe", "Object search: calls")
    assert search.value == Fraction(3 + 6 + 3, 18)
    assert (search.episodes, search.counted.saying, search.silent, search.seeds) == (4, 3, 1, 2)
    assert search.deviation == pytest.approx(0.17678, abs=1e-4)  # of 3/6 and 9/12


def test_errors_are_in_no_metric_and_said_once(tmp_path: Path) -> None:
    played = write(tmp_path, facts(), facts(), facts()) / ROWS
    played.write_text("".join(played.read_text().splitlines(keepends=True)[1:]))
    write(tmp_path, facts(planner_calls=600), status="error")  # the first episode
    write(tmp_path, facts(), facts(), facts(), seed=1)
    found = table(tmp_path, "table2")
    assert found.entries["HiMe", "Object search: calls"].value == Fraction(1, 2)
    errors = [note for note in found.notes if "ended in an error" in note]
    assert errors == [
        "HiMe, Object search: calls: 1 episode ended in an error: in no rate.",
        "HiMe, All: requests: 1 episode ended in an error: in no rate.",
    ]


def test_the_compact_copy_has_the_facts_and_rows_of_other_items_do_not_read_them(tmp_path: Path) -> None:
    write(tmp_path, facts(), facts(memory=None), None)
    before = table(tmp_path, "table2")
    rows.compact(tmp_path)
    assert table(tmp_path, "table2").entries == before.entries
    found = rows.load([tmp_path])
    (figure,) = items.load("hime", ["figure4"])
    compute(figure, found)
    assert "with_facts" not in vars(found)
    assert found.query("SELECT count(*) FROM duckdb_tables()") == [(1,)]


def test_a_row_that_a_kill_cut_off_is_counted_once_and_its_facts_are_not(tmp_path: Path) -> None:
    folder = write(tmp_path, facts(), facts())
    with (folder / ROWS).open("a") as file:
        file.write('{"method": "hime", "trials": [{"facts": {"planner_calls": 9')
    found = rows.load([tmp_path])
    (item,) = items.load("hime", ["table2"])
    assert compute(item, found).entries["HiMe", "All: requests"].value == 1
    assert found.torn == 1


QWEN = {
    "_target_": "harness.chat.openai.OpenAIChat",
    "model": "Qwen/Qwen3-VL-8B-Instruct",
    "roles": {"planner": {"model": "Qwen/Qwen3-VL-30B-A3B-Instruct"}},
}
GPT = {**QWEN, "roles": {"planner": {"_target_": "harness.chat.openai.OpenAIChat", "model": "gpt-4o"}}}


def test_cells_of_other_rounds_windows_and_models_are_told_apart(tmp_path: Path) -> None:
    """All of HiMe's items out of one experiment."""
    for rounds in (1, 2, 3):
        write(tmp_path, facts(), rounds=rounds, task="object_search", done=rounds, llm=GPT)
    for window in (1, 4):
        write(tmp_path, facts(), facts(), facts(), window=window, done=1, llm=GPT)
    write(tmp_path, facts(), facts(), facts(), done=6, llm=GPT)
    write(tmp_path, facts(), facts(), facts(), method="transient", window=None, done=2, llm=GPT)
    write(tmp_path, facts(), facts(), facts(), done=4, llm=QWEN)
    assert entry(tmp_path, "figure4", "HiMe", "Average").value == 100
    assert entry(tmp_path, "figure4", "Transient", "Average").value == Fraction(100, 3)
    assert entry(tmp_path, "table2", "HiMe", "Object search: progress (%)").value == 100
    assert [
        entry(tmp_path, "table10", row, "Task progress (%)").value
        for row in ("1 round", "2 rounds", "3 rounds")
    ] == [
        Fraction(100, 6),
        Fraction(100, 3),
        50,
    ]
    assert entry(tmp_path, "figure7", "4 frames", "Precision").value == Fraction(200, 3)
    assert entry(tmp_path, "figure9a", "HiMe", "Rearrangement").value == Fraction(200, 3)
    assert entry(tmp_path, "figure9a", "Transient", "Rearrangement").value is None  # of another planner
    assert entry(tmp_path, "table11", "GPT-4o", "Tokens").episodes == 3
    assert entry(tmp_path, "table11", "Qwen3-VL-30B", "Tokens").episodes == 3
    assert entry(tmp_path, "table11", "Qwen3-VL-8B", "Tokens").episodes == 0
    notes = table(tmp_path, "figure4").notes
    assert (
        "Of the cells that differ in llm.roles.planner, those with gpt-4o count here, not those with "
        "Qwen/Qwen3-VL-30B-A3B-Instruct."
    ) in notes
    assert (
        "Of the cells that differ in method.trigger.window, those with 8 count here, not those with 1, 4."
        in notes
    )


def test_a_preference_chooses_nothing_where_there_is_no_choice(tmp_path: Path) -> None:
    write(tmp_path, facts(), facts(), facts(), window=4, done=1)
    found = table(tmp_path, "figure4")
    assert found.entries["HiMe", "Average"].value == Fraction(100, 6)
    assert not any("count here" in note for note in found.notes)
    write(tmp_path, facts(), facts(), facts(), window=1, done=1)
    with pytest.raises(UsageError, match=r"differ in method.trigger.window"):
        table(tmp_path, "figure4")
    chosen = table(tmp_path, "figure4", **{"method.trigger.window": "1"})
    assert chosen.entries["HiMe", "Average"].episodes == 3


def test_an_environment_without_rounds_has_none(tmp_path: Path) -> None:
    folder = write(tmp_path, facts(), facts(), facts())
    described = json.loads((folder / CELL).read_text())
    del described["config"]["env"]["rounds"]
    (folder / CELL).write_text(json.dumps(described))
    assert entry(tmp_path, "figure4", "HiMe", "Average").episodes == 3
    assert table(tmp_path, "table10").empty


def test_less_is_better_where_it_is_and_what_says_nothing_is_not_bold(tmp_path: Path) -> None:
    write(tmp_path, facts(), facts(), facts(), done=6)
    more = facts(planner_calls=9, memory={"needed": 2, "in_store": 1, "retrieved": 1})
    write(tmp_path, more, more, more, method="flat", window=None)
    arranged = layout.arrange(table(tmp_path, "table2"))
    bold = {line.label: [text.best for text in line.texts] for line in arranged.lines if line.kind == "ours"}
    assert bold["HiMe"][:3] == [True, True, True]
    assert bold["Flat"][:3] == [False, False, False]
    for rounds in (1, 2):
        write(tmp_path, facts(memory_sizes=[rounds]), rounds=rounds, task="object_search")
    lines = layout.arrange(table(tmp_path, "table10")).lines
    assert [line.texts[1].text for line in lines if line.kind == "ours"] == ["1.0", "2.0", layout.DASH]
    assert not any(text.best for line in lines for text in line.texts[:3])
    assert lines[0].texts[0].text == "6"


def test_an_item_of_one_task_has_its_spread_and_its_comparisons(tmp_path: Path) -> None:
    for seed in (0, 1):
        write(tmp_path, facts(), facts(), task="rearrangement", status="success", done=6, seed=seed)
        write(tmp_path, facts(), facts(), task="rearrangement", done=2 + seed, method="hime_fifo", seed=seed)
    found = table(tmp_path, "table9")
    assert set(found.comparisons["Rearrangement"].comparisons) == {("HiMe", "FIFO")}
    fifo = next(line for line in layout.arrange(found).lines if line.label == "FIFO")
    assert fifo.texts[0].text == "41.7 ± 11.8"


def test_heads_of_a_group_share_its_name(tmp_path: Path) -> None:
    write(tmp_path, facts(), facts(), facts())
    arranged = layout.arrange(table(tmp_path, "table2"))
    assert (
        '<tr><th colspan="1"></th><th colspan="3">Object search</th><th colspan="3">Counting</th>'
        '<th colspan="3">Rearrangement</th><th colspan="3">All</th></tr><tr><th></th><th>calls</th><th>hit (%)</th>'
    ) in page.table(arranged)
    assert "| Object search: calls |" in markdown.table(arranged)
    text = latex.table(arranged)
    assert (
        r"\multicolumn{1}{c}{} & \multicolumn{3}{c}{Object search} & \multicolumn{3}{c}{Counting} & "
        r"\multicolumn{3}{c}{Rearrangement} & \multicolumn{3}{c}{All} \\"
    ) in text
    assert r"\cmidrule(lr){2-4}\cmidrule(lr){5-7}\cmidrule(lr){8-10}\cmidrule(lr){11-13}" in text
    assert "\n & calls & hit (\\%) & progress (\\%) & calls" in text


def test_the_spreadsheet_has_what_a_ratio_is_made_of(tmp_path: Path) -> None:
    write(tmp_path, facts(), None, facts(), facts())
    lines = list(csv.DictReader(io.StringIO(spreadsheet.table(table(tmp_path, "table2")))))
    calls = next(line for line in lines if (line["row"], line["column"]) == ("HiMe", "Object search: calls"))
    assert (calls["metric"], calls["numerator"], calls["denominator"]) == (
        "planner_calls_per_subtask",
        "6",
        "12",
    )
    requests = next(line for line in lines if (line["row"], line["column"]) == ("HiMe", "All: requests"))
    assert (requests["episodes"], requests["episodes_that_say"]) == ("4", "3")
    figure = spreadsheet.table(table(tmp_path, "figure4"))
    assert figure.splitlines()[0].split(",") == spreadsheet.HEADS
