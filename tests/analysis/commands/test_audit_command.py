from __future__ import annotations

from pathlib import Path

import pytest

from analysis import commands
from harness.commandline import main

HEADER = "paper,item,method,benchmark,task,metric,value,spread,unit,episodes,year"


def _run(*arguments: str) -> int:
    return main(commands, "", ["audit", *arguments])


def test_the_papers_numbers_are_audited_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run() == 1
    shown = capsys.readouterr().out
    assert "4 of 20 would be 20.0 %" in shown
    assert "11 findings in 208 numbers. 130 are shares of a known number of outcomes" in shown
    assert "Columns that were not read: note." in shown


def test_consistent_numbers_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(f"{HEADER}\np,t,m,b,k,success_rate,13.3,,percent,15,2025\n")
    assert _run(str(path)) == 0
    assert "0 findings in 1 numbers. 1 are shares" in capsys.readouterr().out


def test_bad_columns_are_one_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("method,score\nm,3\n")
    assert _run(str(path)) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert "lacks the columns paper, item, benchmark" in shown.err and "it names method, score" in shown.err
