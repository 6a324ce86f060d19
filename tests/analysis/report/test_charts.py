"""Pictures of rates: where bars, intervals and points are, and that every name is text."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

from analysis import rows
from analysis.report import charts, compared, comparison
from analysis.statistics.rates import Rate
from tests.analysis.report.conftest import NASTY, record
from tests.analysis.tables.conftest import verdicts, write_cell


def parsed(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(f"<div>{text}</div>")


def numbers(element: ElementTree.Element, *names: str) -> list[float]:
    return [float(element.attrib[name]) for name in names]


def test_a_bar_is_as_long_as_its_rate_and_its_interval_lies_across_the_end() -> None:
    found = parsed(charts.bars([(NASTY, Rate(3, 4)), ("none", None), ("errors", Rate(0, 0))]))
    (bar,) = found.findall(".//rect")
    (interval,) = found.findall(".//line[@class='interval']")
    assert numbers(bar, "x", "width") == [charts.LABEL, 0.75 * charts.PLOT]
    low, high = numbers(interval, "x1", "x2")
    assert (low, high) == (round(240 + 420 * 0.1941, 1), round(240 + 420 * 0.9937, 1))
    title = found.find(".//title")
    assert title is not None and title.text == f"{NASTY}: 3 of 4, 19 to 99 %"
    said = [text.text for text in found.findall(".//text")]
    assert said[5:] == [NASTY[:35] + "…", "none", "errors"]


def test_letters_stand_behind_the_bars_and_have_room() -> None:
    found = parsed(charts.bars([("a", Rate(3, 4)), ("b", Rate(0, 4))], {"a": "a", "b": "abcdefgh"}))
    behind = [text for text in found.findall(".//text") if float(text.attrib["x"]) == 240 + 420 + 8]
    assert [text.text for text in behind] == ["a", "abcdefgh"]
    (picture,) = found.findall(".//svg")
    assert float(picture.attrib["width"]) == 240 + 420 + 16 + 8 * 9


def test_a_point_is_at_its_cost_and_rate() -> None:
    text = charts.scatter([("a", 0.03, Rate(1, 2)), ("b", 0.012, Rate(0, 2)), ("c", 0.0, Rate(2, 2))], "USD")
    found = parsed(text)
    points = [numbers(point, "cx", "cy") for point in found.findall(".//circle")]
    width = charts.LABEL + charts.PLOT - 50
    assert points == [
        [50 + width * 0.6, 10 + charts.TALL * 0.5],  # the scale ends at 0.05
        [round(50 + width * 0.24, 1), 10 + charts.TALL],
        [50, 10],
    ]
    assert [item.text for item in found.findall(".//li")] == ["a", "b", "c"]
    assert "0.05" in text and "USD an episode" in text


def test_nothing_with_a_rate_is_an_empty_picture() -> None:
    found = parsed(charts.scatter([], "tokens"))
    assert found.findall(".//circle") == []


def test_the_section_of_an_environment_has_what_the_rows_give(experiment: Path) -> None:
    (world,) = comparison.compare(rows.load([experiment]))
    found = parsed(compared.section(world))
    assert [each.text for each in found.findall(".//summary")] == [
        "Pair by pair",
        "By task",
        "Cost against success",
        "How the configs differ",
    ]
    styles = [cell.attrib.get("style") for cell in found.findall(".//table[@class='tasks']//td")]
    assert styles[1:5] == ["--rate: 75.0%", "--rate: 0.0%", "--rate: 100.0%", "--rate: 0.0%"]
    assert len(found.findall(".//rect")) == 4


def test_costs_are_in_money_where_every_price_is_known(tmp_path: Path) -> None:
    root = tmp_path / "it"
    cell = write_cell(root, "retry", "tabletop", 0, verdicts("+-"))
    assert comparison.expense(comparison.compare(rows.load([root]))[0]) == (
        "tokens",
        [("retry", 25.0, Rate(1, 2))],
    )
    for episode in ("push_button-s0-i0", "lamp_off-s0-i0"):
        usage = {"calls": 1, "prompt_tokens": 1, "completion_tokens": 1, "cost_usd": 0.25}
        record(cell, episode, usage=usage)
    assert comparison.expense(comparison.compare(rows.load([root]))[0]) == (
        "USD",
        [("retry", 0.25, Rate(1, 2))],
    )
