"""Points with upright intervals over a number that the groups' labels begin with or hold, as a window's length; a line for
each series."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from analysis.figures import marks
from analysis.figures.chart import Chart
from analysis.figures.style import COLUMN, PAGE, Look, lines

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

APART = 0.24
"""Inches between points of different series at one number: their intervals would hide each other, and their numbers run into one."""
MOST = 2
"""Series whose numbers can be read in the width of a column."""


def width(chart: Chart) -> float:
    """In inches."""
    return COLUMN if len(chart.series) <= MOST else PAGE


def draw(chart: Chart, axes: Axes) -> dict[str, Artist]:
    """Draw the points; returns the legend's handles by label."""
    from matplotlib.lines import Line2D

    places = [_place(group, i) for i, group in enumerate(chart.groups)]
    span = max(places) - min(places) or 1.0
    styles = lines(chart.series)
    for i, one in enumerate(chart.series):
        shift = (i - (len(chart.series) - 1) / 2) * APART / width(chart) * span
        found = [(place, chart.marks[one, group]) for place, group in zip(places, chart.groups, strict=True)]
        played = [(place + shift, mark.value) for place, mark in found if mark.value is not None]
        axes.plot([x for x, _ in played], [float(y) for _, y in played], zorder=2, **_painted(styles[one]))
        for place, mark in found:
            marks.whisker(axes, place + shift, mark)
            marks.published(axes, place, mark, styles[one].colour)
            marks.number(axes, place + shift, mark, chart.top)
    axes.set_xlim(min(places) - 0.1 * span, max(places) + 0.1 * span)
    axes.set_xticks(places, [f"{group}\n{chart.count(group)}" for group in chart.groups])
    return {one: Line2D([], [], **_painted(look)) for one, look in styles.items()}


def _place(group: str, otherwise: int) -> float:
    found = re.search(r"\d+(\.\d+)?", group)
    return float(found[0]) if found else float(otherwise)


def _painted(look: Look) -> dict[str, Any]:
    return {
        "color": look.colour,
        "linestyle": look.line,
        "linewidth": 1.1,
        "marker": look.shape,
        "markersize": 4,
        "markeredgewidth": 0,
    }
