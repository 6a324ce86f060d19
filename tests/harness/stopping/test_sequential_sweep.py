"""Sweeps that stop sequentially, through the engine."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from analysis.statistics.sequential import Sequential
from harness import store
from harness.cells import Cell
from harness.cluster.sweep import Plan, run_on_cluster
from harness.failures import UsageError
from harness.play import comparable
from harness.stopping import record
from harness.summary import show
from harness.sweep import SweepResult, run_cells
from tests.harness.stopping.coins import COIN, cell, coins

FAR = {"bad": 0.15, "good": 0.85}
NEAR = {"one": 0.5, "other": 0.5}


def counted(result: SweepResult) -> dict[tuple[str, str], str]:
    return {(of.folder.name, name): row.status for of in result.cells for name, row in of.rows.items()}


def counted_rows(root: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """As whoever reads the folder takes them."""
    stopping = record.read(root)
    return {
        (row["cell"], row["episode"]): comparable(row)
        for description in root.glob(f"*/{store.CELL}")
        for row in store.read_cell(description.parent).values()
        if stopping.counts(description.parent.name, row["episode"])
    }


def test_a_large_difference_ends_it_early(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = run_cells(coins(FAR, scenes=50), tmp_path)
    (one,) = result.comparisons
    assert (one.decided, one.verdict) == ("first", "good solves more than bad")
    assert one.pairs < 25
    assert result.complete
    assert [len(of.wanted) for of in result.cells] == [one.pairs, one.pairs]
    assert (result.played, result.saved, result.unneeded) == (2 * one.pairs, 300 - 2 * one.pairs, 0)
    assert len(store.load(tmp_path)) == 2 * one.pairs
    show(result)
    printed = capsys.readouterr()
    assert f"good solves more than bad (env=noop llm=rules) after {one.pairs} of 150 pairs: " in printed.out
    assert f"Stopping saved {300 - 2 * one.pairs} of 300 episodes." in printed.out
    assert "its confidence sequence holds instead" in printed.out
    assert "not complete" not in printed.err
    assert f"{300 - 2 * one.pairs} episodes are not played." in printed.err


def test_the_verdict_is_that_of_the_test_on_the_rows_in_their_order(tmp_path: Path) -> None:
    result = run_cells(coins({"bad": 0.3, "good": 0.7}, seeds=(0, 1), scenes=30), tmp_path)
    rows = {
        (row["method"], row["seed"], row["episode"]): row["status"] == "success"
        for row in store.load(tmp_path)
    }
    test, taken = Sequential(), 0
    for scene in range(30):
        for seed in (0, 1):
            for task in range(3):
                if test.decided is None:
                    key = (seed, f"task{task}-s{scene}-i0")
                    test, taken = test.update(rows["good", *key], rows["bad", *key]), taken + 1
    (one,) = result.comparisons
    assert (one.decided, one.pairs) == (test.decided, taken)
    assert (one.p_value, one.interval) == (test.p_value, test.interval)
    assert len(rows) == 2 * taken


def test_without_a_decision_everything_is_played(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = run_cells(coins(NEAR), tmp_path)
    (one,) = result.comparisons
    assert (one.decided, one.pairs, one.asked, result.saved) == (None, 60, 60, 0)
    assert result.complete
    show(result)
    assert (
        "other and one are not told apart (env=noop llm=rules) after 60 of 60 pairs"
        in capsys.readouterr().out
    )


def test_the_first_method_goes_on_for_the_comparison_that_is_undecided(tmp_path: Path) -> None:
    result = run_cells(coins({"base": 0.2, "good": 0.95, "same": 0.2}), tmp_path)
    decided, undecided = result.comparisons
    assert (decided.decided, undecided.decided) == ("first", None)
    assert (decided.level, undecided.level) == (0.025, 0.025)
    assert [len(of.rows) for of in result.cells] == [60, decided.pairs, 60]
    assert result.saved == 60 - decided.pairs
    assert record.read(tmp_path).counted.keys() == {result.cells[1].folder.name}


def test_a_method_that_is_in_no_comparison_plays_all(tmp_path: Path) -> None:
    result = run_cells(coins({**FAR, "third": 0.5}, compare=[["good", "bad"]]), tmp_path)
    assert [len(of.rows) for of in result.cells][2] == 60
    assert len(result.cells[0].rows) < 30


def test_methods_that_are_alike_within_the_margin_end_it_too(tmp_path: Path) -> None:
    result = run_cells(coins({"one": 1.0, "other": 1.0}, scenes=50, margin=0.2), tmp_path)
    (one,) = result.comparisons
    assert one.decided == "alike"
    assert one.pairs < 60
    assert "differ by less than 20 points" in one.words()


@pytest.mark.parametrize("rates", [FAR, {"bad": 0.4, "good": 0.6, "same": 0.4}])
def test_workers_and_their_speed_change_nothing(tmp_path: Path, rates: dict[str, float]) -> None:
    """Successes take their time and failures none: in the order in which episodes end, failures come first."""
    serial = run_cells(coins(rates, seeds=(0, 1)), tmp_path / "serial")
    parallel = run_cells(coins(rates, seeds=(0, 1), slow=0.02, workers=3), tmp_path / "parallel")
    told = [[one.words() for one in result.comparisons] for result in (serial, parallel)]
    assert told[0] == told[1]
    statuses = [sorted((n, s) for (_, n), s in counted(result).items()) for result in (serial, parallel)]
    assert statuses[0] == statuses[1]
    on_disk = store.load(tmp_path / "parallel")
    assert len(on_disk) == len(counted_rows(tmp_path / "parallel")) + parallel.unneeded
    assert parallel.saved + parallel.unneeded == serial.saved


def test_running_again_plays_nothing_and_says_the_same(tmp_path: Path) -> None:
    first = run_cells(coins(FAR), tmp_path)
    recorded = (tmp_path / record.FILE).read_text()
    second = run_cells(coins(FAR), tmp_path)
    assert (second.played, second.complete) == (0, True)
    assert second.comparisons == first.comparisons
    assert (second.saved, counted(second)) == (first.saved, counted(first))
    assert (tmp_path / record.FILE).read_text() == recorded


@pytest.mark.parametrize("kept", [0, 3, 7])
def test_what_is_lost_is_played_again_to_the_same_decision(tmp_path: Path, kept: int) -> None:
    """The record follows from the rows: without it, and with some rows missing, the sweep ends as it did."""
    first = run_cells(coins(FAR, seeds=(0, 1)), tmp_path)
    before = counted_rows(tmp_path)
    (tmp_path / record.FILE).unlink()
    for path in tmp_path.glob("*/episodes.jsonl"):
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:kept]))
    again = run_cells(coins(FAR, seeds=(0, 1)), tmp_path)
    assert again.comparisons == first.comparisons
    assert counted_rows(tmp_path) == before


SCRIPT = """
import sys
from pathlib import Path
from harness.sweep import run_cells
from tests.harness.stopping.coins import coins
run_cells(coins({"bad": 0.3, "good": 0.8}, scenes=40, slow=0.05, workers=2), Path(sys.argv[1]))
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_sweep_that_is_ended_in_the_middle_comes_to_the_same_end(
    tmp_path: Path, number: signal.Signals
) -> None:
    calm = run_cells(coins({"bad": 0.3, "good": 0.8}, scenes=40, slow=0.05, workers=2), tmp_path / "calm")
    root = tmp_path / "killed"
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(root)], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 300
    while sum(path.read_bytes().count(b"\n") for path in root.glob("*/episodes.jsonl")) < 5:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(number)
    process.wait(timeout=300)
    again = run_cells(coins({"bad": 0.3, "good": 0.8}, scenes=40, slow=0.05, workers=2), root)
    assert again.comparisons == calm.comparisons
    assert counted_rows(root) == counted_rows(tmp_path / "calm")


def test_an_error_holds_its_pair_up_until_it_is_mended(tmp_path: Path) -> None:
    """Two methods that always end unlike: one fails, and once errs, the other succeeds."""
    fault = {"fault": "raise", "fault_once": str(tmp_path / "raised"), "fault_task": "task2"}
    cells = [cell("bad", method=fault, env={"rate": 0.0}), cell("good", env={"rate": 0.0})]
    coin = {"_target_": COIN, "rate": 1.0}
    cells[1] = Cell({**cells[1].config, "method": coin}, cells[1].choices, cells[1].overrides)
    first = run_cells(cells, tmp_path / "out")
    (one,) = first.comparisons
    assert (one.pairs, one.decided) == (2, None)
    assert f"It waits for task2-s0-i0 of {cells[0].folder_name}, which ended in an error" in one.words()
    assert not first.complete
    assert first.played == 30
    second = run_cells(cells, tmp_path / "out")
    (one,) = second.comparisons
    assert (one.pairs, one.decided, second.played) == (9, "first", 1)
    assert second.complete
    assert (second.saved, second.unneeded) == (0, 12)
    assert [len(of.rows) for of in second.cells] == [9, 9]


def test_rows_that_were_there_before_beyond_the_stop_do_not_count(tmp_path: Path) -> None:
    all_of_them = run_cells(coins(FAR, stop="all"), tmp_path)
    assert (all_of_them.comparisons, len(counted(all_of_them))) == ([], 120)
    stopped = run_cells(coins(FAR), tmp_path)
    (one,) = stopped.comparisons
    assert (stopped.played, stopped.saved, stopped.unneeded) == (0, 0, 120 - 2 * one.pairs)
    assert len(counted_rows(tmp_path)) == 2 * one.pairs
    again = run_cells(coins(FAR, stop="all"), tmp_path)
    assert len(counted(again)) == len(counted_rows(tmp_path)) == 120
    assert record.read(tmp_path).comparisons == (one,)


def test_more_scenes_go_on_and_a_decision_stays(tmp_path: Path) -> None:
    rates = {"one": 0.1, "other": 0.1, "good": 0.99}
    run_cells(coins(rates, scenes=8), tmp_path)
    before = record.read(tmp_path).comparisons
    assert [one.decided for one in before] == [None, "first"]
    longer = run_cells(coins(rates, scenes=11), tmp_path)
    undecided, decided = longer.comparisons
    assert (undecided.pairs, decided.pairs, decided.asked) == (33, before[1].pairs, 33)
    assert longer.played == 2 * 9


@pytest.mark.parametrize(
    "changed",
    [
        coins(FAR, scenes=5),
        coins(FAR, seeds=(0, 1)),
        coins(FAR, alpha=0.1),
        coins(FAR, margin=0.1),
        coins({**FAR, "third": 0.5}),
        coins(FAR, compare=[["bad", "good"]]),
        coins({"bad": 0.15}) + coins({"third": 0.5}, salt=1),
    ],
)
def test_a_plan_that_is_changed_after_the_fact_is_refused(tmp_path: Path, changed: list[Cell]) -> None:
    run_cells(coins(FAR), tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.json*")}
    with pytest.raises(UsageError, match=r"holds a sequential test whose plan was another: good against bad"):
        run_cells(changed, tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.json*")} == before


def test_a_test_of_other_cells_in_the_same_folder_is_its_own(tmp_path: Path) -> None:
    """As of another table of the same experiment."""
    first = run_cells(coins(FAR), tmp_path)
    second = run_cells(coins({"one": 0.15, "other": 0.85}, salt=1), tmp_path)
    found = record.read(tmp_path)
    assert found.comparisons == (*first.comparisons, *second.comparisons)
    assert found.counted.keys() == {of.folder.name for of in (*first.cells, *second.cells)}
    assert run_cells(coins(FAR), tmp_path).played == 0
    assert set(record.read(tmp_path).comparisons) == set(found.comparisons)


def test_a_cluster_refuses_it_before_anything_is_there(tmp_path: Path) -> None:
    class Never:
        name, lasting, patience = "ray", False, 1.0

    with pytest.raises(UsageError, match=r"run\.stop=sequential does not go with hydra/launcher=ray"):
        run_on_cluster(coins(FAR), tmp_path / "out", Never(), Plan(None, 1))  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()


def test_a_wrong_plan_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing to compare"):
        run_cells(coins({"alone": 0.5}), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_typed_on_the_command_line(tmp_path: Path) -> None:
    project = Path(__file__).resolve().parents[3]
    command = [
        sys.executable,
        "run.py",
        "-m",
        "env=noop",
        "method=coin",
        "method.rate=0.02,0.99",
        "env.scenes=12",
    ]
    command += ["hydra.searchpath=[pkg://harness.testing.conf]", f"hydra.sweep.dir={tmp_path}"]
    command += ["run.workers=0", "run.stop=sequential", "run.alpha=0.01", "run.margin=0.1"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "coin method.rate=0.99 solves more than coin method.rate=0.02 (env=noop llm=rules)" in done.stdout
    (one,) = record.read(tmp_path).comparisons
    assert (one.level, one.margin, one.asked) == (0.01, 0.1, 36)
    wrong = subprocess.run(
        [*command, "run.compare=[[coin,mtp]]"], cwd=project, capture_output=True, text=True
    )
    assert wrong.returncode == 2
    assert wrong.stderr.startswith(
        "Error: run.compare names `mtp`, which the sweep does not play. Known: coin."
    )


def simulate(
    tmp_path: Path, rates: dict[str, float], sweeps: int, **settings: Any
) -> list[list[record.Standing]]:
    found = []
    for salt in range(sweeps):
        found.append(run_cells(coins(rates, salt=salt, **settings), tmp_path / str(salt)).comparisons)
    return found


@pytest.mark.slow
def test_simulated_sweeps_without_a_difference_seldom_decide(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three methods, two comparisons, at a family's level of 0.2, stopped whenever either decides."""
    alpha, sweeps = 0.2, 300
    found = simulate(tmp_path, {"base": 0.5, "b": 0.5, "c": 0.5}, sweeps, alpha=alpha, scenes=15)
    wrong = sum(any(one.decided for one in comparisons) for comparisons in found)
    with capsys.disabled():
        print(f"\n{wrong} of {sweeps} sweeps without a difference decided, at alpha {alpha:g}")
    assert 0 < wrong <= alpha * sweeps
    assert all(one.pairs == 45 for comparisons in found for one in comparisons if not one.decided)


@pytest.mark.slow
def test_simulated_sweeps_with_a_difference_stop_early(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = [one for (one,) in simulate(tmp_path, {"base": 0.2, "better": 0.8}, 60)]
    pairs = [one.pairs for one in found]
    with capsys.disabled():
        print(
            f"\n{sum(one.decided == 'first' for one in found)} of 60 found, after {sum(pairs) / 60:.1f} of 60 pairs"
        )
    assert all(one.decided == "first" for one in found)
    assert sum(pairs) / 60 < 25
    assert json.loads((tmp_path / "0" / record.FILE).read_text())["comparisons"][0]["decided"] == "first"
