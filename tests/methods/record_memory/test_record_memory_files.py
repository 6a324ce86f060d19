"""Saved and restored memories are the same; what is no memory is refused with what is wrong."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from harness.embedding import Lexical
from harness.failures import UsageError
from methods.record_memory import MemoryRules, Picture, RecordMemory, load, restore, save, written

RULES = MemoryRules()


def png(colour: str) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (4, 3), colour).save(buffer, format="PNG")
    return buffer.getvalue()


def example() -> RecordMemory:
    memory = RecordMemory(RULES, Lexical())
    memory.create(["gone"], "gone", None, 0)
    memory.create(["left_box", "bear"], "the left box holds a bear", Picture(png("red"), "bear: 1 1 2 2"), 30)
    memory.create(["Mira"], "Mira likes Grüße \ud800 & <b>\n\x00", None, 31)
    memory.create(["gone"], "gone too", None, 32)
    memory.delete(1)
    memory.delete(4)
    return memory


def test_a_restored_memory_is_the_same(tmp_path: Path) -> None:
    memory, path = example(), tmp_path / "new" / "memory.json"
    save(memory, path)
    found = load(path, RULES, Lexical())
    assert (found.records, found.next_id) == (memory.records, 5)
    assert found.query("who likes Grüße") == memory.query("who likes Grüße")
    assert found.create(["x"], "y", None, 40).id == 5
    assert [file.name for file in path.parent.iterdir()] == ["memory.json"]


def test_an_empty_memory_comes_back_empty() -> None:
    found = restore(written(RecordMemory(RULES, Lexical())), RULES, Lexical(), "here")
    assert (len(found), found.next_id) == (0, 1)


@given(st.lists(st.tuples(st.lists(st.text(), max_size=3), st.text(), st.integers(0, 10**6))))
def test_any_text_comes_back(records: list[tuple[list[str], str, int]]) -> None:
    memory = RecordMemory(RULES, Lexical())
    for tags, text, step in records:
        memory.create(tags, text, None, step)
    assert restore(written(memory), RULES, Lexical(), "here").records == memory.records


def changed(**fields: Any) -> str:
    found = json.loads(written(example()))
    return json.dumps({**found, **fields})


def with_record(**fields: Any) -> str:
    found = json.loads(written(example()))
    found["records"][0] |= fields
    return json.dumps(found)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON"),
        ('{"format": "engram', "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("9" * 5000, "not JSON"),
        ("[]", "lacks"),
        ('{"records": []}', "lacks"),
        (changed(records={}), "list `records`"),
        (changed(next_id=True), "`next_id` above 0"),
        (changed(next_id=3), "above all of them"),
        (with_record(id=3), "ids have to differ"),
        (with_record(id="2"), "record 1: id is '2'"),
        (with_record(id=0), "record 1: id is 0"),
        (with_record(tags="cup"), "record 1: tags are 'cup'"),
        (with_record(tags=["[]"]), "record 1: tags"),
        (with_record(text=" "), "record 1: text is ' '"),
        (with_record(updated_at=1.5), "record 1: updated_at is 1.5"),
        (with_record(colour="red"), "record 1 has to be an object"),
        (changed(records=[7]), "record 1 has to be an object"),
        (with_record(picture="%"), "record 1: picture is no PNG"),
        (with_record(picture=base64.b64encode(png("red")[:-30]).decode()), "record 1: picture is no PNG"),
        (with_record(picture=None), "record 1: picture and seen"),
    ],
)
def test_a_bad_file_is_one_clear_error(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "memory.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"memory\.json") as error:
        load(path, RULES, Lexical())
    assert says in str(error.value)
    assert path.read_text(encoding="utf-8") == text


def test_a_file_that_is_not_there_or_no_text(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load(tmp_path / "none.json", RULES, Lexical())
    (tmp_path / "picture.json").write_bytes(png("red"))
    with pytest.raises(UsageError, match="cannot be read"):
        load(tmp_path / "picture.json", RULES, Lexical())


@pytest.mark.parametrize(
    ("rules", "says"),
    [
        (MemoryRules(cap=1), "holds 2 records, and the memory's cap is 1"),
        (MemoryRules(modality="text"), "holds 1 pictures"),
        (MemoryRules(modality="image"), "holds 1 records without a picture"),
    ],
)
def test_what_the_rules_would_lose_is_refused(rules: MemoryRules, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        restore(written(example()), rules, Lexical(), "here")
    assert len(restore(written(example()), MemoryRules(cap=2), Lexical(), "here")) == 2


def test_a_save_that_fails_leaves_the_file_that_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memory.json"
    save(example(), path)
    before = path.read_bytes()

    def full(*arguments: Any, **named: Any) -> int:
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="no space"):
        save(RecordMemory(RULES, Lexical()), path)
    assert path.read_bytes() == before
