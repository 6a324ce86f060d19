r"""A table in LaTeX with booktabs, and a document that shows many, and figures. All text is escaped here and only here; the result
depends on nothing but the numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.tables.layout import DASH, Layout, Line, Text, grouped

_SIGNS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "_": r"\_",
    "%": r"\%",
    "&": r"\&",
    "#": r"\#",
    "$": r"\$",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": r"{[}",
    "]": r"{]}",
    "±": r"$\pm$",
    DASH: "--",
}

# A table that is wider than the page is shrunk to it. The PDF says neither when nor where it was made.
_PREAMBLE = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage[margin=2cm,landscape]{geometry}
\usepackage{booktabs}
\usepackage{graphicx}
\ifdefined\pdfinfoomitdate\pdfinfoomitdate=1\pdftrailerid{}\fi
\newsavebox{\wide}
\let\asis\tabular\let\endasis\endtabular
\renewenvironment{tabular}[1]{\begin{lrbox}{\wide}\asis{#1}}{\endasis\end{lrbox}%
\ifdim\wd\wide>\linewidth\resizebox{\linewidth}{!}{\usebox{\wide}}\else\usebox{\wide}\fi}
\begin{document}
"""


def escape(text: str) -> str:
    """Text as LaTeX prints it; pdflatex takes Latin letters with accents as they are, other signs become `?`."""
    return "".join(_SIGNS.get(sign) or (sign if ord(sign) < 0x180 else "?") for sign in text)


def table(layout: Layout) -> str:
    """A `table` environment; needs the package booktabs."""
    columns = "l" + "c" * (len(layout.heads) - 1)
    body = "\n".join(_line(line, first=i == 0) for i, line in enumerate(layout.lines))
    notes = "\n\n".join(escape(note) for note in layout.notes)
    return (
        "\\begin{table}\n"
        f"\\caption{{{escape(layout.title)}}}\n"
        f"\\label{{tab:{layout.name.replace('_', '-')}}}\n"
        "\\centering\\small\n"
        f"\\begin{{tabular}}{{{columns}}}\n"
        f"\\toprule\n{_heads(layout.heads)} \\\\\n\\midrule\n"
        f"{body}\n"
        "\\bottomrule\n"
        "\\end{tabular}\n\n"
        f"\\medskip\\begin{{minipage}}{{0.95\\linewidth}}\\footnotesize\n{notes}\n\\end{{minipage}}\n"
        "\\end{table}\n"
    )


def document(files: Sequence[str], captions: Mapping[str, str] = {}) -> str:
    """A document that shows tables from files beside it, and above a table its figure where there is a caption for it."""
    body = "".join(
        f"{_figure(name, captions[name]) if name in captions else ''}\\input{{{name}}}\n\\clearpage\n"
        for name in files
    )
    return f"{_PREAMBLE}{body}\\end{{document}}\n"


def _figure(name: str, caption: str) -> str:
    return (
        "\\begin{figure}\n\\centering\n"
        f"\\includegraphics{{{name}.pdf}}\n"
        f"\\caption{{{escape(caption)}}}\n"
        f"\\label{{fig:{name.replace('_', '-')}}}\n"
        "\\end{figure}\n"
    )


def _heads(heads: Sequence[str]) -> str:
    """One line, or two where columns have groups."""
    groups, columns = grouped(heads)
    below = " & ".join(map(escape, columns))
    if not groups:
        return below
    above, rules, start = [], "", 1
    for name, count in groups:
        above.append(f"\\multicolumn{{{count}}}{{c}}{{{escape(name)}}}")
        rules += f"\\cmidrule(lr){{{start}-{start + count - 1}}}" if name else ""
        start += count
    return f"{' & '.join(above)} \\\\\n{rules}\n{below}"


def _line(line: Line, first: bool) -> str:
    space = "\\addlinespace\n" if line.kind == "ours" and not first else ""
    label = escape(line.label)
    if line.kind == "published":
        label = f"\\quad\\textit{{{label}}}"
    return f"{space}{label} & {' & '.join(_text(text, line.kind) for text in line.texts)} \\\\"


def _text(text: Text, kind: str) -> str:
    found = escape(text.text)
    if kind == "interval":
        return f"{{\\scriptsize {found}}}"
    if kind == "published":
        return f"\\textit{{{found}}}"
    return f"\\textbf{{{found}}}" if text.best else found
