"""Rates with their exact intervals as pictures in HTML (SVG): one below the other, and against what an episode costs.
They take the page's colours and need no script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import floor, log10

from analysis.statistics.rates import Rate

LABEL, PLOT, LINE, MARGIN = 240, 420, 24, 30
"""Pixels: width of names and of the scale from 0 to 100 %, height of a line, room for the scale's numbers."""
LETTER = 9
"""Width of one."""
LONGEST = 36
"""Characters of a name that fit beside a bar."""
TALL = 260
"""Height of the scale from 0 to 100 % when it stands upright."""


def bars(entries: Sequence[tuple[str, Rate | None]], letters: Mapping[str, str] = {}) -> str:
    """A bar for each name, its interval a line across the end, its letters behind; nothing for one without a rate."""
    height = LINE * len(entries)
    parts = [
        f'<line class="scale" x1="{_across(x)}" x2="{_across(x)}" y1="0" y2="{height}"/>'
        f'<text x="{_across(x)}" y="{height + 18}" text-anchor="middle">{round(100 * x)} %</text>'
        for x in (0, 0.25, 0.5, 0.75, 1)
    ]
    for i, (name, rate) in enumerate(entries):
        y = LINE * i + LINE // 2
        parts.append(f'<text x="{LABEL - 8}" y="{y + 5}" text-anchor="end">{escape(_short(name))}</text>')
        if rate is None or rate.value is None:
            continue
        low, high = rate.interval()
        parts.append(
            f'<g><title>{escape(_said(name, rate))}</title><rect class="bar" x="{LABEL}" y="{y - 7}" '
            f'width="{PLOT * rate.value:.1f}" height="14"/><line class="interval" x1="{_across(low)}" '
            f'x2="{_across(high)}" y1="{y}" y2="{y}"/></g>'
        )
        if name in letters:
            parts.append(f'<text x="{LABEL + PLOT + 8}" y="{y + 5}">{letters[name]}</text>')
    margin = max(MARGIN, 16 + LETTER * max(map(len, letters.values()), default=0))
    return _svg(LABEL + PLOT + margin, height + MARGIN, "Success rates with 95 % intervals", parts)


def scatter(entries: Sequence[tuple[str, float, Rate]], unit: str) -> str:
    """A point for each name at what an episode costs in `unit`, its interval a line upright; the number beside it is
    explained below."""
    most = _round_up(max((cost for _, cost, _ in entries), default=0.0))
    left, width = 50, LABEL + PLOT - 50
    parts = [
        f'<line class="scale" x1="{left}" x2="{left + width}" y1="{_up(y)}" y2="{_up(y)}"/>'
        f'<text x="{left - 6}" y="{_up(y) + 5:.1f}" text-anchor="end">{round(100 * y)} %</text>'
        for y in (0, 0.25, 0.5, 0.75, 1)
    ]
    for x in (0, 0.5, 1):
        anchor = "end" if x == 1 else "middle"
        parts.append(
            f'<text x="{left + width * x}" y="{TALL + 30}" text-anchor="{anchor}">{most * x:g}</text>'
        )
    parts.append(
        f'<text x="{left + width / 2}" y="{TALL + 48}" text-anchor="middle">{escape(unit)} an episode</text>'
    )
    for number, (name, cost, rate) in enumerate(entries, 1):
        low, high = rate.interval()
        x = left + width * cost / most
        parts.append(
            f"<g><title>{escape(_said(name, rate))}, {cost:.4g} {escape(unit)}</title>"
            f'<line class="interval" x1="{x:.1f}" x2="{x:.1f}" y1="{_up(low)}" y2="{_up(high)}"/>'
            f'<circle class="point" cx="{x:.1f}" cy="{_up(rate.value or 0.0)}" r="5"/>'
            f'<text x="{x + 8:.1f}" y="{_up(rate.value or 0.0) + 5:.1f}">{number}</text></g>'
        )
    names = "".join(f"<li>{escape(name)}</li>" for name, _, _ in entries)
    return _svg(left + width + MARGIN, TALL + 56, f"Success rate against {unit}", parts) + f"<ol>{names}</ol>"


def _svg(width: float, height: float, label: str, parts: Sequence[str]) -> str:
    return (
        f'<svg class="chart" viewBox="0 0 {width} {height}" width="{width}" role="img" '
        f'aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def _across(share: float) -> float:
    return round(LABEL + PLOT * share, 1)


def _up(share: float) -> float:
    return round(10 + TALL * (1 - share), 1)


def _said(name: str, rate: Rate) -> str:
    low, high = rate.interval()
    return f"{name}: {rate.successes} of {rate.episodes}, {100 * low:.0f} to {100 * high:.0f} %"


def _round_up(number: float) -> float:
    """To 1, 2 or 5 times a power of ten."""
    if number <= 0:
        return 1.0
    power = 10.0 ** floor(log10(number))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= number)
