"""What is compared, and the run sets that find it in W&B; none of it needs wandb."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from analysis import rows
from analysis.report import comparison, run_sets
from analysis.rows import Rows
from analysis.statistics.paired import Pairs
from analysis.tables.markdown import grid
from harness.failures import HarnessError, UsageError
from tests.analysis.report.conftest import record, write_tabletop
from tests.analysis.tables.conftest import verdicts, write_cell

WANDB = "harness.trackers.wandb_runs.WandbRuns"


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """Retry and two variants of MTP on the tabletop, one with two seeds, and Retry on the playtable."""
    root = write_tabletop(tmp_path / "lab")
    write_cell(root, "retry", "playtable", 0, verdicts("!!"), name="it's a=b <1>")
    return root


def test_each_environment_has_its_contenders(lab: Path) -> None:
    playtable, tabletop = comparison.compare(rows.load([lab]))
    assert [contender.name for contender in playtable.contenders] == ["retry"]
    assert [contender.name for contender in tabletop.contenders] == [
        "mtp memory=playtable",
        "mtp memory=tabletop",
        "retry",
    ]
    assert tabletop.tasks == ["lamp_off", "push_button"]
    assert [len(contender.cells) for contender in tabletop.contenders] == [2, 1, 1]


def test_rates_by_task_have_exact_intervals_and_no_errors(lab: Path) -> None:
    playtable, tabletop = comparison.compare(rows.load([lab]))
    found = comparison.tasks(tabletop)
    assert found.heads == ("task", "mtp memory=playtable", "mtp memory=tabletop", "retry")
    assert found.rows == [
        ("lamp_off", "75.0 % (19 to 99)", "0.0 % (0 to 84)", "100.0 % (3 to 100)"),
        ("push_button", "100.0 % (40 to 100)", "0.0 % (0 to 84)", "50.0 % (1 to 99)"),
        ("mean over tasks", "87.5 % (0 to 100)", "0.0 % (0 to 60)", "75.0 % (0 to 100)"),
    ]
    assert comparison.tasks(playtable).rows == [
        ("lamp_off", "–"),
        ("push_button", "–"),
        ("mean over tasks", "–"),
    ]


def test_what_a_success_costs_counts_the_failures_too(lab: Path) -> None:
    cell = next(lab.glob("retry-tabletop*"))
    for episode in ("push_button-s0-i0", "lamp_off-s0-i0", "push_button-s1-i0"):
        usage = {"calls": 4, "prompt_tokens": 80, "completion_tokens": 20, "cost_usd": 0.02}
        record(cell, episode, usage=usage, timings={"seconds": 1.5, "chat_seconds": 0.4})
    playtable, tabletop = comparison.compare(rows.load([lab]))
    assert comparison.costs(tabletop).rows == [
        ("mtp memory=playtable", "87.5 %", "unknown", "29", "3.4", "1.71", "–", "1.50"),
        ("mtp memory=tabletop", "0.0 %", "unknown", "–", "–", "–", "–", "1.50"),
        ("retry", "66.7 %", "$0.0300", "150", "6.0", "2.25", "0.60", "1.50"),
    ]
    assert comparison.costs(playtable).rows == [("retry", "–", "–", "–", "–", "–", "–", "–")]


def test_each_pair_is_compared_on_the_same_scenes_and_has_letters(lab: Path) -> None:
    playtable, tabletop = comparison.compare(rows.load([lab]))
    assert not playtable.pairs.comparisons
    good, bad, retry = (contender.name for contender in tabletop.contenders)
    found = tabletop.pairs.comparisons
    assert list(found) == [(good, bad), (good, retry), (bad, retry)]
    assert found[good, bad].pairs == Pairs(0, 3, 0, 1)
    assert found[good, retry].note == "5 verdicts on scenes that the other lacks are left out"
    assert comparison.letters(tabletop).rows == [(good, "a"), (retry, "a"), (bad, "a")]
    write_cell(lab, "voxposer", "tabletop", 0, verdicts("-" * 16))
    write_cell(lab, "voxposer", "tabletop", 1, verdicts("-" * 16))
    write_cell(lab, "code", "tabletop", 0, verdicts("+" * 16))
    write_cell(lab, "code", "tabletop", 1, verdicts("+" * 16))
    _, tabletop = comparison.compare(rows.load([lab]))
    assert tabletop.pairs.adjusted["code", "voxposer"] == pytest.approx(10 * 2 / 2**32)
    letters = dict(comparison.letters(tabletop).rows)
    assert set(letters["code"]).isdisjoint(letters["voxposer"])
    assert set(letters["code"]) & set(letters[good])


def test_configs_differ_at_keys_as_they_are_typed(lab: Path) -> None:
    playtable, tabletop = comparison.compare(rows.load([lab]))
    assert comparison.differences(tabletop).rows == [
        ("method.memory.sources", '["playtable"]', '["tabletop"]', "–"),
        ("method.trials", "3", "3", "1"),
    ]
    assert comparison.differences(playtable).rows == []


def test_a_grid_of_texts_keeps_its_columns() -> None:
    assert grid(["a", "b|c", "d"], [["x_1", "2", "<3>"]], {"d"}) == (
        "| a | b\\|c | d |\n|---|---:|---|\n| x\\_1 | 2 | \\<3\\> |\n"
    )


def sets(found: Rows, root: Path) -> dict[tuple[str, str], run_sets.RunSet]:
    cells = run_sets.tracked(found, root)
    return {
        (world.env, each.name): each
        for world in comparison.compare(found)
        for each in run_sets.run_sets(world, cells)
    }


def test_a_run_set_is_named_as_the_tracker_names_runs(lab: Path) -> None:
    found = sets(rows.load([lab]), lab)
    mark = (lab / ".tracking" / "id").read_text().strip()
    assert found["tabletop", "retry"] == run_sets.RunSet("retry", "it's a=b <1>", "retry", "env:tabletop")
    both = found["tabletop", "mtp memory=playtable"]
    assert both.runs == tuple(f"{cell.name}-{mark}" for cell in sorted(lab.glob("mtp*playtable*")))
    assert len(both.runs) == 2


def test_a_filter_keeps_what_is_between_quotes_from_being_read() -> None:
    nasty = "it's \"a\" = b <1> Metric('x') within_last 5 days \\ é漢😀"
    text = run_sets.RunSet("n", nasty, "m", "env:a=b", ("x-1",)).filters
    assert not set(text) - set('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-\\"()[], =')
    compared = ast.parse(text, mode="eval").body
    assert isinstance(compared, ast.BoolOp)
    values = [
        ast.literal_eval(each.comparators[0]) for each in compared.values if isinstance(each, ast.Compare)
    ]
    assert values == [nasty, "m", ["env:a=b"], ["x-1"]]


def saved(conditions: dict[str, Any], name: str = "retry") -> dict[str, Any]:
    filters = [
        {
            "key": {"section": "run", "name": key},
            "op": "IN" if isinstance(value, list) else "=",
            "value": value,
        }
        for key, value in conditions.items()
    ]
    run_set = {"name": name, "filters": {"filterFormat": "filterV2", "filters": filters}}
    return {
        "blocks": [
            {"type": "paragraph"},
            {"type": "heading", "level": 1, "children": [{"text": "tabletop"}]},
            {"type": "heading", "level": 2, "children": [{"text": "Success"}]},
            {"type": "panel-grid", "metadata": {"runSets": [run_set]}},
        ]
    }


def test_a_run_set_that_finds_other_runs_is_no_report(lab: Path) -> None:
    found = rows.load([lab])
    worlds, cells = comparison.compare(found), run_sets.tracked(found, lab)
    whole = {"group": "it's a=b <1>", "jobType": "retry", "tags": ["env:tabletop"]}
    assert run_sets.check(saved(whole), worlds, cells) == 1
    for wrong in (
        {"group": "it's a==b <1>"},
        {"jobType": "mtp"},
        {"tags": ["env:playtable"]},
        {"name": ["other"]},
    ):
        with pytest.raises(HarnessError, match="would show the runs"):
            run_sets.check(saved(whole | wrong), worlds, cells)
    with pytest.raises(HarnessError, match="`mtp memory=tabletop` of tabletop would show"):
        run_sets.check(saved(whole | {"jobType": "mtp"}, "mtp memory=tabletop"), worlds, cells)


def test_names_beyond_the_length_of_a_tag_are_cut_as_the_tracker_does(tmp_path: Path) -> None:
    env = "e" * 70
    write_cell(tmp_path / "it", "retry", env, 0, verdicts("+"), name="it")
    (found,) = sets(rows.load([tmp_path / "it"]), tmp_path / "it").values()
    assert found.env_tag == "env:" + "e" * 60


def test_cells_of_two_names_have_no_run_set(lab: Path) -> None:
    write_cell(lab, "retry", "tabletop", 1, verdicts("+"), name="other")
    with pytest.raises(UsageError, match=r"retry was played as it's a=b <1> and other"):
        sets(rows.load([lab]), lab)


def test_the_place_is_the_tracker_s_or_what_is_said(tmp_path: Path) -> None:
    root = tmp_path / "it"
    write_cell(root, "retry", "tabletop", 0, verdicts("+"), name="it")
    assert run_sets.place(rows.load([root])) == ("", "engram")
    node = {"_target_": WANDB, "project": "arms", "entity": "lab"}
    write_cell(root, "mtp", "tabletop", 0, verdicts("+"), name="it", tracker=node)
    found = rows.load([root])
    assert run_sets.place(found) == ("lab", "arms")
    assert run_sets.place(found, "you", "yours") == ("you", "yours")
    write_cell(root, "voxposer", "tabletop", 0, verdicts("+"), name="it", tracker={**node, "project": "legs"})
    found = rows.load([root])
    with pytest.raises(UsageError, match="--project"):
        run_sets.place(found)
    assert run_sets.place(found, project="legs") == ("lab", "legs")
