"""Records, their files, what may be retrieved, and how a memory is made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness import store
from harness.failures import UsageError
from methods.code_memory import SHIPPED, CodeMemory, Record
from methods.code_memory.__main__ import main
from methods.code_memory.build import collect
from methods.code_memory.records import digest, load, normalised, save

CUP = Record("kitchen", "lift", "lift the cup", 'composer("grasp the cup")', {"seed": 3})
JAR = Record("kitchen", "open", "open the jar", 'composer("twist the lid")')
LAMP = Record("office", "lift", "lift the lamp", 'composer("grasp the lamp")')


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sub" / "memory.jsonl"
    save([CUP, JAR, LAMP], path)
    return path


def test_records_come_back_as_they_were(file: Path) -> None:
    assert load(file) == (CUP, JAR, LAMP)
    assert CodeMemory([str(file)]).records() == (CUP, JAR, LAMP)
    assert not list(file.parent.glob("*.part"))


def test_records_of_the_same_environment_and_task_are_kept_out(file: Path) -> None:
    memory = CodeMemory([str(file)])
    assert memory.records() is memory.records()
    allowed = [record for record in memory.records() if memory.allowed(record, "kitchen", "lift")]
    assert allowed == [JAR, LAMP]
    assert all(memory.allowed(record, "office", "open") for record in memory.records())
    everything = CodeMemory([str(file)], allow_same_task=True)
    assert all(everything.allowed(record, "kitchen", "lift") for record in everything.records())


def test_no_source_is_an_empty_memory() -> None:
    assert CodeMemory().records() == ()
    assert CodeMemory().problems() == []


def test_a_source_that_is_not_there_is_told_before_anything_runs() -> None:
    (problem,) = CodeMemory(["tabeltop"]).problems()
    assert "tabeltop" in problem.what
    assert "Did you mean tabletop?" in problem.what


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{not json", "line 2: not JSON"),
        ("[1]", "line 2: a record is an object"),
        ('{"environment": "a", "task": "b", "instruction": "c"}', "line 2: the record has no text `code`"),
        (json.dumps({"environment": "a", "task": 3, "instruction": "c", "code": "d"}), "no text `task`"),
        (
            json.dumps({**dict.fromkeys(("environment", "task", "instruction", "code"), "a"), "source": 1}),
            "source",
        ),
    ],
)
def test_what_is_no_record_is_named_with_its_line(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "bad.jsonl"
    save([CUP], path)
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(UsageError, match=message):
        load(path)


def test_code_is_compared_without_layout_and_comments() -> None:
    assert normalised("x=1 # one\n\ny = 2") == normalised("x = 1\ny=2")
    assert normalised("x = 1") != normalised("x = 2")
    assert normalised("x = (\n\n y") == "x = (\ny"


def row(task: str, trials: list[tuple[bool, str]], **changes: Any) -> dict[str, Any]:
    return {
        "env": "kitchen",
        "task": task,
        "instruction": f"do {task}",
        "method": "retry",
        "models": ["m-1"],
        "seed": 0,
        "scene": 0,
        "versions": {"simulator": "none"},
        "trials": [{"success": success, "facts": {"planner_code": code}} for success, code in trials],
        **changes,
    }


def test_a_memory_is_the_distinct_programs_that_succeeded(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        row("b", [(False, "bad()"), (True, "good()")], scene=2),
        row("b", [(True, "good()  # again")], scene=1),
        row("a", [(True, "other()")]),
        row("a", [(True, "elsewhere()")], env="office"),
        row("c", [(False, "never()")]),
        {**row("d", []), "trials": [{"success": True, "facts": {}}]},
    ]
    monkeypatch.setattr(store, "load", lambda folder: rows)
    records = collect([Path("outputs/mine")], "kitchen")
    assert [(record.task, record.code) for record in records] == [("a", "other()"), ("b", "good()  # again")]
    assert records[1].source == {
        "experiment": "mine",
        "method": "retry",
        "model": "m-1",
        "seed": 0,
        "scene": 1,
        "trial": 0,
        "versions": {"simulator": "none"},
    }
    assert len(collect([Path("outputs/mine")])) == 3


def test_the_commands(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "lift the cup" in shown
    assert "3 records" in shown
    assert main(["show", "tabletop"]) == 0
    assert main(["show", "no_such_memory"]) == 2
    assert "no_such_memory" in capsys.readouterr().err
    assert main(["build", "--from", "outputs/no_such_experiment", "--out", "x.jsonl"]) == 2
    assert not Path("x.jsonl").exists()


@pytest.mark.parametrize("name", ["tabletop", "playtable"])
def test_memories_that_ship_say_where_they_came_from(name: str) -> None:
    records = load(SHIPPED / f"{name}.jsonl")
    assert len(records) >= 10
    for record in records:
        assert record.environment == name
        assert {"experiment", "method", "model", "seed", "scene", "trial", "versions"} <= set(record.source)


@pytest.mark.slow
def test_memories_that_ship_are_what_the_command_gives(tmp_path: Path) -> None:
    """For the version of the simulator that they were made with; another one may fail where this one did not."""
    import mujoco

    made_with = {record.source["versions"]["mujoco"] for record in load(SHIPPED / "tabletop.jsonl")}
    if made_with != {mujoco.__version__}:
        pytest.skip(f"the memories were made with MuJoCo {made_with}, this is {mujoco.__version__}")
    assert main(["rebuild", "--out", str(tmp_path)]) == 0
    for name in ("tabletop", "playtable"):
        assert load(tmp_path / f"{name}.jsonl") == load(SHIPPED / f"{name}.jsonl")


def test_another_content_is_another_cell(file: Path) -> None:
    """A memory that is built anew must not go on with the rows of the old one."""
    before = digest(load(file))
    assert CodeMemory([str(file)]).fingerprint() == before
    save([CUP, LAMP], file)
    assert digest(load(file)) not in ("", before)
    assert CodeMemory().fingerprint() == CodeMemory(["nowhere"]).fingerprint() == ""
