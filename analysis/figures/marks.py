"""What stands at a bar or a point: its interval, its number, what the paper prints; a dash where nothing was played."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analysis.figures.chart import Mark
from analysis.figures.style import INK, SMALL, TEXT
from analysis.tables.layout import DASH, rounded

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

HEADROOM = 1.1
"""Height of the axis over its highest tick: an interval that reaches it has its number above."""
SMALL_TEXT: dict[str, Any] = {"fontsize": SMALL, "color": INK, "zorder": 5}
_LINE = 0.07
"""Height of a number, as a share of the highest tick."""


def whisker(axes: Axes, x: float, mark: Mark) -> None:
    """The interval, where there is one."""
    if mark.value is None or mark.interval is None:
        return
    value, (low, high) = float(mark.value), mark.interval
    reach = [[max(0.0, value - low)], [max(0.0, high - value)]]
    axes.errorbar(
        x,
        value,
        reach,
        fmt="none",
        ecolor=INK,
        elinewidth=0.7,
        capsize=1.6,
        capthick=0.7,
        zorder=3,
        clip_on=False,
    )


def published(axes: Axes, x: float, mark: Mark, colour: str = INK) -> None:
    """What the paper prints, also where nothing was played."""
    if mark.published is not None:
        axes.plot(x, mark.published, zorder=4, clip_on=False, **_diamond(colour))


def published_handle() -> Artist:
    """For a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], **_diamond(INK))


def number(axes: Axes, x: float, mark: Mark, top: float) -> None:
    """The value above its interval, and above the diamond where that would hide it; `top` is the axis's highest tick."""
    if mark.value is None:
        axes.text(x, 0, DASH, ha="center", va="bottom", fontsize=TEXT, color=INK)
        return
    y, height = mark.interval[1] if mark.interval else float(mark.value), _LINE * top
    if mark.published is not None and y - 0.4 * height <= mark.published <= y + 1.4 * height:
        y = mark.published + 0.3 * height
    axes.text(x, y + 0.2 * height, rounded(mark.value, 0), ha="center", va="bottom", **SMALL_TEXT)


def _diamond(colour: str) -> dict[str, Any]:
    return {
        "linestyle": "none",
        "marker": "D",
        "markersize": 3.2,
        "markerfacecolor": "#ffffff",
        "markeredgecolor": colour,
        "markeredgewidth": 0.7,
    }
