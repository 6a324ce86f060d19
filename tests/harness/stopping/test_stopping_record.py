"""What the record of a sequential sweep says, and who reads it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness import commands
from harness.cells import Cell
from harness.commandline import main
from harness.failures import UsageError
from harness.status import Status
from harness.stopping import record
from harness.stopping.record import Record, Standing
from harness.sweep import run_cells
from harness.trackers.mirror import mirroring
from tests.harness.stopping.coins import cell, coins
from tests.harness.trackers.test_mirror import Keeper

FAR = {"bad": 0.15, "good": 0.85}
DECIDED = Standing(
    first="mtp",
    second="retry",
    where="env=tabletop llm=rules",
    folders=(("mtp-0", "retry-0"),),
    level=0.025,
    margin=0.1,
    asked=135,
    mark="abc",
    first_only=12,
    second_only=1,
    concordant=17,
    decided="first",
    p_value=0.01234,
    interval=(0.0312, 0.5678),
)


def test_what_is_said_of_a_decision() -> None:
    assert DECIDED.words() == (
        "mtp solves more than retry (env=tabletop llm=rules) after 30 of 135 pairs: 12 solved by mtp alone, 1 by retry "
        "alone, +36.7 points, 97.5 % confidence sequence +3.1 to +56.8, anytime-valid p = 0.012 at a level of 0.025."
    )
    less = replace(DECIDED, decided="second", first_only=1, second_only=12)
    assert less.words().startswith("mtp solves less than retry")
    assert "-36.7 points" in less.words()
    alike = replace(DECIDED, decided="alike")
    assert alike.words().startswith("mtp and retry differ by less than 10 points")


def test_what_is_said_before_there_is_one() -> None:
    nothing = replace(DECIDED, decided=None, first_only=0, second_only=0, concordant=0)
    assert (
        nothing.words() == "mtp and retry are not told apart (env=tabletop llm=rules) after 0 of 135 pairs."
    )
    waiting = replace(nothing, waits_for="It waits for t-s0-i0.")
    assert waiting.words().endswith("after 0 of 135 pairs. It waits for t-s0-i0.")


def test_it_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    assert record.read(tmp_path) == Record()
    written = Record(
        (DECIDED, replace(DECIDED, decided=None, waits_for="x")), {"mtp-0": frozenset({"t-s0-i0"})}
    )
    record.write(tmp_path, written)
    assert record.read(tmp_path) == written
    assert [written.counts("mtp-0", "t-s0-i0"), written.counts("mtp-0", "t-s1-i0")] == [True, False]
    assert written.counts("retry-0", "t-s1-i0")
    record.release(tmp_path, {"another"})
    assert record.read(tmp_path) == written
    record.release(tmp_path, {"mtp-0"})
    assert record.read(tmp_path) == Record(written.comparisons)


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"comparisons": [{}], "counted": {}}', '{"comparisons": [1']
)
def test_a_damaged_record_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / record.FILE).write_text(text)
    with pytest.raises(UsageError, match=r"sequential\.json is damaged \(.*\)\. Delete that file and run"):
        record.read(tmp_path)


@pytest.fixture
def beyond(tmp_path: Path) -> tuple[Path, int]:
    """A folder with rows beyond the stop, and the pairs at the stop."""
    run_cells(coins(FAR, scenes=7, stop="all"), tmp_path)
    (one,) = run_cells(coins(FAR, scenes=7), tmp_path).comparisons
    assert one.decided
    assert one.pairs < 21
    return tmp_path, one.pairs


def test_status_counts_what_counts_and_says_what_was_decided(
    beyond: tuple[Path, int], capsys: pytest.CaptureFixture[str]
) -> None:
    root, pairs = beyond
    status = Status(root)
    status.look()
    assert [(found.done, found.total) for found in status.cells] == [(pairs, pairs)] * 2
    assert status.complete
    assert main(commands, "", ["status", str(root)]) == 0
    printed = capsys.readouterr().out
    assert f"2 cells, {2 * pairs} of {2 * pairs} episodes (100 %)" in printed
    assert (
        f"Sequential test: good solves more than bad (env=noop llm=rules) after {pairs} of 21 pairs"
        in printed
    )


def test_an_error_beyond_the_stop_leaves_a_cell_complete(beyond: tuple[Path, int]) -> None:
    root, _ = beyond
    good = next(root.glob("good-*"))
    lines = (good / "episodes.jsonl").read_text().splitlines(keepends=True)
    broken = (
        lines[-1]
        .replace('"status":"success"', '"status":"error"')
        .replace('"status":"failure"', '"status":"error"')
    )
    (good / "episodes.jsonl").write_text("".join([*lines[:-1], broken]))
    status = Status(root)
    status.look()
    assert (status.errors, status.complete) == (0, True)
    assert run_cells(coins(FAR, scenes=7), root).played == 0


def test_a_tracker_is_sent_every_row_and_a_summary_of_those_that_count(beyond: tuple[Path, int]) -> None:
    root, pairs = beyond
    keeper = Keeper()
    with mirroring(root, keeper) as mirror:  # type: ignore[arg-type]
        mirror.catch_up()
        mirror.finish("ended")
    for run in keeper.runs.values():
        assert len(run.points) == 21
        assert run.summary["unplayed"] == 0
        assert len(run.newest) == pairs
        assert run.states[-1] == "finished"


def test_a_later_command_that_plays_all_lets_all_rows_count(beyond: tuple[Path, int]) -> None:
    root, pairs = beyond
    run_cells(coins(FAR, scenes=7, stop="all"), root)
    status = Status(root)
    status.look()
    assert [found.total for found in status.cells] == [21, 21]
    assert [one.pairs for one in status.comparisons] == [pairs]


def test_other_cells_of_the_folder_are_left_alone(beyond: tuple[Path, int]) -> None:
    root, pairs = beyond
    alone = cell("alone", env={"scenes": 2}, run={"stop": "all"})
    run_cells([Cell(alone.config, alone.choices)], root)
    status = Status(root)
    status.look()
    assert {one.method: one.total for one in status.cells} == {"alone": 6, "bad": pairs, "good": pairs}
