"""The part of the page that compares methods, environment by environment: what W&B's report has too, without W&B."""

from __future__ import annotations

from html import escape

from analysis.report import charts, comparison
from analysis.report.comparison import Table, World
from analysis.report.overview import rate_texts
from analysis.report.page import as_text
from analysis.statistics.rates import Rate


def section(world: World) -> str:
    """Rates, rates by task, cost against success, and the keys at which configs differ."""
    parts = [
        f"<h3>{escape(world.env)}</h3>",
        _wide(charts.bars([(each.name, each.line.rate) for each in world.contenders])),
        _folded("By task", _tasks(world)),
        _folded("Cost against success", _costs(world)),
    ]
    if len(world.contenders) > 1:
        parts.append(_folded("How the configs differ", _table(comparison.differences(world))))
    return f"<section>{''.join(parts)}</section>"


def _tasks(world: World) -> str:
    """The table with each rate as a bar behind its text."""
    heads = "".join(f"<th>{escape(contender.name)}</th>" for contender in world.contenders)
    body = "".join(
        f"<tr><td>{escape(task)}</td>"
        + "".join(_cell(contender.tasks.get(task)) for contender in world.contenders)
        + "</tr>"
        for task in world.tasks
    )
    return f'<table class="tasks"><thead><tr><th>task</th>{heads}</tr></thead><tbody>{body}</tbody></table>'


def _cell(rate: Rate | None) -> str:
    if rate is None or rate.value is None:
        return f"<td>{rate_texts(None)[0]}</td>"
    value, interval = rate_texts(rate)
    return f'<td style="--rate: {100 * rate.value:.1f}%">{value} ({interval})</td>'


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
