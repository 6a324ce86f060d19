"""A chart as PDF and PNG. The same chart gives the same bytes with the same matplotlib: no date, no version in them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import pairwise
from textwrap import fill
from typing import TYPE_CHECKING

from analysis.figures import bars, marks, points, style
from analysis.figures.chart import Chart

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES = ("pdf", "png")
HEIGHT = 2.1
"""Inches."""
LETTERS = 16.5
"""Of a legend, in an inch."""
LONGEST = 32
"""Letters of a name in a line of the legend."""
_HANDLE = 5
"""Letters that a legend's handle and the space around it take up."""
_METADATA = {"pdf": {"CreationDate": None, "Creator": None, "Producer": None}, "png": {"Software": None}}


def available() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def pictures(chart: Chart, formats: Sequence[str]) -> dict[str, bytes]:
    """By format, of `PICTURES`. Needs matplotlib."""
    from matplotlib import style as styles

    with styles.context(["default", style.SETTINGS]):  # whatever somebody has in a matplotlibrc
        figure = _figure(chart)
        return {one: _saved(figure, one) for one in formats}


def _figure(chart: Chart) -> Figure:
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    drawing = bars if chart.kind == "bars" else points
    width = drawing.width(chart)
    figure = Figure(figsize=(width, HEIGHT), layout=ConstrainedLayoutEngine(h_pad=0.02, w_pad=0.02))
    axes = figure.add_subplot()
    handles = drawing.draw(chart, axes)
    axes.set_ylim(0, chart.top * marks.HEADROOM)
    axes.spines["left"].set_bounds(0, chart.top)
    axes.set_yticks([chart.top * i / 5 for i in range(6)])
    axes.set_ylabel(chart.axis, y=0.5 / marks.HEADROOM)
    for label in axes.get_xticklabels():
        label.set_linespacing(1.0)
    if any(mark.published is not None for mark in chart.marks.values()):
        handles["published"] = marks.published_handle()
    names = [fill(name, LONGEST) for name in handles]
    if names:
        figure.legend(
            list(handles.values()), names, loc="outside upper center", ncols=_columns(names, width * LETTERS)
        )
    return figure


def _columns(names: Sequence[str], letters: float) -> int:
    """As many columns of a legend as fit. It is filled column by column; the first ones hold one more where it is uneven."""
    lengths = [_HANDLE + max(map(len, name.split("\n"))) for name in names]
    for columns in range(len(names), 1, -1):
        rows, longer = divmod(len(names), columns)
        starts = [column * rows + min(column, longer) for column in range(columns + 1)]
        if sum(max(lengths[start:end]) for start, end in pairwise(starts)) <= letters:
            return columns
    return 1


def _saved(figure: Figure, format: str) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format=format, dpi=style.DOTS, metadata=_METADATA[format])
    return buffer.getvalue()
