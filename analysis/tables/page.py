"""A table in HTML, and the page that shows all of them with their pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from analysis.tables.layout import Layout, Line, Text, grouped

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1c1c1c; margin: 2rem auto; max-width: 78rem; padding: 0 1rem; }
table { border-collapse: collapse; border-top: 2px solid; border-bottom: 2px solid; margin: .5rem 0; }
th, td { padding: .15rem .7rem; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
thead tr { border-bottom: 1px solid; }
th[colspan] { text-align: center; }
tr.ours td { padding-top: .6rem; }
tr.interval { font-size: 80%; color: #666; }
tr.published { font-style: italic; color: #666; }
table.plans th, table.plans td { text-align: left; vertical-align: top; white-space: normal; }
section { margin-bottom: 3rem; overflow-x: auto; }
ul, figcaption { font-size: 90%; color: #444; max-width: 70rem; }
nav li { list-style: none; }
figure { margin: 1rem 0; }
img { max-width: 100%; }
"""
_SHRUNK = 2.2
"""Dots of a picture in one of the page's pixels."""


@dataclass(frozen=True)
class Section:
    """A part of the page."""

    name: str
    """The `id` of its HTML."""
    heading: str
    html: str
    """With its title in `<h2>`."""
    files: tuple[str, ...]
    """That hold the same, beside the page."""
    picture: str = ""
    """A file, if there is one."""
    caption: str = ""
    """Of the picture."""


def table(layout: Layout) -> str:
    """Title, table and notes, as a section."""
    groups, columns = grouped(layout.heads)
    above = "".join(f'<th colspan="{count}">{escape(name)}</th>' for name, count in groups)
    heads = "".join(f"<th>{escape(head)}</th>" for head in columns)
    rows = f"<tr>{above}</tr><tr>{heads}</tr>" if groups else f"<tr>{heads}</tr>"
    body = "\n".join(_line(line) for line in layout.lines)
    notes = "\n".join(f"<li>{escape(note)}</li>" for note in layout.notes)
    return (
        f'<section id="{escape(layout.name)}">\n<h2>{escape(layout.title)}</h2>\n<table>\n'
        f"<thead>{rows}</thead>\n<tbody>\n{body}\n</tbody>\n</table>\n<ul>\n{notes}\n</ul>\n</section>\n"
    )


def page(sections: Sequence[Section]) -> str:
    """A whole page: a list of the sections, then each with links to its files and its picture."""
    entries = "".join(
        f'<li><a href="#{escape(section.name)}">{escape(section.heading)}</a></li>\n' for section in sections
    )
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Tables and figures</title>\n'
        f"<style>{_STYLE}</style>\n<body>\n<nav><ul>\n{entries}</ul></nav>\n"
        f"{''.join(map(_shown, sections))}</body>\n</html>\n"
    )


def _shown(section: Section) -> str:
    links = " ".join(f'<a href="{escape(name)}">{escape(name)}</a>' for name in section.files)
    picture = (
        f'<figure><img src="{escape(section.picture)}" srcset="{escape(section.picture)} {_SHRUNK}x" '
        f'alt="{escape(section.caption)}"><figcaption>{escape(section.caption)}</figcaption></figure>\n'
        if section.picture
        else ""
    )
    return section.html.replace("</h2>", f"</h2>\n<p>{links}</p>\n{picture}", 1)


def _line(line: Line) -> str:
    texts = "".join(f"<td>{_text(text)}</td>" for text in line.texts)
    return f'<tr class="{line.kind}"><td>{escape(line.label)}</td>{texts}</tr>'


def _text(text: Text) -> str:
    return f"<b>{escape(text.text)}</b>" if text.best else escape(text.text)
