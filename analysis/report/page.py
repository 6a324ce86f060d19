"""The page's HTML around its style and script: the tables as markup, the episodes packed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from urllib.parse import urlencode

from analysis.report.overview import HEADS, WORDS, Line, texts

_FILTERS = {
    "method": "method",
    "env": "environment",
    "variant": "variant",
    "task": "task",
    "status": "status",
    "kind": "failure or error",
}


def page(
    title: str,
    lines: Sequence[Line],
    compared: Sequence[str],
    items: Sequence[str],
    notes: Iterable[str],
    packed_episodes: str,
) -> str:
    """`compared` and `items` are sections of HTML; everything else is text, which is escaped here."""
    style, script, timeline = (
        (files(__package__) / name).read_text(encoding="utf-8")
        for name in ("page.css", "page.js", "timeline.js")
    )
    said = "".join(f"<li>{escape(note)}</li>" for note in notes)
    filters = "".join(
        f'<label>{escape(label)}<select id="{name}"></select></label>' for name, label in _FILTERS.items()
    )
    papers = (
        f'<section id="items"><h2>Tables of the papers</h2><details><summary>{len(items)} with episodes of '
        f"this experiment</summary>{''.join(items)}</details></section>"
        if items
        else ""
    )
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>
{style}</style>
<body>
<h1>{escape(title)}</h1>
<noscript><p>The episodes are shown by a script of this page; this browser runs none.</p></noscript>
{f"<ul>{said}</ul>" if said else ""}
<section><h2>Methods</h2>
<div class="wide" tabindex="0" role="region" aria-label="Methods">{_table(lines)}</div>
<p class="quiet">Rates and sums are of episodes with a verdict; errors are in none. pass@k is the share that was solved
within k trials, in percent. The name of a method shows its episodes.</p>
</section>
<section id="compared"><h2>Compared</h2>{"".join(compared)}</section>
{papers}
<section id="episodes"><h2>Episodes</h2>
<form id="filters">{filters}<label class="search">search<input id="search" type="search"
placeholder="words in task, instruction, reason, ..."></label><button type="reset">clear</button></form>
<p id="count" role="status">Reading the episodes ...</p>
<div id="head"></div>
<div id="list" tabindex="0" role="listbox" aria-label="Episodes"><div id="scroll"><div id="window"></div></div></div>
<p class="quiet">Arrow keys move, Enter opens an episode, Escape closes it.</p>
</section>
<dialog id="episode" aria-labelledby="title"><div id="bar"><h2 id="title"></h2>
<button id="back" type="button">previous</button><button id="next" type="button">next</button>
<button id="close" type="button">close</button></div><div id="trace"></div></dialog>
<script type="text/plain" id="data">{packed_episodes}</script>
<script>
{script}{timeline}</script>
</body>
</html>
"""


def _table(lines: Sequence[Line]) -> str:
    heads = "".join(f"<th{as_text(head in WORDS)}>{escape(head)}</th>" for head in HEADS)
    body = "\n".join(
        "<tr>"
        + "".join(
            f"<td{as_text(head in WORDS)}>{cell}</td>" for head, cell in zip(HEADS, _cells(line), strict=True)
        )
        + "</tr>"
        for line in lines
    )
    return f"<table><thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"


def as_text(is_text: bool) -> str:
    """The attribute of a cell with words."""
    return ' class="text"' if is_text else ""


def _cells(line: Line) -> list[str]:
    """As HTML."""
    wanted = urlencode({"method": line.method, "env": line.env, "variant": line.variant})
    method, *others = map(escape, texts(line))
    return [f'<a href="#{escape(wanted)}">{method}</a>', *others]
