"""The papers' items as the experiments give them."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis import items
from analysis.items import Group, Item
from analysis.published import numbers
from harness.failures import UsageError


def test_every_item_finds_its_published_numbers() -> None:
    """A name that is not the CSV's would only leave a number out."""
    found = items.load()
    assert {item.name for item in found} >= {"mtp_table1", "mtp_table2", "mtp_table5", "mtp_table6"}
    for item in found:
        keys = {
            (
                item.paper,
                item.number,
                row.published,
                column.benchmark,
                column.published or column.task,
                item.metric,
            )
            for row in item.rows
            for column in item.columns
        }
        printed = {key for key in numbers() if key[:2] == (item.paper, item.number) and key[5] == item.metric}
        assert printed <= keys


def test_items_are_named_as_their_experiments_and_sorted_as_in_the_paper() -> None:
    assert all((items.EXPERIMENTS / f"{item.name}.yaml").is_file() for item in items.load())
    numbers = [item.number for item in items.load("mtp")]
    assert numbers == sorted(numbers, key=lambda number: int(number.removeprefix("table")))
    (one,) = items.load(numbers=["mtp_table5"])
    assert one.title == "Effect of adapting retrieved programs"
    with pytest.raises(UsageError, match="Did you mean"):
        items.load(numbers=["mtp_tabel1"])


def test_what_an_item_lacks_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row, column = Group("A"), Group("B", benchmark="calvin")
    with pytest.raises(ValueError, match="no row"):
        Item("mtp", "table1", "t", "success_rate", 1, [row], [column], [["A", "C"]])
    with pytest.raises(ValueError, match="no known benchmark"):
        Item("mtp", "table1", "t", "success_rate", 1, [row], [row])
    with pytest.raises(ValueError, match="it is like table1"):
        Item("mtp", "first", "t", "success_rate", 1, [row], [column])
    (tmp_path / "broken.yaml").write_text("item: {_target_: analysis.items.Item, papper: mtp}")
    monkeypatch.setattr(items, "EXPERIMENTS", tmp_path)
    with pytest.raises(UsageError, match=r"broken.yaml: item.*papper"):
        items.load()
