"""The numbers that the two papers print, from `published.csv`."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PUBLISHED = Path(__file__).resolve().parent / "published.csv"
"""Every number of the two papers, with what the items label otherwise and what the texts repeat."""


@dataclass(frozen=True)
class Published:
    """`value` and `spread` as printed, in the paper's unit; the spread is empty where the paper has none."""

    value: str
    spread: str
    unit: str


@cache
def numbers() -> dict[tuple[str, str, str, str, str, str], Published]:
    """By paper, item, method, benchmark, task and metric."""
    with PUBLISHED.open(encoding="utf-8", newline="") as file:
        return {
            (
                line["paper"],
                line["item"],
                line["method"],
                line["benchmark"],
                line["task"],
                line["metric"],
            ): Published(line["value"], line["spread"], line["unit"])
            for line in csv.DictReader(file)
        }
