"""What a folder has on record of jobs that may still play it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import commands
from harness.cluster import record
from harness.commandline import main

GIVEN = record.Given("7_0", "a", "episodes-x-00000.jsonl", ("t-s0-i0", "t-s1-i0"))


def test_it_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    assert record.read(tmp_path) == record.Record()
    record.write(tmp_path, "slurm", [GIVEN])
    assert record.read(tmp_path) == record.Record("slurm", (GIVEN,))
    record.write(tmp_path, "slurm", [])
    assert record.read(tmp_path) == record.Record()


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"scheduler": "slurm", "jobs": [{}]}', '{"scheduler": "slu']
)
def test_a_damaged_record_is_told_and_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    record.write(tmp_path, "slurm", [GIVEN])
    path = tmp_path / record.FOLDER / record.FILE
    path.write_text(text)
    assert main(commands, "", ["cancel", str(tmp_path)]) == 2
    told = capsys.readouterr()
    assert told.err.startswith(f"{path} is damaged (")
    assert "stop them by the scheduler's own command, then delete that file" in told.err
    assert (told.out, path.read_text()) == ("", text)
