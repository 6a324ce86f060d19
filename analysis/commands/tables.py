"""Writes a paper's tables and figures from the rows of experiments, with an index.

Each table has our values (mean and standard deviation over seeds, exact interval over episodes) and the published ones; a
figure is drawn beside its table, which needs the extra `figures`.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.failures import UsageError

if TYPE_CHECKING:
    from analysis.rows import Rows
    from analysis.tables.entries import Computed

FORMATS = {"latex": "tex", "markdown": "md", "csv": "csv", "html": "html", "pdf": "pdf", "png": "png"}
PICTURES = ("pdf", "png")
"""Those that only figures have."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("experiments", nargs="+", type=Path, metavar="outputs/EXPERIMENT")
    parser.add_argument("--paper", choices=["mtp", "hime"], help="only this paper's (default: both)")
    parser.add_argument(
        "--item", action="append", default=[], help="only this one, as in table1; may be repeated"
    )
    parser.add_argument("--format", default=",".join(FORMATS), help=f"of {', '.join(FORMATS)} (default: all)")
    parser.add_argument("--out", type=Path, help="folder (default: tables in the first experiment's folder)")
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="only cells that have this, as in llm=rules",
    )
    parser.add_argument(
        "--interval",
        choices=["clopper-pearson", "wilson", "jeffreys"],
        default="clopper-pearson",
        help="of success rates (default: clopper-pearson, which is exact)",
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail when a file is not what rows give"
    )


def run(options: argparse.Namespace) -> int:
    from analysis import items, rows
    from analysis.tables.entries import compute

    formats = options.format.split(",")
    for name in formats:
        if name not in FORMATS:
            raise UsageError(f"There is no format `{name}`; it can be {', '.join(FORMATS)}.")
    found = rows.load(options.experiments)
    if found.torn:
        print(f"{found.torn} rows were cut off by a kill and are left out.", file=sys.stderr)
    where = dict(_pair(text) for text in options.where)
    computed = [
        compute(item, found, where, options.interval) for item in items.load(options.paper, options.item)
    ]
    filled = [one for one in computed if not one.empty]
    for one in computed:
        if one.empty:
            print(
                f"{one.item.name}: no episode yet. python run.py -m +experiment={one.item.name}",
                file=sys.stderr,
            )
    if not filled:
        raise UsageError("None of these items has an episode in the experiments given.")
    out = options.out or options.experiments[0] / "tables"
    files = _files(filled, _possible(formats, filled), found, where)
    if options.check:
        return _check(out, files)
    out.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (out / name).write_bytes(content)
    print(f"{len(filled)} tables in {out}: see {out / 'index.html'}")
    if "latex" in formats:
        _compile(out)
    return 0


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"--where {text}: write KEY=VALUE, as in --where llm=rules.")
    return key, value


def _possible(formats: Sequence[str], filled: Sequence[Computed]) -> Sequence[str]:
    """Formats without those that need what is not installed, which is said."""
    from analysis.figures.chart import is_figure
    from analysis.figures.pictures import available

    missing = [name for name in formats if name in PICTURES]
    if not missing or available() or not any(is_figure(computed.item) for computed in filled):
        return formats
    print(
        f"No {' and '.join(missing)}: figures need matplotlib. pip install 'engram[figures]'", file=sys.stderr
    )
    return [name for name in formats if name not in PICTURES]


def _files(
    filled: Sequence[Computed], formats: Sequence[str], found: Rows, where: Mapping[str, str]
) -> dict[str, bytes]:
    """Name to content."""
    from analysis.figures.chart import chart, is_figure
    from analysis.figures.pictures import pictures
    from analysis.plans import Plans
    from analysis.tables import latex, page, plans

    drawn = [name for name in formats if name in PICTURES]
    files: dict[str, bytes] = {}
    sections = []
    captions: dict[str, str] = {}
    for computed in filled:
        item = computed.item
        texts = plans.texts(item, found, where) if isinstance(item, Plans) else _texts(computed)
        contents = {name: texts[name].encode() for name in formats if name in texts}
        if drawn and is_figure(item):
            figure = chart(computed)
            contents |= pictures(figure, drawn)
            captions[item.name] = figure.caption
        names = {name: f"{item.name}.{FORMATS[name]}" for name in contents}
        files |= {names[name]: content for name, content in contents.items()}
        sections.append(
            page.Section(
                item.name,
                item.heading,
                texts["html"],
                tuple(names.values()),
                names.get("png", ""),
                captions.get(item.name, ""),
            )
        )
    if "latex" in formats:
        shown = captions if "pdf" in formats else {}
        files["all.tex"] = latex.document([computed.item.name for computed in filled], shown).encode()
    files["index.html"] = page.page(sections).encode()
    return files


def _texts(computed: Computed) -> dict[str, str]:
    """By format."""
    from analysis.tables import latex, layout, markdown, page, spreadsheet

    arranged = layout.arrange(computed)
    return {
        "latex": latex.table(arranged),
        "markdown": markdown.table(arranged),
        "csv": spreadsheet.table(computed),
        "html": page.table(arranged),
    }


def _check(out: Path, files: Mapping[str, bytes]) -> int:
    stale = [
        name
        for name, content in files.items()
        if not (out / name).is_file() or (out / name).read_bytes() != content
    ]
    for name in stale:
        print(f"{out / name} is not what the rows give.", file=sys.stderr)
    return 1 if stale else 0


def _compile(out: Path) -> None:
    """all.pdf, where there is a LaTeX; its log stays only where that fails."""
    if shutil.which("pdflatex") is None:
        print("No pdflatex here, so all.tex is not compiled (Debian: texlive-latex-recommended).")
        return
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=out, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise UsageError(f"pdflatex failed on {out / 'all.tex'}; see {out / 'all.log'}.")
    for suffix in (".aux", ".log"):
        (out / "all").with_suffix(suffix).unlink(missing_ok=True)
    print(f"{out / 'all.pdf'}")
