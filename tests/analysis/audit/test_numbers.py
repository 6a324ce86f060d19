from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from analysis.audit.numbers import Number, Printed, Window, read
from harness.failures import UsageError

HEADER = "paper,item,method,benchmark,task,metric,value,spread,unit,episodes"


def _read(tmp_path: Path, text: str) -> Number:
    path = tmp_path / "mine.csv"
    path.write_text(text, encoding="utf-8")
    return read(path).numbers[0]


def test_a_number_keeps_its_decimals(tmp_path: Path) -> None:
    number = _read(tmp_path, f"{HEADER}\np,t,m,b,k,success_rate,50.0,3,percent,20")
    assert number.printed == "50.0 ± 3"
    assert number.window == Window(Fraction(4995, 10000), Fraction(5005, 10000))
    assert number.spread_window == Window(Fraction(25, 1000), Fraction(35, 1000))
    assert (number.episodes, number.runs, number.name, number.line) == (20, None, "m", 2)


def test_counts_fractions_and_percent_are_one_quantity(tmp_path: Path) -> None:
    lines = ["success_rate,60.0,,percent,5", "success_rate,0.6,,fraction,5", "successes,3,,count of 5,5"]
    found = [_read(tmp_path, f"{HEADER}\np,t,m,b,k,{line}") for line in lines]
    assert len({number.quantity for number in found}) == 1
    assert found[2].window == Window(Fraction(3, 5), Fraction(3, 5)) and found[2].printed == "3/5"
    assert found[1].window == Window(Fraction(55, 100), Fraction(65, 100))


def test_a_label_of_the_item_comes_before_the_method(tmp_path: Path) -> None:
    number = _read(tmp_path, f"{HEADER},label\np,t,m,b,k,success_rate,50,,percent,20,theirs")
    assert (number.name, number.method) == ("theirs", "m")


def test_a_spreadsheets_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes(
        ("\ufeff" + HEADER + ",note\r\np,t,m,b,k,x,1.5,,calls,15.0,why\r\np,t,m,b,k,x,,,calls,,\r\n").encode()
    )
    found = read(path)
    assert [number.printed for number in found.numbers] == ["1.5"]
    assert found.numbers[0].episodes == 15 and found.numbers[0].scale is None
    assert found.unused == ["note"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"lacks the columns paper, .*it names nothing"),
        (
            "paper,item,method\np,t,m",
            "lacks the columns benchmark, task, metric, value, spread, unit, episodes",
        ),
        (HEADER.replace(",", ";"), "separated by commas"),
        (f"{HEADER},item\n", "has the column item twice"),
        (f"{HEADER}\np,t,m,b,k,x,39.3%,,percent,15", "line 2: value is `39.3%`; write a number"),
        (f"{HEADER}\np,t,m,b,k,x,nan,,percent,15", "value is `nan`"),
        (f"{HEADER}\np,t,m,b,k,x,1,±3,percent,15", "spread is `±3`"),
        (f"{HEADER}\np,t,m,b,k,x,1,,percent,0", "episodes is `0`; write a whole number from 1"),
        (f"{HEADER}\np,t,m,b,k,x,1,,percent,7.5", r"episodes is `7\.5`"),
        (f"{HEADER}\np,t,m,b,k,x,1,,percent,many", "episodes is `many`"),
        (f"{HEADER},runs\np,t,m,b,k,x,1,,percent,20,3", "20 episodes cannot be 3 equal runs"),
    ],
)
def test_what_cannot_be_read_is_named_once(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        read(path)


def test_a_line_without_a_value_is_no_number(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(f"{HEADER}\np,t,m\n\np,t,m,b,k,x, ,,percent,15\n", encoding="utf-8")
    assert read(path).numbers == []


def test_no_file_and_no_text_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere.csv cannot be read: No such file"):
        read(tmp_path / "nowhere.csv")
    path = tmp_path / "mine.xlsx"
    path.write_bytes(b"PK\x03\x04\xff\xfe\x00")
    with pytest.raises(UsageError, match="no CSV file in UTF-8"):
        read(path)


@pytest.mark.parametrize("text", ["0.6666666666666666", "0.6666666666666667", "0.66666666666666674068"])
def test_a_programs_float_stands_for_the_fraction_that_it_came_from(text: str) -> None:
    number = Printed.of(text)
    assert number.decimals == 12
    assert number.window.low <= Fraction(2, 3) <= number.window.high


@pytest.mark.parametrize(
    ("text", "value", "decimals"),
    [("49.30", "49.30", 2), ("6", "6", 0), ("1e2", "100", 0), ("-0.5", "-0.5", 1)],
)
def test_a_printed_number_is_shown_as_it_was(text: str, value: str, decimals: int) -> None:
    assert str(Printed.of(text)) == value
    assert Printed.of(text).decimals == decimals
