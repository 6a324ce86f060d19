"""A table in HTML, and the page that shows all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from analysis.tables.layout import Layout, Line, Text

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1c1c1c; margin: 2rem auto; max-width: 78rem; padding: 0 1rem; }
table { border-collapse: collapse; border-top: 2px solid; border-bottom: 2px solid; margin: .5rem 0; }
th, td { padding: .15rem .7rem; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
thead tr { border-bottom: 1px solid; }
tr.ours td { padding-top: .6rem; }
tr.interval { font-size: 80%; color: #666; }
tr.published { font-style: italic; color: #666; }
table.plans th, table.plans td { text-align: left; vertical-align: top; white-space: normal; }
section { margin-bottom: 3rem; overflow-x: auto; }
ul { font-size: 90%; color: #444; max-width: 70rem; }
"""


def table(layout: Layout) -> str:
    """Title, table and notes, as a section."""
    heads = "".join(f"<th>{escape(head)}</th>" for head in layout.heads)
    body = "\n".join(_line(line) for line in layout.lines)
    notes = "\n".join(f"<li>{escape(note)}</li>" for note in layout.notes)
    return (
        f'<section id="{escape(layout.name)}">\n<h2>{escape(layout.title)}</h2>\n<table>\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n<ul>\n{notes}\n</ul>\n</section>\n"
    )


def page(sections: Iterable[tuple[str, Sequence[str]]]) -> str:
    """A whole page: each section with links to the files of its table."""
    parts = []
    for section, files in sections:
        links = " ".join(f'<a href="{escape(name)}">{escape(name)}</a>' for name in files)
        parts.append(section.replace("</h2>", f"</h2>\n<p>{links}</p>", 1))
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Tables</title>\n'
        f"<style>{_STYLE}</style>\n<body>\n{''.join(parts)}</body>\n</html>\n"
    )


def _line(line: Line) -> str:
    texts = "".join(f"<td>{_text(text)}</td>" for text in line.texts)
    return f'<tr class="{line.kind}"><td>{escape(line.label)}</td>{texts}</tr>'


def _text(text: Text) -> str:
    return f"<b>{escape(text.text)}</b>" if text.best else escape(text.text)
