"""An item's numbers: means, spreads, intervals, what is missing, and what must not be put together."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from analysis import items, rows
from analysis.tables.entries import Computed, compute
from harness.failures import UsageError
from tests.analysis.tables.conftest import verdicts, write_cell


def table(number: str, *folders: Path, **where: str) -> Computed:
    (item,) = items.load("mtp", [number])
    return compute(item, rows.load(folders), where)


def test_values_are_means_over_seeds_and_intervals_are_over_episodes(experiment: Path) -> None:
    found = table("table1", experiment)
    voxposer = found.entries["VoxPoser", "Average"]
    assert voxposer.value == Fraction(75, 2)  # 1 of 4 and 2 of 4
    assert voxposer.deviation == pytest.approx(17.678, abs=1e-3)
    assert (voxposer.successes, voxposer.episodes, voxposer.seeds) == (3, 8, 2)
    assert voxposer.interval == pytest.approx((8.523, 75.514), abs=1e-2)
    button = found.entries["MTP", "Button"]
    assert (button.value, button.deviation) == (100, 0)
    assert button.published is not None
    assert button.published.value == "73.3"


def test_one_seed_has_no_spread_and_an_error_is_in_no_rate(experiment: Path) -> None:
    found = table("table1", experiment)
    retry = found.entries["Retry", "Average"]
    assert retry.value == Fraction(200, 3)
    assert retry.deviation is None
    assert (retry.episodes, retry.errors) == (3, 1)
    assert "Retry, Average: 1 episode ended in an error: in no rate." in found.notes
    assert "Retry: 3 episodes; the experiment asks for 135." in found.notes


def test_what_was_not_run_is_missing_and_still_has_what_was_published(experiment: Path) -> None:
    found = table("table1", experiment)
    missing = found.entries["Self-reflection", "Average"]
    assert (missing.value, missing.interval, missing.episodes) == (None, None, 0)
    assert missing.published is not None
    assert missing.published.value == "60.7"
    assert table("table2", experiment).empty


def test_the_memory_decides_which_row_a_cell_belongs_to(experiment: Path) -> None:
    found = table("table6", experiment)
    assert found.entries["CALVIN memory", "RLBench"].value == Fraction(175, 2)
    assert found.entries["RLBench memory", "RLBench"].value == 0
    # Retry has no memory: whatever the command said of it, it is the same cell.
    assert found.entries["No memory (Retry)", "RLBench"].episodes == 3


def test_pairs_are_compared_on_the_same_scenes(experiment: Path) -> None:
    comparison = table("table1", experiment).comparisons["Average"].comparisons["MTP", "VoxPoser"]
    assert comparison.pairs is not None
    assert (comparison.pairs.both, comparison.pairs.first_only, comparison.pairs.second_only) == (3, 4, 0)
    assert comparison.p_value == pytest.approx(0.125)


def test_cells_that_differ_are_not_averaged(experiment: Path) -> None:
    write_cell(experiment, "retry", "tabletop", 0, verdicts("++++"), sampling={"temperature": 0.7})
    with pytest.raises(UsageError, match=r"differ in sampling, sampling.temperature"):
        table("table1", experiment)
    chosen = table("table1", experiment, **{"sampling.temperature": "0.7"})
    assert chosen.entries["Retry", "Average"].value == 100
    write_cell(experiment, "self_reflection", "tabletop", 0, verdicts("+"))
    write_cell(experiment, "self_reflection", "tabletop", 1, verdicts("+"), sampling={"temperature": 0.7})
    with pytest.raises(UsageError, match="different seeds differ also in"):
        table("table1", experiment, method="self_reflection")


def test_two_worlds_for_one_benchmark_need_a_choice(experiment: Path) -> None:
    write_cell(experiment, "retry", "rlbench", 0, verdicts("----"))
    with pytest.raises(UsageError, match="--where env=rlbench"):
        table("table1", experiment)
    assert table("table1", experiment, env="rlbench").entries["Retry", "Average"].value == 0


def test_paraphrases_are_a_column_of_their_own(tmp_path: Path) -> None:
    write_cell(tmp_path, "retry", "playtable", 0, verdicts("++"))
    write_cell(tmp_path, "retry", "playtable", 0, verdicts("+-"), instruction=3)
    found = table("table2", tmp_path)
    assert found.entries["Retry", "Single instruction"].value == 100
    assert found.entries["Retry", "Paraphrased"].value == 50
