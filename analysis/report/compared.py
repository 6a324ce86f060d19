"""The part of the page that compares methods, environment by environment: what W&B's report has too, without W&B."""

from __future__ import annotations

from html import escape

from analysis.report import charts, comparison
from analysis.report.comparison import Table, World
from analysis.report.overview import share_text
from analysis.report.page import as_text
from analysis.statistics.rates import Interval


def section(world: World) -> str:
    """Rates, rates by task, cost against success, and the keys at which configs differ."""
    parts = [
        f"<h3>{escape(world.env)}</h3>",
        _wide(charts.bars([(each.name, each.line.rate) for each in world.contenders], world.pairs.letters())),
        *_pairs(world),
        _folded("By task", _tasks(world)),
        _folded("Cost against success", _costs(world)),
    ]
    if len(world.contenders) > 1:
        parts.append(_folded("How the configs differ", _table(comparison.differences(world))))
    return f"<section>{''.join(parts)}</section>"


def _pairs(world: World) -> list[str]:
    """What the letters at the bars mean, and what each comparison says."""
    if not world.pairs.comparisons:
        return []
    said = "".join(f"<li>{escape(words)}</li>" for words in world.pairs.words())
    return [f'<p class="quiet">{escape(comparison.LETTERS)}</p>', _folded("Pair by pair", f"<ul>{said}</ul>")]


def _tasks(world: World) -> str:
    """The table with each rate as a bar behind its text."""
    heads = "".join(f"<th>{escape(contender.name)}</th>" for contender in world.contenders)
    body = "".join(
        f"<tr><td>{escape(task)}</td>" + "".join(_cell(*share) for share in shares) + "</tr>"
        for task, shares in comparison.rates_by_task(world)
    )
    return f'<table class="tasks"><thead><tr><th>task</th>{heads}</tr></thead><tbody>{body}</tbody></table>'


def _cell(value: float | None, interval: Interval | None) -> str:
    style = "" if value is None else f' style="--rate: {100 * value:.1f}%"'
    return f"<td{style}>{share_text(value, interval)}</td>"


def _costs(world: World) -> str:
    unit, points = comparison.expense(world)
    return charts.scatter(points, unit) + _table(comparison.costs(world))


def _table(table: Table) -> str:
    def row(tag: str, texts: tuple[str, ...]) -> str:
        cells = "".join(
            f"<{tag}{as_text(head in table.words)}>{escape(text)}</{tag}>"
            for head, text in zip(table.heads, texts, strict=True)
        )
        return f"<tr>{cells}</tr>"

    body = "".join(row("td", each) for each in table.rows)
    return f"<table><thead>{row('th', table.heads)}</thead><tbody>{body}</tbody></table>"


def _folded(title: str, content: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{_wide(content)}</details>"


def _wide(content: str) -> str:
    return f'<div class="wide">{content}</div>'
