"""The looks of all figures: the widths of a paper, the palette that colour-blind readers tell apart, and hatches, shapes and
dashes that tell the same in grey."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

COLUMN, PAGE = 3.3, 6.9
"""Widths in inches of a paper's column and of its page."""
DOTS = 300
"""Of a PNG, per inch."""
INK = "#000000"
TEXT, SMALL = 8, 6.5
"""Points; small are the numbers at marks."""

SETTINGS: dict[str, Any] = {
    "font.family": [
        "STIXGeneral",
        "DejaVu Sans",
    ],  # come with matplotlib, so that figures look alike everywhere
    "font.size": TEXT,
    "axes.labelsize": TEXT,
    "xtick.labelsize": TEXT,
    "ytick.labelsize": TEXT,
    "legend.fontsize": TEXT,
    "text.parse_math": False,  # a dollar in a label is a dollar
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#d8d8d8",
    "grid.linewidth": 0.4,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "hatch.linewidth": 0.5,
    "legend.frameon": False,
    "legend.borderpad": 0.0,
    "legend.borderaxespad": 0.3,
    "legend.handlelength": 1.4,
    "legend.handletextpad": 0.5,
    "legend.columnspacing": 1.2,
    "pdf.fonttype": 42,  # outlines as TrueType, which publishers ask for
}


@dataclass(frozen=True)
class Look:
    colour: str
    hatch: str = ""
    shape: str = "o"
    line: str = "-"


_OWN = "#0072B2"
"""Blue, full: the paper's own method."""
_COLOURS = ("#56B4E9", "#E69F00", "#009E73", "#F0E442", "#CC79A7", "#D55E00")
"""The others of Okabe and Ito (2008), without black."""
_HATCHES = ("////", "", "\\\\\\\\", "....", "xxxx", "----", "||||")
_LINES = (("#0072B2", "o", "-"), ("#D55E00", "s", "--"), ("#009E73", "^", "-."), ("#CC79A7", "v", ":"))


def bars(series: Sequence[str], own: str | None) -> dict[str, Look]:
    """One for each series; colours and hatches repeat after different numbers, so that 42 looks differ."""
    others = zip(cycle(_COLOURS), cycle(_HATCHES), strict=False)
    return {one: Look(_OWN) if one == own else Look(*next(others)) for one in series}


def lines(series: Sequence[str]) -> dict[str, Look]:
    """One for each of a few series."""
    return {
        one: Look(colour, shape=shape, line=line)
        for one, (colour, shape, line) in zip(series, cycle(_LINES), strict=False)
    }
