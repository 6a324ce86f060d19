"""A table in GitHub's Markdown."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from analysis.tables.layout import Layout, Line, Text


def table(layout: Layout) -> str:
    """Title, table and notes."""
    heads = "".join(f" {escape(head)} |" for head in layout.heads)
    rule = "|---|" + "---:|" * (len(layout.heads) - 1)
    body = "\n".join(_line(line) for line in layout.lines)
    notes = "\n".join(f"- {escape(note)}" for note in layout.notes)
    return f"**{escape(layout.title)}**\n\n|{heads}\n{rule}\n{body}\n\n{notes}\n"


def grid(heads: Sequence[str], rows: Sequence[Sequence[str]], words: Collection[str] = ()) -> str:
    """A table of texts; columns are to the right but for the first and those whose heads are in `words`."""
    rule = "".join("---|" if not i or head in words else "---:|" for i, head in enumerate(heads))
    lines = ["".join(f" {escape(text)} |" for text in row) for row in [heads, *rows]]
    return "\n".join([f"|{lines[0]}", f"|{rule}", *(f"|{line}" for line in lines[1:])]) + "\n"


def _line(line: Line) -> str:
    label = f"*{line.label}*" if line.kind == "published" else escape(line.label)
    return f"| {label} |" + "".join(f" {_text(text, line.kind)} |" for text in line.texts)


def _text(text: Text, kind: str) -> str:
    found = escape(text.text)
    if kind == "published":
        return f"*{found}*"
    return f"**{found}**" if text.best else found


def escape(text: str) -> str:
    """Text that Markdown shows as it is."""
    for sign in "\\`*_[]<>|":
        text = text.replace(sign, f"\\{sign}")
    return text
