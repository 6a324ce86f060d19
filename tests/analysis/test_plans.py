"""Plans side by side: which episode and trial are shown, what its steps were, and what is said where there are none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis import items, rows
from analysis.plans import Plan, Plans, Remembered, SideBySide, side_by_side
from harness.failures import UsageError
from harness.tracing import Trace
from tests.analysis.report.conftest import record
from tests.analysis.tables.conftest import write_cell

EPISODE = "push_button-s0-i0"
HIT = {
    "environment": "playtable",
    "task": "push_red",
    "instruction": "push it",
    "score": 0.8312,
    "program": "x",
}


def the_item() -> Plans:
    (found,) = items.load("mtp", ["table3"])
    assert isinstance(found, Plans)
    return found


def play(folder: Path, *trials: dict[str, Any], episode: str = EPISODE) -> None:
    """A trace of trials: `calls` of the planner, the `hits` that a replan was shown, `success`."""
    write = Trace(folder / "traces" / f"{episode}.jsonl")
    write("episode", method="mtp", env="ur5_sim", key=episode, seed=0)
    for index, trial in enumerate(trials):
        write("trial", index=index, state_hash="abc")
        if index:
            write("retrieve", rank=index - 1, records=9, hits=trial["hits"])
        for arguments in trial["calls"]:
            write("call", by="planner", name="composer", arguments=arguments)
            write("call", by="composer", name="execute", arguments=["<observation>"])
        write("trial_end", index=index, success=trial.get("success", False), failure=None, reason="")
    write.close()
    record(folder, episode, trace=f"traces/{episode}.jsonl", trial_count=len(trials))


@pytest.fixture
def voxposer(tmp_path: Path) -> Path:
    verdicts = {("push_button", 0): "failure", ("push_button", 1): "success", ("remove_lid", 0): "error"}
    return write_cell(tmp_path / "mtp", "voxposer", "ur5_sim", 0, verdicts)


@pytest.fixture
def mtp(tmp_path: Path) -> Path:
    verdicts = {("push_button", 0): "success", ("push_button", 1): "failure", ("remove_lid", 0): "failure"}
    return write_cell(tmp_path / "mtp", "mtp", "ur5_sim", 0, verdicts, memory="both")


def read(folder: Path, **where: str) -> SideBySide:
    return side_by_side(the_item(), rows.load([folder.parent]), where)


def plan(found: SideBySide, task: str, method: str) -> Plan:
    (one,) = [one for one in found.tasks if one.label == task]
    return one.plans[found.methods.index(method)]


def test_a_plan_is_the_planners_calls_in_the_trial_that_succeeded(voxposer: Path, mtp: Path) -> None:
    play(voxposer, {"calls": [["'close gripper'"], ["'push'"]]})
    play(
        mtp,
        {"calls": [["'first'"]]},
        {"calls": [["'move up'"], ["'move down'"]], "hits": [HIT, HIT], "success": True},
        {"calls": [["'never shown'"]], "hits": [HIT, HIT]},
    )
    found = read(mtp)
    assert (found.methods, found.scene, found.seed) == (("VoxPoser", "MTP"), 0, 0)
    ours = plan(found, "Push button", "VoxPoser")
    assert ours.steps == ('composer("close gripper")', 'composer("push")')
    assert ours.remembered is None
    assert ours.outcome() == "failure in trial 1 of 1 (goal); 1 of 2 episodes of this task succeeded"
    theirs = plan(found, "Push button", "MTP")
    assert theirs.steps == ('composer("move up")', 'composer("move down")')
    assert theirs.remembered == Remembered(1, "playtable", "push_red", "push it", 0.8312)
    assert theirs.remembered.words() == "playtable, push_red: push it (rank 1, similarity 0.83)"
    assert theirs.outcome() == "success in trial 2 of 3; 1 of 2 episodes of this task succeeded"


def test_without_a_success_the_last_trial_is_shown_and_what_memory_it_had(mtp: Path) -> None:
    second = HIT | {"instruction": "push that"}
    trials = [{"calls": [["'a'"]]}, {"calls": [["'b'"]], "hits": [HIT, second]}]
    play(mtp, *trials, {"calls": [["'c'"]], "hits": [HIT, second]}, episode="remove_lid-s0-i0")
    found = plan(read(mtp), "Remove lid", "MTP")
    assert (found.steps, found.trial) == (('composer("c")',), 3)
    assert found.remembered and (found.remembered.rank, found.remembered.instruction) == (2, "push that")
    play(mtp, *trials, {"calls": [], "hits": [HIT]}, episode="remove_lid-s0-i0")
    found = plan(read(mtp), "Remove lid", "MTP")
    assert (found.steps, found.problem) == ((), "no step was executed")
    assert found.remembered and found.remembered.words() == "nothing, it holds no record of rank 2"


def test_what_is_missing_is_said(voxposer: Path, mtp: Path) -> None:
    found = read(mtp)
    assert plan(found, "Push button", "MTP").problem == "no trace was recorded (record=none)"
    assert plan(found, "Push button", "MTP").outcome() == "success; 1 of 2 episodes of this task succeeded"
    assert "played again" in plan(found, "Remove lid", "VoxPoser").problem
    assert plan(found, "Remove lid", "VoxPoser").outcome() == (
        "error (provider); 0 of 0 episodes of this task succeeded"
    )
    for task in ("Rotate box", "Move object"):
        assert plan(found, task, "MTP") == Plan(problem="not played")
        assert plan(found, task, "MTP").outcome() == ""
    record(mtp, EPISODE, trace="traces/gone.jsonl")
    record(voxposer, EPISODE, trace="traces/damaged.jsonl")
    (voxposer / "traces").mkdir()
    (voxposer / "traces" / "damaged.jsonl").write_text('{"event": "trial", "ind\n')
    found = read(mtp)
    assert plan(found, "Push button", "MTP").problem == "traces/gone.jsonl is not there any more"
    assert "traces/damaged.jsonl is damaged" in plan(found, "Push button", "VoxPoser").problem
    (voxposer / "traces" / "damaged.jsonl").write_text('{"event": "trial", "index": 0')  # a kill tore it
    assert plan(read(mtp), "Push button", "VoxPoser").problem == "the trace holds no trial"


def test_arguments_are_written_as_programs_have_them(mtp: Path) -> None:
    given = [
        ["'the cup\\'s \"lid\"'"],
        ["'a very long sentence…"],
        ["<observation>", "speed=0.5"],
        ["'half \\ud83d'"],
        [],
    ]
    play(mtp, {"calls": given, "success": True})
    assert plan(read(mtp), "Push button", "MTP").steps == (
        'composer("the cup\'s \\"lid\\"")',
        "composer('a very long sentence…)",
        "composer(<observation>, speed=0.5)",
        'composer("half \\ud83d")',
        "composer()",
    )


def test_the_scene_is_the_items_and_the_seed_the_smallest(voxposer: Path, mtp: Path) -> None:
    other = write_cell(mtp.parent, "mtp", "ur5_sim", 3, {("push_button", 0): "failure"}, memory="both")
    play(mtp, {"calls": [["'seed 0'"]]})
    play(mtp, {"calls": [["'scene 1'"]]}, episode="push_button-s1-i0")
    play(other, {"calls": [["'seed 3'"]]})
    found = plan(read(mtp), "Push button", "MTP")
    assert (found.steps, found.successes, found.episodes) == (('composer("seed 0")',), 1, 3)
    again = side_by_side(replace(the_item(), scene=1), rows.load([mtp.parent]))
    assert plan(again, "Push button", "MTP").steps == ('composer("scene 1")',)
    assert any("scene 1 with seed 0 is shown, whatever came of it" in note for note in again.notes)


def test_methods_that_began_differently_and_cells_that_differ_are_not_passed_over(
    voxposer: Path, mtp: Path
) -> None:
    record(voxposer, EPISODE, state_hash="other", instruction="push the button")
    record(mtp, EPISODE, instruction="push the button")
    found = read(mtp)
    assert "Push button: the methods did not start from the same state." in found.notes
    assert not any(note.startswith("Remove lid: the methods") for note in found.notes)
    assert [task.instruction for task in found.tasks if task.label == "Push button"] == ["push the button"]
    write_cell(mtp.parent, "mtp", "ur5_sim", 0, {}, memory="both", sampling={"temperature": 1})
    with pytest.raises(UsageError, match="sampling"):
        read(mtp)


def test_the_experiment_has_the_cells_of_table_4() -> None:
    import yaml

    nodes = [yaml.safe_load((items.EXPERIMENTS / f"mtp_table{number}.yaml").read_text()) for number in (3, 4)]
    assert nodes[0]["hydra"] == nodes[1]["hydra"] and nodes[0]["name"] == nodes[1]["name"]
