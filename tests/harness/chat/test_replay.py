"""A recorded experiment is played again from its traces or from one file: the same rows, and a stop at what was not
recorded."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hydra import initialize_config_module
from hydra.core.global_hydra import GlobalHydra
from hydra.core.plugins import Plugins
from hydra.types import RunMode

from harness import store
from harness.cells import Cell
from harness.chat.recorded import export, read
from harness.chat.replay import Replay
from harness.commandline import main
from harness.compose import Composer
from harness.failures import UsageError
from harness.play import comparable_to_recording
from harness.sweep import SweepResult, run_cells

MakeCell = Callable[..., Cell]
PARROT = {"_target_": "harness.testing.talk.Parrot", "fickle": True}
"""Answers differently each time, so that only its recording gives the same rows."""
TALK = {"_target_": "harness.testing.talk.Talk", "trials": 2, "asked": ["planner", "reflector"]}


def replay(source: Path) -> dict[str, Any]:
    return {"_target_": "harness.chat.replay.Replay", "from": str(source)}


def play(make_cell: MakeCell, root: Path, llm: dict[str, Any], **changes: Any) -> SweepResult:
    method = {**TALK, **changes.pop("method", {})}
    return run_cells([make_cell(method=method, llm=llm, seed=seed, **changes) for seed in (0, 1)], root)


def rows_of(root: Path) -> dict[tuple[int, str], dict[str, Any]]:
    return {(row["seed"], row["episode"]): comparable_to_recording(row) for row in store.load(root)}


@pytest.fixture
def recorded(tmp_path: Path, make_cell: MakeCell) -> Path:
    """An experiment of 30 episodes."""
    assert play(make_cell, tmp_path / "recorded", PARROT, run={"workers": 2}).complete
    return tmp_path / "recorded"


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("as_file", [False, True])
def test_a_replay_gives_the_rows_of_the_recording_for_nothing(
    tmp_path: Path, make_cell: MakeCell, recorded: Path, workers: int, as_file: bool
) -> None:
    source, expected = recorded, rows_of(recorded)
    if as_file:
        source = tmp_path / "mine.jsonl.gz"
        assert export([recorded], source)[2] == []
        shutil.rmtree(recorded)
    again = play(make_cell, tmp_path / "again", replay(source), run={"workers": workers})
    assert again.complete
    assert rows_of(tmp_path / "again") == expected
    assert len(expected) == 30
    spent = [row["spent"] for row in store.load(tmp_path / "again")]
    assert {(one["calls"], one["cost_usd"]) for one in spent} == {(0, 0.0)}
    assert all(one["cached_calls"] >= 4 for one in spent)


def test_a_cells_folder_alone_can_be_replayed_and_a_replay_in_the_same_folder_goes_on(
    tmp_path: Path, make_cell: MakeCell, recorded: Path
) -> None:
    (folder,) = recorded.glob("*-s0-*")
    one = make_cell(method=TALK, llm=replay(folder))
    assert run_cells([one], tmp_path / "alone").complete
    # the replay's own rows lie beside the recording, and are no part of it
    assert play(make_cell, recorded, replay(recorded)).played == 30
    assert play(make_cell, recorded, replay(recorded)).played == 0
    assert len(list(recorded.glob("*/cell.json"))) == 4


def test_the_recordings_content_is_the_cells_identity_and_not_its_place(
    tmp_path: Path, make_cell: MakeCell, recorded: Path
) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(recorded, moved)
    identity = make_cell(method=TALK, llm=replay(recorded)).identity
    assert make_cell(method=TALK, llm=replay(moved)).identity == identity
    shutil.rmtree(moved)
    play(make_cell, moved, PARROT)
    assert make_cell(method=TALK, llm=replay(moved)).identity != identity


def stopped(result: SweepResult) -> str:
    """The reason of the one error at which a sweep stopped."""
    errors = [error for cell in result.cells for error in cell.errors]
    assert [error.error for error in errors] == ["replay"]
    assert sum(cell.unplayed for cell in result.cells) == 29
    return errors[0].reason


def test_it_stops_at_the_first_call_that_was_not_recorded_and_shows_what_differs(
    tmp_path: Path, make_cell: MakeCell, recorded: Path
) -> None:
    method = {"question": "What comes before {number} in {task}?"}
    reason = stopped(play(make_cell, tmp_path / "again", replay(recorded), method=method))
    first, *difference = reason.splitlines()
    assert first.endswith(
        "task0-s0-i0: a call of `planner` was not recorded. It differs from the nearest recorded one:"
    )
    assert difference[:2] == ["--- recorded", "+++ asked now"]
    assert "-What comes after 0 in task0?" in difference
    assert "+What comes before 0 in task0?" in difference
    assert not any(line.startswith(("-You count", "+You count")) for line in difference)


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({"method": {"picture": "another"}}, "+picture "),
        ({"sampling": {"max_tokens": 99}}, "+max_tokens: 99"),
        ({"method": {"temperature": 0.5}}, "+temperature: 0.5"),
        ({"method": {"asked": ["sentry"]}}, "no call of that role (it has: planner, reflector)"),
        ({"method": {"question": "always the same"}}, "+always the same"),
    ],
)
def test_whatever_is_sent_is_compared(
    tmp_path: Path, make_cell: MakeCell, recorded: Path, changes: dict[str, Any], shown: str
) -> None:
    assert shown in stopped(play(make_cell, tmp_path / "again", replay(recorded), **changes))


def test_the_same_request_once_more_than_recorded_is_not_made_up(tmp_path: Path, make_cell: MakeCell) -> None:
    method = {"question": "always the same", "asked": ["planner"]}
    assert play(make_cell, tmp_path / "recorded", PARROT, method=method).complete
    assert play(make_cell, tmp_path / "again", replay(tmp_path / "recorded"), method=method).complete
    assert rows_of(tmp_path / "again") == rows_of(tmp_path / "recorded")
    reason = stopped(
        play(make_cell, tmp_path / "more", replay(tmp_path / "recorded"), method={**method, "calls": 5})
    )
    assert "asked once more what the recording has" in reason


def test_pictures_are_compared_by_content(tmp_path: Path, make_cell: MakeCell) -> None:
    assert play(make_cell, tmp_path / "recorded", PARROT, method={"picture": "a"}).complete
    assert play(make_cell, tmp_path / "same", replay(tmp_path / "recorded"), method={"picture": "a"}).complete
    reason = stopped(
        play(make_cell, tmp_path / "other", replay(tmp_path / "recorded"), method={"picture": "b"})
    )
    pictures = [line for line in reason.splitlines() if "picture " in line]
    assert [line[0] for line in pictures] == ["-", "+"]


def test_a_long_difference_is_cut(tmp_path: Path, make_cell: MakeCell, recorded: Path) -> None:
    method = {"question": "\n".join(f"line {i}" for i in range(200))}
    reason = stopped(play(make_cell, tmp_path / "again", replay(recorded), method=method))
    assert reason.count("\n") < 65
    assert reason.endswith("more lines")


def test_what_was_recorded_with_several_models_has_to_be_named(tmp_path: Path, make_cell: MakeCell) -> None:
    root = tmp_path / "recorded"
    cells = [make_cell(method=TALK, llm={**PARROT, "model": model}) for model in ("one", "two")]
    run_cells(cells, root)
    result = run_cells([make_cell(method=TALK, llm=replay(root))], tmp_path / "again")
    (error,) = result.cells[0].errors
    assert "was recorded 2 times" in error.reason
    for cell in cells:
        assert str(root / cell.folder_name) in error.reason
    chosen = make_cell(method=TALK, llm=replay(root / cells[1].folder_name))
    assert run_cells([chosen], tmp_path / "chosen").complete
    assert {str(row["models"]) for row in store.load(tmp_path / "chosen")} == {"['two']"}


def test_cells_that_differ_in_their_work_are_told_apart(tmp_path: Path, make_cell: MakeCell) -> None:
    root = tmp_path / "recorded"
    run_cells([make_cell(method=TALK, llm=PARROT, sandbox={"seconds": s}) for s in (1.0, 2.0)], root)
    again = [make_cell(method=TALK, llm=replay(root), sandbox={"seconds": s}) for s in (1.0, 2.0)]
    assert run_cells(again, tmp_path / "again").complete
    recorded, replayed = (
        [comparable_to_recording(row) for row in store.load(r)] for r in (root, tmp_path / "again")
    )
    assert len(recorded) == 30
    assert sorted(map(json.dumps, recorded)) == sorted(map(json.dumps, replayed))
    other = run_cells(
        [make_cell(method=TALK, llm=replay(root), sandbox={"seconds": 3.0})], tmp_path / "other"
    )
    assert "was recorded 2 times" in other.cells[0].errors[0].reason


def test_one_recorded_cell_serves_a_setting_that_was_not_recorded_until_a_call_differs(
    tmp_path: Path, make_cell: MakeCell, recorded: Path
) -> None:
    changed = play(make_cell, tmp_path / "again", replay(recorded), sandbox={"seconds": 9.0})
    assert changed.complete
    assert rows_of(tmp_path / "again") == rows_of(recorded)


def test_a_damaged_cell_is_no_recording(recorded: Path, tmp_path: Path) -> None:
    root = tmp_path / "copy"
    shutil.copytree(recorded, root)
    description = sorted(root.glob("*/cell.json"))[0]
    description.write_text('{"format": 1}')
    with pytest.raises(UsageError, match=re.escape(f"{description} is damaged (it has no `cell`)")):
        export([root], tmp_path / "r.gz")
    assert not (tmp_path / "r.gz").exists()


def test_what_has_no_recording_is_said(tmp_path: Path, make_cell: MakeCell, recorded: Path) -> None:
    for changes, said in (
        ({"env": {"scenes": 6}, "seed": 0}, "task0-s5-i0 has no recording in"),
        ({"seed": 7}, "noop noop seed 7 was not recorded. Recorded: noop noop seed 0, noop noop seed 1."),
    ):
        cell = make_cell(method=TALK, llm=replay(recorded), **changes)
        result = run_cells([cell], tmp_path / str(changes["seed"]))
        assert said in result.cells[0].errors[0].reason


def test_an_episode_that_was_an_error_is_left_out_of_a_file(tmp_path: Path, make_cell: MakeCell) -> None:
    small = {"env": {"size": 1, "scenes": 3}, "record": {"trace": True}}
    result = run_cells(
        [make_cell(method=TALK, llm={**PARROT, "down_after": 9}, **small)], tmp_path / "recorded"
    )
    errors = [error.episode for error in result.cells[0].errors]
    assert 0 < len(errors) < 3
    episodes, calls, left_out = export([tmp_path / "recorded"], tmp_path / "r.gz")
    assert (episodes, len(left_out)) == (3 - len(errors), len(errors))
    assert 4 <= calls <= 9
    assert all("error provider" in line for line in left_out)
    (cell,) = read(tmp_path / "r.gz")
    assert cell.calls(errors[0]) is None


def test_without_traces_there_is_nothing_to_replay(tmp_path: Path, make_cell: MakeCell) -> None:
    play(make_cell, tmp_path / "recorded", PARROT, record={"trace": False})
    assert "record=none" in stopped(play(make_cell, tmp_path / "again", replay(tmp_path / "recorded")))
    episodes, _, left_out = export([tmp_path / "recorded"], tmp_path / "r.gz")
    assert (episodes, len(left_out)) == (0, 30)


def test_a_trace_without_keys_is_of_an_older_version(
    tmp_path: Path, make_cell: MakeCell, recorded: Path
) -> None:
    for trace in recorded.glob("*/traces/task0-s0-i0.jsonl"):
        events = [json.loads(line) for line in trace.read_text().splitlines()]
        trace.write_text(
            "".join(json.dumps({k: v for k, v in e.items() if k != "key"}) + "\n" for e in events)
        )
    assert "record the experiment again" in stopped(play(make_cell, tmp_path / "again", replay(recorded)))


def test_a_file_is_small_whole_and_the_same_each_time(tmp_path: Path, recorded: Path) -> None:
    first, second = tmp_path / "a.gz", tmp_path / "folder" / "b.gz"
    episodes, calls, _ = export([recorded], first)
    assert export([recorded], second)[:2] == (episodes, calls)
    assert episodes == 30
    assert first.read_bytes() == second.read_bytes()
    text = gzip.decompress(first.read_bytes()).decode()
    assert text.count("You count.") == 1
    assert {path.name for path in tmp_path.iterdir()} == {"a.gz", "folder", "recorded"}
    calls_read = [cell.calls(key) for cell in read(first) for key in ("task0-s0-i0", "task2-s4-i0")]
    for found in calls_read:
        assert found is not None
        assert found[0].messages[0]["text"] == "You count."
        assert found[0].reply.details == {"thinking": "hm"}


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: b"",
        lambda data: b"not a recording",
        lambda data: gzip.compress(b"[1, 2]\n"),
        lambda data: gzip.compress(b'{"recording": 99}\n'),
        lambda data: gzip.compress(b'{"recording": 1}\n{"episode": "x", "calls": []}\n'),
        lambda data: gzip.compress(b'{"recording": 1}\n{"cell": "c"}\n'),
        lambda data: gzip.compress(b'{"recording": 1}\n[1]\n'),
        lambda data: data[:10] + b"\xff" * (len(data) - 10),  # a head of gzip, and nothing that unpacks
    ],
)
def test_a_file_that_cannot_be_read_is_told_before_anything_runs(
    tmp_path: Path, make_cell: MakeCell, recorded: Path, damage: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "r.gz"
    export([recorded], path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(UsageError, match=r"r\.gz"):
        play(make_cell, tmp_path / "again", replay(path))
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize("make", [lambda path: None, lambda path: path.mkdir(), lambda path: path.touch()])
def test_a_place_without_a_recording_is_told(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "nothing")
    (problem,) = Replay(str(tmp_path / "nothing")).problems()
    assert "nothing" in problem.what
    assert "llm.from=outputs/EXPERIMENT" in problem.fix
    assert Replay().problems()[0].what == "llm=replay has nothing to replay"


def test_the_command_exports(tmp_path: Path, recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import harness.commands

    target = tmp_path / "mine.jsonl.gz"
    assert main(harness.commands, "", ["cache", "export", "--from", str(recorded), "--out", str(target)]) == 0
    assert f"{target}: 30 episodes" in capsys.readouterr().out
    assert Replay(str(target)).problems() == []
    assert main(harness.commands, "", ["cache", "export", "--from", str(tmp_path / "no"), "--out", "x"]) == 2
    assert "is not there" in capsys.readouterr().err
    (tmp_path / "taken").mkdir()
    onto = ["cache", "export", "--from", str(recorded), "--out", str(tmp_path / "taken")]
    assert main(harness.commands, "", onto) == 2
    assert f"{tmp_path / 'taken'} was not written" in capsys.readouterr().err
    assert not (tmp_path / "taken.tmp").exists()


def test_a_cell_that_is_named_twice_is_exported_once(tmp_path: Path, recorded: Path) -> None:
    once, twice = tmp_path / "once.gz", tmp_path / "twice.gz"
    found = export([recorded], once)
    assert export([recorded, *sorted(path.parent for path in recorded.glob("*/cell.json"))], twice) == found
    assert once.read_bytes() == twice.read_bytes()


@pytest.fixture
def composer() -> Iterator[Composer]:
    Plugins.instance()
    with initialize_config_module("conf", version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        yield Composer(loader, loader.load_configuration("config", [], run_mode=RunMode.MULTIRUN))


@pytest.mark.slow
def test_a_recorded_sweep_on_the_tabletop_is_replayed_to_equal_rows(
    tmp_path: Path, composer: Composer
) -> None:
    """With all that a planner, an adapter and a reflector with its picture are asked in three trials."""

    def sweep(root: Path, *llm: str) -> SweepResult:
        tasks = "env.tasks=[push_button,beat_the_buzz]"
        shared = ["env=tabletop", tasks, "env.scenes=1", "run.workers=2", *llm]
        methods = ("retry", "mtp", "self_reflection")
        return run_cells([composer.cell([f"method={method}", *shared]) for method in methods], root)

    def rows(root: Path) -> dict[tuple[str, str], dict[str, Any]]:
        return {(row["method"], row["episode"]): comparable_to_recording(row) for row in store.load(root)}

    assert sweep(tmp_path / "recorded").complete
    recorded = rows(tmp_path / "recorded")
    assert len(recorded) == 6
    asked = {role for row in recorded.values() for role in row["usage"]["roles"]}
    assert asked == {"planner", "composer", "low_level", "adapter", "reflector"}
    export([tmp_path / "recorded"], tmp_path / "recorded.jsonl.gz")
    for source in ("recorded", "recorded.jsonl.gz"):
        again = tmp_path / f"again-{source}"
        assert sweep(again, "llm=replay", f"llm.from={tmp_path / source}").complete
        assert rows(again) == recorded
