"""What reaches a tracker, and when, with a tracker that keeps everything in memory."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from harness import store
from harness.cells import Cell
from harness.store import Row
from harness.sweep import run_cells
from harness.trackers import Point, State, TrackedCell
from harness.trackers.ledger import BusyError
from harness.trackers.mirror import Ending, mirroring

MakeCell = Callable[..., Cell]


@dataclass
class Run:
    cell: TrackedCell
    points: list[Point] = field(default_factory=list)
    newest: list[Point] = field(default_factory=list)
    summary: Mapping[str, Any] = field(default_factory=dict)
    states: list[str] = field(default_factory=list)


@dataclass
class Keeper:
    """A service and its client. `tells`: it can say how many rows a run holds. `room`: rows that it takes before it
    breaks down."""

    tells: bool = False
    room: int = 10**9
    place: str = "here"
    patience: float = 1.0
    media: str = "none"
    runs: dict[str, Run] = field(default_factory=dict)
    opened: int = 0
    address: str = "memory"

    def problems(self) -> list[Any]:
        return []

    def destination(self) -> str:
        return self.place

    def open(self, root: Path) -> Keeper:
        self.opened += 1
        return self

    def begin(self, cell: TrackedCell, code: str) -> int | None:
        run = self.runs.setdefault(cell.run, Run(cell))
        run.states.append("running")
        return len(run.points) if self.tells else None

    def add(self, cell: TrackedCell, points: Sequence[Point]) -> None:
        for point in points:
            self.room -= 1
            if self.room < 0:
                raise ConnectionError("it broke down")
            self.runs[cell.run].points.append(point)

    def end(
        self, cell: TrackedCell, newest: Sequence[Point], summary: Mapping[str, Any], state: State
    ) -> None:
        run = self.runs[cell.run]
        run.newest, run.summary = list(newest), summary
        run.states.append(state)

    def close(self) -> None:
        """Nothing to close."""


def mirror(root: Path, keeper: Keeper, how: Ending = "ended") -> int:
    """All that is there; returns how many rows were sent."""
    with mirroring(root, keeper) as found:
        found.finish(how)
        return found.sent


def expected(root: Path) -> Counter[tuple[str, str, str]]:
    return Counter((row["cell"], row["episode"], row["status"]) for row in store.load(root))


def kept(keeper: Keeper) -> Counter[tuple[str, str, str]]:
    return Counter(
        (run.cell.identity, point.episode, point.status)
        for run in keeper.runs.values()
        for point in run.points
    )


def write(root: Path, *rows: tuple[str, str, float], plan: Sequence[str] = (), cell: str = "abc") -> None:
    """Rows (episode, status, started) of a cell, appended to its file."""
    folder = root / f"mtp-playtable-s0-{cell}"
    folder.mkdir(parents=True, exist_ok=True)
    description = {
        "format": store.FORMAT,
        "cell": cell,
        "method": "mtp",
        "env": "playtable",
        "seed": 0,
        "choices": {"llm": "rules"},
        "config": {"name": "mine", "seed": 0, "tracker": {"uri": "http://ada:secret@host"}},
    }
    (folder / "cell.json").write_text(json.dumps(description))
    if plan:
        (folder / "plan.json").write_text(json.dumps({"started": 0.0, "episodes": list(plan)}))
    with open(folder / "episodes.jsonl", "a") as file:
        for episode, status, started in rows:
            file.write(json.dumps(row(episode, status, started)) + "\n")


def row(episode: str, status: str, started: float) -> Row:
    return {
        "episode": episode,
        "task": episode.partition("-")[0],
        "instruction": "do it",
        "scene": 0,
        "status": status,
        "failure": "goal" if status == "failure" else None,
        "error": "provider" if status == "error" else None,
        "reason": "",
        "trial_count": 1,
        "steps": 7,
        "subtasks_done": 1,
        "subtasks": 4,
        "usage": {"calls": 3, "prompt_tokens": 30, "completion_tokens": 5, "cost_usd": 0.25},
        "attempt": 1,
        "state_hash": "ff",
        "code": "c0de",
        "started": started,
        "timings": {"seconds": 2.0, "chat_seconds": 1.5},
        "video": None,
    }


def test_every_row_of_a_sweep_arrives_once_in_one_run_a_cell(tmp_path: Path, make_cell: MakeCell) -> None:
    run_cells([make_cell(seed=seed, method={"fault": "provider"}) for seed in (0, 1)], tmp_path)
    keeper = Keeper()
    assert mirror(tmp_path, keeper) == 20
    assert kept(keeper) == expected(tmp_path)
    assert len(keeper.runs) == 2
    for run in keeper.runs.values():
        assert [point.number for point in run.points] == list(range(10))
        assert run.states == ["running", "failed"]
        assert run.summary["unplayed"] == 5
    opened = keeper.opened
    assert mirror(tmp_path, keeper) == 0
    assert (keeper.opened, kept(keeper)) == (opened, expected(tmp_path))


def test_a_second_start_adds_the_new_rows_to_the_same_run(tmp_path: Path, make_cell: MakeCell) -> None:
    keeper = Keeper()
    once = {"fault": "raise", "fault_once": str(tmp_path / "once")}
    for scenes, rows in ((2, 6), (3, 4)):  # an error that is played again, and three new scenes
        run_cells([make_cell(env={"scenes": scenes}, method=once, run={"retries": 0})], tmp_path)
        assert mirror(tmp_path, keeper) == rows
    (run,) = keeper.runs.values()
    assert run.states == ["running", "failed", "running", "finished"]
    assert [point.number for point in run.points] == list(range(10))
    assert Counter(point.status == "error" for point in run.points) == {False: 9, True: 1}
    assert sorted(point.episode for point in run.newest) == sorted(e["episode"] for e in store.load(tmp_path))
    assert (run.summary["errors"], run.summary["episodes"]) == (0, 9)
    assert run.summary["errors_by_kind/bug"] == 0


def test_an_error_of_one_job_takes_no_verdict_of_another_away(tmp_path: Path) -> None:
    folder = tmp_path / "mtp-playtable-s0-abc"
    write(tmp_path, ("a-s0-i0", "success", 1.0), plan=["a-s0-i0"])
    (folder / "episodes.jsonl").rename(folder / "episodes-x-00000.jsonl")
    write(tmp_path, ("a-s0-i0", "error", 2.0))
    (folder / "episodes.jsonl").rename(folder / "episodes-x-00001.jsonl")
    keeper = Keeper()
    assert mirror(tmp_path, keeper) == 2
    (run,) = keeper.runs.values()
    assert ([point.status for point in run.newest], run.states[-1]) == (["success"], "finished")
    assert (run.summary["success_rate"], run.summary["errors"]) == (1.0, 0)


def test_rows_come_while_they_are_written(tmp_path: Path) -> None:
    keeper = Keeper()
    plan = ["a-s0-i0", "a-s1-i0", "a-s2-i0"]
    write(tmp_path, plan=plan)
    with mirroring(tmp_path, keeper) as found:
        found.catch_up()
        assert keeper.opened == 0
        write(tmp_path, ("a-s0-i0", "failure", 1.0))
        found.catch_up()
        (run,) = keeper.runs.values()
        assert [point.episode for point in run.points] == ["a-s0-i0"]
        write(tmp_path, ("a-s1-i0", "success", 3.0), ("a-s2-i0", "success", 5.0))
        found.catch_up()
        assert run.states == ["running", "finished"], "a cell ends with its last verdict, not with the sweep"
        found.finish("ended")
    assert run.states == ["running", "finished"]
    assert [point.metrics["so_far/success_rate"] for point in run.points] == [0, 1 / 2, 2 / 3]


def test_a_replaced_file_is_not_sent_again(tmp_path: Path) -> None:
    keeper = Keeper()
    write(tmp_path, ("a-s0-i0", "error", 1.0), ("a-s1-i0", "success", 2.0), plan=["a-s0-i0", "a-s1-i0"])
    with mirroring(tmp_path, keeper) as found:
        found.catch_up()
        path = next(tmp_path.glob("*/episodes.jsonl"))
        path.rename(path.with_suffix(".old"))
        write(tmp_path, ("a-s1-i0", "success", 2.0), ("a-s0-i0", "failure", 9.0))
        found.catch_up()
    (run,) = keeper.runs.values()
    assert [(point.episode, point.status) for point in run.points] == [
        ("a-s0-i0", "error"),
        ("a-s1-i0", "success"),
        ("a-s0-i0", "failure"),
    ]
    assert run.summary["success_rate"] == 0.5


@pytest.mark.parametrize(
    ("statuses", "how", "state"),
    [
        (["success", "failure"], "ended", "finished"),
        (["success", "failure"], "interrupted", "finished"),
        (["success", "failure"], "broken", "finished"),
        (["success"], "interrupted", "stopped"),
        (["error"], "interrupted", "stopped"),
        (["success", "error"], "interrupted", "failed"),
        (["success", "error"], "ended", "failed"),
        (["error"], "ended", "failed"),
        (["success"], "ended", "stopped"),  # a budget was reached
        (["success"], "broken", "failed"),
    ],
)
def test_how_it_ended(tmp_path: Path, statuses: list[str], how: Ending, state: str) -> None:
    keeper = Keeper()
    rows = [(f"a-s{i}-i0", status, float(i)) for i, status in enumerate(statuses)]
    write(tmp_path, *rows, plan=["a-s0-i0", "a-s1-i0"])
    mirror(tmp_path, keeper, how)
    (run,) = keeper.runs.values()
    assert (run.states[-1], run.summary["state"]) == (state, state)


def test_a_cell_without_rows_has_no_run(tmp_path: Path) -> None:
    keeper = Keeper()
    write(tmp_path, plan=["a-s0-i0"])
    assert mirror(tmp_path, keeper, "interrupted") == 0
    assert (keeper.runs, keeper.opened) == ({}, 0)


def test_a_longer_plan_without_new_rows_is_told(tmp_path: Path) -> None:
    keeper = Keeper()
    write(tmp_path, ("a-s0-i0", "success", 1.0), plan=["a-s0-i0"])
    mirror(tmp_path, keeper)
    write(tmp_path, plan=["a-s0-i0", "a-s1-i0"])
    assert mirror(tmp_path, keeper, "interrupted") == 0
    (run,) = keeper.runs.values()
    assert run.states == ["running", "finished", "running", "stopped"]
    assert run.summary["unplayed"] == 1


@pytest.mark.parametrize("room", range(6))
def test_a_service_that_tells_what_it_holds_gets_what_it_lacks(tmp_path: Path, room: int) -> None:
    keeper = Keeper(tells=True, room=room)
    episodes = [f"a-s{i}-i0" for i in range(5)]
    write(tmp_path, *[(e, "success", float(i)) for i, e in enumerate(episodes)], plan=episodes)
    if room < 5:
        with pytest.raises(ConnectionError):
            mirror(tmp_path, keeper)
    keeper.room = 5
    mirror(tmp_path, keeper)
    (run,) = keeper.runs.values()
    assert [(point.number, point.episode) for point in run.points] == list(enumerate(episodes))
    assert run.states[-1] == "finished"


def test_runs_of_the_same_cell_in_two_folders_are_two(tmp_path: Path) -> None:
    keeper = Keeper()
    for name in ("one", "two"):
        write(tmp_path / name, ("a-s0-i0", "success", 1.0), plan=["a-s0-i0"])
        mirror(tmp_path / name, keeper)
    assert len(keeper.runs) == 2
    assert all(name.startswith("abc-") for name in keeper.runs)


def test_what_went_to_one_place_has_not_gone_to_another(tmp_path: Path) -> None:
    here, there = Keeper(), Keeper(place="there")
    write(tmp_path, ("a-s0-i0", "success", 1.0), plan=["a-s0-i0"])
    assert [mirror(tmp_path, keeper) for keeper in (here, there, here)] == [1, 1, 0]
    assert list(here.runs) == list(there.runs)


def test_one_process_at_a_time(tmp_path: Path) -> None:
    write(tmp_path, ("a-s0-i0", "success", 1.0))
    with mirroring(tmp_path, Keeper()), pytest.raises(BusyError):
        mirror(tmp_path, Keeper())
    assert mirror(tmp_path, Keeper()) == 1


def test_what_a_run_is_told_of_its_cell(tmp_path: Path) -> None:
    keeper = Keeper()
    write(tmp_path, ("a-s0-i0", "success", 1.0))
    mirror(tmp_path, keeper)
    (run,) = keeper.runs.values()
    assert run.cell.experiment == "mine"
    assert run.cell.name == "mtp playtable s0"
    assert run.cell.tags == {"method": "mtp", "env": "playtable", "seed": "0", "llm": "rules"}
    assert "secret" not in repr((run.cell.config, run.cell.choices, run.summary))


def test_a_torn_ledger(tmp_path: Path) -> None:
    keeper = Keeper()
    write(tmp_path, ("a-s0-i0", "success", 1.0), plan=["a-s0-i0", "a-s1-i0"])
    mirror(tmp_path, keeper)
    (path,) = (tmp_path / ".tracking").glob("*/abc.jsonl")
    with open(path, "a") as file:
        file.write('{"number": 1, "epis')
    write(tmp_path, ("a-s1-i0", "success", 2.0))
    assert mirror(tmp_path, keeper) == 1
    assert mirror(tmp_path, keeper) == 0
    (run,) = keeper.runs.values()
    assert [point.number for point in run.points] == [0, 1]
