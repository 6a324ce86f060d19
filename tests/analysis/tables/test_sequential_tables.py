"""Tables of an experiment that was stopped sequentially: which rows count, and what is said of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis import items, rows
from analysis.report import overview
from analysis.tables import layout
from analysis.tables.entries import Computed, compute
from harness.cells import Cell
from harness.stopping import record
from harness.sweep import SweepResult, run_cells
from tests.harness.stopping.coins import coins

RATES = {"voxposer": 0.15, "mtp": 0.85, "retry": 0.15}


def cells(**run: object) -> list[Cell]:
    """Coins under the names of MTP's Table I, each compared with VoxPoser."""
    return [
        Cell(cell.config, {**cell.choices, "env": "tabletop"}, cell.overrides)
        for cell in coins(RATES, seeds=(0, 1), **run)
    ]


@pytest.fixture
def stopped(tmp_path: Path) -> tuple[Path, SweepResult]:
    """All rows are there; then the test comes, and stops before most of them."""
    run_cells(cells(stop="all"), tmp_path)
    return tmp_path, run_cells(cells(), tmp_path)


def table(root: Path) -> Computed:
    (item,) = items.load("mtp", ["table1"])
    return compute(item, rows.load([root]))


def test_rows_beyond_the_stop_are_in_no_number(stopped: tuple[Path, SweepResult]) -> None:
    root, result = stopped
    mtp, retry = result.comparisons
    assert (mtp.decided, retry.decided) == ("first", None)
    found = rows.load([root])
    assert found.query("SELECT method, count(*) FROM rows GROUP BY ALL ORDER BY ALL") == [
        ("mtp", mtp.pairs),
        ("retry", 120),
        ("voxposer", 120),
    ]
    assert (
        f"{120 - mtp.pairs} episodes beyond the stop of a sequential test count in no number." in found.notes
    )
    assert f"Sequential test: {mtp.words()}" in found.notes
    shown = {line.method: (line.episodes, line.unplayed) for line in overview.lines(found)}
    assert shown == {"mtp": (mtp.pairs, 0), "retry": (120, 0), "voxposer": (120, 0)}


def test_a_table_has_the_confidence_sequence_and_no_test_for_one_look(
    stopped: tuple[Path, SweepResult],
) -> None:
    root, result = stopped
    mtp, retry = result.comparisons
    computed = table(root)
    assert computed.entries["MTP", "Average"].episodes == mtp.pairs
    compared = {pair for family in computed.comparisons.values() for pair in family.comparisons}
    assert ("MTP", "VoxPoser") not in compared
    assert ("MTP", "Retry") in compared  # these two had no sequential test
    notes = layout.arrange(computed).notes
    assert notes.count(f"Sequential test: {mtp.words()}") == 1
    assert f"MTP: {mtp.pairs} episodes; a sequential test left out others." in notes
    assert "VoxPoser: 120 episodes; the experiment asks for 135." in notes
    assert any("its confidence sequence holds instead" in note for note in notes)
    assert not any("McNemar" in note and "VoxPoser" in note for note in notes)
    assert retry.decided is None


def test_the_compact_copy_keeps_all_rows_and_counts_the_same(stopped: tuple[Path, SweepResult]) -> None:
    root, _ = stopped
    query = "SELECT method, status, count(*) FROM rows GROUP BY ALL ORDER BY ALL"
    before = rows.load([root]).query(query)
    rows.compact(root)
    assert rows.load([root]).query(query) == before
    run_cells(cells(stop="all"), root)
    assert rows.load([root]).query("SELECT count(*) FROM rows") == [(360,)]


def test_all_rows_count_after_a_command_that_plays_all(stopped: tuple[Path, SweepResult]) -> None:
    root, result = stopped
    run_cells(cells(stop="all"), root)
    computed = table(root)
    assert computed.entries["MTP", "Average"].episodes == 120
    notes = layout.arrange(computed).notes
    assert f"Sequential test: {result.comparisons[0].words()}" in notes
    assert not any("Brackets are for" in note for note in notes)


def test_an_experiment_without_a_test_says_nothing_of_one(tmp_path: Path) -> None:
    run_cells(cells(stop="all"), tmp_path)
    assert not (tmp_path / record.FILE).exists()
    computed = table(tmp_path)
    assert ("MTP", "VoxPoser") in computed.comparisons["Average"].comparisons
    assert not any("equential" in note for note in layout.arrange(computed).notes)
