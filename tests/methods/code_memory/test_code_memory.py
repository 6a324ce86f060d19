"""Records, their files, what may be retrieved, and how a memory is made."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from harness import store
from harness.failures import UsageError
from methods.code_memory import SHIPPED, CodeMemory, Record, build
from methods.code_memory.__main__ import main
from methods.code_memory.build import collect
from methods.code_memory.pictures import COLOURS, SIDE, decode, encode, reduced
from methods.code_memory.records import digest, load, normalised, program_id, save

CUP = Record("kitchen", "lift", "lift the cup", 'composer("grasp the cup")', {"seed": 3})
PICTURE = np.arange(128 * 128 * 3, dtype=np.uint8).reshape(128, 128, 3)
SEEN = Record("kitchen", "lift", "lift the mug", 'composer("grasp the mug")', {}, encode(PICTURE))
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
        "episode": f"{task}-s0-i0",
        "cell": "0123456789ab",
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


def test_any_separator_but_the_line_feed_may_stand_in_a_string(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    odd = Record("kitchen", "lift", "lift\u2028the\x85cup", 'say("\u2029")')
    save([odd, CUP], path)
    assert load(path) == (odd, CUP)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert load(path) == (odd, CUP)


@pytest.mark.parametrize(
    ("content", "said"),
    [('{"environment": "caf\xe9"}'.encode("latin-1"), "is not UTF-8"), (b"[" * 100_000, "line 1: not JSON")],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=said):
        load(path)


@pytest.mark.parametrize("code", ["x = '\0'", "(" * 500, "x = '\ud800'", "-" * 100_000 + "1"])
def test_a_program_that_python_cannot_read_is_compared_as_it_is(code: str) -> None:
    assert normalised(code) == code
    assert len(program_id(code)) == 8


def test_the_commands(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "lift the cup" in shown
    assert "3 records" in shown
    assert "3 records, 0 with a picture" in shown
    assert main(["show", "tabletop"]) == 0
    assert "14 records, 14 with a picture" in capsys.readouterr().out
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
        assert decode(record.image).shape == (SIDE, SIDE, 3)
        assert {"experiment", "method", "model", "seed", "scene", "trial", "versions"} <= set(record.source)


A_FEW = {
    "tabletop": {"open_drawer", "take_umbrella_out_of_umbrella_stand"},
    "playtable": {"lift_pink_block_drawer", "push_into_drawer", "rotate_red_block_right", "stack_block"},
}
"""Tasks whose records come from first trials and later ones, from both methods, and more than one from a task."""


@pytest.mark.slow
@pytest.mark.parametrize("name", A_FEW)
def test_memories_that_ship_are_what_the_command_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Of a few tasks: the whole is `python -m methods.code_memory rebuild`, after which git shows no difference. For
    the version of the simulator that they were made with; another one may fail where this one did not."""
    import mujoco

    made_with = {record.source["versions"]["mujoco"] for record in load(SHIPPED / "tabletop.jsonl")}
    if made_with != {mujoco.__version__}:
        pytest.skip(f"the memories were made with MuJoCo {made_with}, this is {mujoco.__version__}")
    others = [setting for setting in build.SHIPPED_FROM if not setting.startswith("env=")]
    few = (f"env={name}", f"env.tasks=[{','.join(sorted(A_FEW[name]))}]", *others)
    monkeypatch.setattr(build, "SHIPPED_FROM", few)
    assert main(["rebuild", "--out", str(tmp_path)]) == 0
    made = load(tmp_path / f"{name}.jsonl")
    ships = [record for record in load(SHIPPED / f"{name}.jsonl") if record.task in A_FEW[name]]
    assert [replace(record, image="") for record in made] == [replace(record, image="") for record in ships]
    assert {record.task for record in ships} == A_FEW[name]
    for one, other in zip(made, ships, strict=True):  # another processor may round a pixel another way
        off = np.abs(decode(one.image).astype(int) - decode(other.image))
        assert off.mean() < 2


def test_another_content_is_another_cell(file: Path) -> None:
    """A memory that is built anew must not go on with the rows of the old one."""
    before = digest(load(file))
    assert CodeMemory([str(file)]).fingerprint() == before
    save([CUP, LAMP], file)
    assert digest(load(file)) not in ("", before)
    assert CodeMemory().fingerprint() == CodeMemory(["nowhere"]).fingerprint() == ""


def test_pictures_come_back_and_a_file_without_any_is_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    save([CUP, SEEN], path)
    assert load(path) == (CUP, SEEN)
    first, second = map(json.loads, path.read_text().splitlines())
    assert set(first) == {"environment", "task", "instruction", "code", "source"}
    assert second["image"] == SEEN.image
    path.write_text(json.dumps({**first, "image": 3}))
    with pytest.raises(UsageError, match="line 1: `image` is not a text"):
        load(path)


def test_a_picture_is_small_and_loses_nothing_more_the_second_time() -> None:
    drawn = decode(encode(PICTURE))
    assert drawn.shape == (SIDE, SIDE, 3)
    assert len(np.unique(drawn.reshape(-1, 3), axis=0)) <= COLOURS
    assert len(encode(PICTURE)) < 10_000
    assert np.array_equal(reduced(drawn), drawn)
    red = np.full((300, 200, 3), (255, 0, 0), np.uint8)
    assert (reduced(red) == (255, 0, 0)).all()


@pytest.mark.parametrize("text", ["no base64!", "aGVsbG8=", SEEN.image[: len(SEEN.image) // 8 * 4], ""])
def test_what_is_no_picture_is_said(text: str) -> None:
    with pytest.raises(UsageError, match="no PNG in base64"):
        decode(text)


def test_pictures_are_part_of_the_fingerprint_where_they_are_used(tmp_path: Path) -> None:
    """A text-only cell goes on with its rows when its memory gets pictures."""
    path = tmp_path / "memory.jsonl"
    save([replace(SEEN, image="")], path)
    before = digest(load(path))
    assert before == "55b594fa95953e40"
    save([SEEN], path)
    assert CodeMemory([str(path)]).fingerprint() == before
    assert CodeMemory([str(path)], modality="text_image").fingerprint() == digest([SEEN]) != before


def test_a_memory_without_a_picture_is_told_before_anything_runs(file: Path, tmp_path: Path) -> None:
    (problem,) = CodeMemory([str(file)], modality="text_image").problems()
    assert "none of the memory's 3 records has a picture" in problem.what
    assert "record=images" in problem.fix
    assert CodeMemory(modality="text_image").problems()
    assert CodeMemory([str(file)]).problems() == []
    seen, broken = tmp_path / "seen.jsonl", tmp_path / "broken.jsonl"
    save([CUP, SEEN], seen)
    assert CodeMemory([str(seen)], modality="text_image").problems() == []
    save([CUP, replace(SEEN, image="aGVsbG8=")], broken)
    (problem,) = CodeMemory([str(broken)], modality="text_image").problems()
    assert "Record 2 (lift the mug): `image` is no PNG" in problem.what


@pytest.fixture
def experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two trials of one episode and one of another, of which only the first episode has pictures."""
    folder = tmp_path / "pictured"
    images = folder / "retry-kitchen" / "images"
    images.mkdir(parents=True)
    describe(folder, None)
    for trial, grey in ((0, 40), (1, 200)):
        picture = Image.fromarray(np.full((256, 256, 3), grey, np.uint8))
        picture.save(images / f"a-s0-i0-t{trial}-start.png")
    Image.new("RGB", (8, 8)).save(images / "b-s0-i0-t0-end.png")
    rows = [row("a", [(False, "bad()"), (True, "good()")]), row("b", [(True, "other()")])]
    monkeypatch.setattr(store, "load", lambda folder: rows)
    return folder


def describe(folder: Path, camera: str | None) -> None:
    config = {"record": {"camera": camera}}
    described = {
        "format": store.FORMAT,
        "cell": "0123456789ab",
        "method": "retry",
        "env": "kitchen",
        "seed": 0,
    }
    text = json.dumps({**described, "choices": {}, "config": config})
    (folder / "retry-kitchen" / "cell.json").write_text(text)


def test_a_record_has_the_picture_of_its_trials_start(experiment: Path) -> None:
    good, other = collect([experiment])
    assert (good.code, other.code) == ("good()", "other()")
    assert (decode(good.image) == 200).all()
    assert other.image == ""


def test_a_damaged_cell_is_told(experiment: Path) -> None:
    (experiment / "retry-kitchen" / "cell.json").write_text('{"format": 1}')
    with pytest.raises(UsageError, match="it has no `cell`"):
        collect([experiment])


def test_pictures_of_a_camera_that_was_named_are_not_taken(experiment: Path) -> None:
    describe(experiment, "wrist")
    assert [record.image for record in collect([experiment])] == ["", ""]


def test_of_equal_records_the_one_with_a_picture_is_kept(experiment: Path, tmp_path: Path) -> None:
    blind = tmp_path / "blind"
    assert not any(record.image for record in collect([blind]))
    good, other = collect([blind, experiment])
    assert good.source["experiment"] == "pictured"
    assert good.image
    assert other.source["experiment"] == "blind"
