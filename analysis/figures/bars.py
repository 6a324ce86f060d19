"""Grouped bars: a group for each task, in it a bar for each method. With one task the methods stand under their bars."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

from analysis.figures import marks, style
from analysis.figures.chart import Chart
from analysis.figures.style import COLUMN, INK, PAGE, Look

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

WIDE, GAP = 0.86, 0.8
"""Width of a bar and space between groups, where bars stand 1 apart."""
MOST, MOST_NAMED = 14, 6
"""Bars in the width of a column whose numbers, or names, can be read."""
LETTERS = 10
"""Of a method's name in a line under its bar."""


def width(chart: Chart) -> float:
    """In inches."""
    most = MOST if len(chart.groups) > 1 else MOST_NAMED
    return COLUMN if len(chart.series) * len(chart.groups) <= most else PAGE


def draw(chart: Chart, axes: Axes) -> dict[str, Artist]:
    """Draw the bars; returns the legend's handles by label."""
    styles = style.bars(chart.series, chart.own)
    stride = len(chart.series) + GAP
    for i, group in enumerate(chart.groups):
        for j, one in enumerate(chart.series):
            mark, x = chart.marks[one, group], i * stride + j
            if mark.value is not None:
                axes.bar(x, float(mark.value), WIDE, **_painted(styles[one]))
            marks.whisker(axes, x, mark)
            marks.published(axes, x, mark)
            marks.number(axes, x, mark, chart.top)
    axes.set_xlim(-0.5 - GAP / 2, len(chart.groups) * stride - 0.5 - GAP / 2)
    axes.tick_params(axis="x", length=0)
    if len(chart.groups) == 1:
        axes.set_xticks(range(len(chart.series)), _named(chart), fontsize=style.SMALL)
        axes.set_xlabel(chart.groups[0])
        return {}
    middles = [i * stride + (len(chart.series) - 1) / 2 for i in range(len(chart.groups))]
    axes.set_xticks(middles, [f"{group}\n{chart.count(group)}" for group in chart.groups])
    return _handles(styles)


def _named(chart: Chart) -> list[str]:
    """Names in as many lines as the longest one has, then how many episodes."""
    names = [wrap(one, LETTERS) for one in chart.series]
    lines = max(map(len, names))
    return [
        "\n".join([*name, *[""] * (lines - len(name)), chart.count(chart.groups[0], one)])
        for name, one in zip(names, chart.series, strict=True)
    ]


def _handles(styles: dict[str, Look]) -> dict[str, Artist]:
    from matplotlib.patches import Patch

    return {one: Patch(**_painted(look)) for one, look in styles.items()}


def _painted(look: Look) -> dict[str, Any]:
    return {"facecolor": look.colour, "hatch": look.hatch, "edgecolor": INK, "linewidth": 0.5, "zorder": 2}
