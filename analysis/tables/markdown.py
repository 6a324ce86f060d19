"""A table in GitHub's Markdown."""

from __future__ import annotations

from analysis.tables.layout import Layout, Line, Text


def table(layout: Layout) -> str:
    """Title, table and notes."""
    heads = "".join(f" {_escape(head)} |" for head in layout.heads)
    rule = "|---|" + "---:|" * (len(layout.heads) - 1)
    body = "\n".join(_line(line) for line in layout.lines)
    notes = "\n".join(f"- {_escape(note)}" for note in layout.notes)
    return f"**{_escape(layout.title)}**\n\n|{heads}\n{rule}\n{body}\n\n{notes}\n"


def _line(line: Line) -> str:
    label = f"*{line.label}*" if line.kind == "published" else _escape(line.label)
    return f"| {label} |" + "".join(f" {_text(text, line.kind)} |" for text in line.texts)


def _text(text: Text, kind: str) -> str:
    found = _escape(text.text)
    if kind == "published":
        return f"*{found}*"
    return f"**{found}**" if text.best else found


def _escape(text: str) -> str:
    for sign in "\\`*_[]<>|":
        text = text.replace(sign, f"\\{sign}")
    return text
