"""What stands below a table about its numbers: which interval it is, averages over tasks, pass@k, comparisons."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis import items, rows
from analysis.statistics.rates import IntervalMethod, Rate
from analysis.tables.entries import Computed, compute
from analysis.tables.layout import arrange
from tests.analysis.report.conftest import record


def table(number: str, folder: Path, interval: IntervalMethod = "clopper-pearson") -> Computed:
    (item,) = items.load("mtp", [number])
    return compute(item, rows.load([folder]), interval=interval)


def noted(computed: Computed, start: str) -> list[str]:
    return [note for note in arrange(computed).notes if note.startswith(start)]


@pytest.mark.parametrize(
    ("method", "words"),
    [("clopper-pearson", "the exact"), ("wilson", "Wilson's"), ("jeffreys", "Jeffreys'")],
)
def test_the_interval_of_rates_is_the_one_asked_for_and_is_named(
    experiment: Path, method: IntervalMethod, words: str
) -> None:
    found = table("table1", experiment, method)
    low, high = Rate(3, 8).interval(method)
    assert found.entries["VoxPoser", "Average"].interval == pytest.approx((100 * low, 100 * high))
    assert noted(found, "±") == [
        f"± is the sample standard deviation over seeds; brackets hold {words} 95 % interval over episodes."
    ]


def test_an_average_over_tasks_has_an_interval_over_tasks_beside(experiment: Path) -> None:
    (note,) = noted(table("table1", experiment), "Average, mean over tasks")
    assert note.startswith(
        "Average, mean over tasks with its 95 % interval if they are a sample of tasks: VoxPoser 37.5 [0.0, 100.0] "
    )
    assert "(2 tasks)" in note and "Self-reflection" not in note
    (one_task,) = table("table1", experiment).entries["MTP", "Button"].counted.tasks.items()
    assert one_task == ("push_button", Rate(4, 4))
    assert not noted(table("table1", experiment), "Button, mean over tasks")


def test_pass_at_k_is_the_share_that_was_solved_within_k_trials(experiment: Path) -> None:
    assert not noted(table("table1", experiment), "Average, pass@k")  # all took one trial
    cell = next(experiment.glob("mtp-tabletop-playtable-s0*"))
    for episode, trials in (("push_button-s1-i0", 2), ("lamp_off-s1-i0", 3)):  # solved, not solved
        record(cell, episode, trial_count=trials)
    (note,) = noted(table("table1", experiment), "Average, pass@k")
    assert note == (
        "Average, pass@k: percent solved within 1 to 3 trials: VoxPoser 37.5; Retry 66.7; MTP 75.0, 87.5, 87.5."
    )


def test_rows_that_do_not_say_their_trials_have_no_pass_at_k(experiment: Path) -> None:
    cell = next(experiment.glob("mtp-tabletop-playtable-s0*"))
    for episode, trials in (("push_button-s1-i0", 2), ("lamp_off-s1-i0", None)):
        record(cell, episode, trial_count=trials)
    retry = next(experiment.glob("retry-tabletop*"))
    record(retry, "push_button-s0-i0", trial_count=2)
    (note,) = noted(table("table1", experiment), "Average, pass@k")
    assert note == "Average, pass@k: percent solved within 1 to 2 trials: VoxPoser 37.5; Retry 33.3, 66.7."


def test_comparisons_say_what_would_decide(experiment: Path) -> None:
    first, *_ = noted(table("table1", experiment), "Average: MTP and VoxPoser")
    assert "cannot be told apart" in first and "To decide a difference of this size takes about" in first
    assert "With its 2 tasks as a sample of tasks: +50.0 points" in first
