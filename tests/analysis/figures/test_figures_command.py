"""`python -m analysis tables` with figures: files, index, document, --check, and what happens without matplotlib."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis import commands
from analysis.figures import pictures
from analysis.tables import latex, layout
from harness.commandline import main
from tests.analysis.tables.conftest import verdicts, write_cell

Tables = Callable[..., int]


@pytest.fixture
def hime(tmp_path: Path) -> Path:
    """Figures 4, 5 and 6 and Table 9 have rows of `hime`; Figure 4 of `flat`, too, which never succeeded."""
    root = tmp_path / "hime"
    scenes = [(task, scene) for task in ("object_search", "rearrangement") for scene in range(2)]
    write_cell(root, "hime", "household", 0, dict.fromkeys(scenes, "success"))
    write_cell(root, "flat", "household", 0, dict.fromkeys(scenes, "failure"))
    return root


@pytest.fixture
def mtp(tmp_path: Path) -> Path:
    root = tmp_path / "mtp"
    write_cell(root, "voxposer", "tabletop", 0, verdicts("+---"))
    return root


def tables(*arguments: object) -> int:
    return main(commands, "", ["tables", *map(str, arguments)])


needs_matplotlib = pytest.mark.skipif(
    not pictures.available(), reason="figures need matplotlib (pip install 'engram[figures]')"
)


@needs_matplotlib
def test_a_figure_is_written_shown_and_checked(hime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tables(hime, "--item", "figure4", "--format", "latex,html,pdf,png") == 0
    out = hime / "tables"
    assert (out / "hime_figure4.pdf").read_bytes().startswith(b"%PDF")
    assert (out / "hime_figure4.png").read_bytes().startswith(b"\x89PNG")
    index = (out / "index.html").read_text()
    assert (
        '<li><a href="#hime_figure4">HiMe, Figure 4: Task progress of HiMe and its baselines</a></li>'
        in index
    )
    assert '<img src="hime_figure4.png"' in index and "Without a value, so left out: " in index
    document = (out / "all.tex").read_text()
    assert "\\includegraphics{hime_figure4.pdf}\n\\caption{HiMe, Figure 4: Task progress" in document
    assert document.count("\\begin{figure}") == 1
    assert tables(hime, "--item", "figure4", "--format", "latex,html,pdf,png", "--check") == 0
    with (out / "hime_figure4.png").open("ab") as file:
        file.write(b"x")
    capsys.readouterr()
    assert tables(hime, "--item", "figure4", "--format", "latex,html,pdf,png", "--check") == 1
    assert capsys.readouterr().err == f"{out / 'hime_figure4.png'} is not what the rows give.\n"


@needs_matplotlib
def test_tables_are_not_drawn_and_pictures_come_only_when_asked_for(hime: Path) -> None:
    assert tables(hime, "--paper", "hime", "--format", "csv,png") == 0
    written = {path.name for path in (hime / "tables").iterdir()}
    assert {"hime_figure5.png", "hime_figure5.csv"} <= written
    assert not {"hime_table9.png", "hime_figure5.pdf"} & written
    assert tables(hime, "--item", "figure4", "--format", "latex,html", "--out", hime / "texts") == 0
    assert sorted(path.suffix for path in (hime / "texts").glob("hime_*")) == [".html", ".tex"]
    assert "includegraphics{" not in (hime / "texts/all.tex").read_text()
    assert "<img" not in (hime / "texts/index.html").read_text()


def test_without_matplotlib_the_rest_is_written(
    hime: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pictures, "find_spec", lambda name: None)
    assert tables(hime, "--item", "figure4") == 0
    said = capsys.readouterr()
    assert "No pdf and png: figures need matplotlib. pip install 'engram[figures]'" in said.err
    names = {path.name for path in (hime / "tables").glob("hime_*")}
    assert names == {f"hime_figure4.{suffix}" for suffix in ("csv", "html", "md", "tex")}
    assert tables(hime, "--item", "figure4", "--check") == 0
    capsys.readouterr()
    assert tables(hime, "--item", "table9") == 0  # nothing to draw, so nothing to say
    assert "matplotlib" not in capsys.readouterr().err


@needs_matplotlib
def test_experiments_of_both_papers_share_a_folder_and_an_index(
    hime: Path, mtp: Path, tmp_path: Path
) -> None:
    assert tables(mtp, hime, "--format", "html,png", "--out", tmp_path / "all") == 0
    index = (tmp_path / "all/index.html").read_text()
    order = [index.index(f'<li><a href="#{name}">') for name in ("mtp_table1", "hime_figure4", "hime_table9")]
    assert order == sorted(order)
    assert all(f'<section id="{name}">' in index for name in ("mtp_table1", "hime_figure4", "hime_table9"))


@needs_matplotlib
@pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason="no pdflatex here (Debian: texlive-latex-recommended)"
)
def test_the_document_with_its_figures_compiles(hime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tables(hime, "--item", "figure4", "--item", "figure5", "--format", "latex,pdf") == 0
    assert "all.pdf" in capsys.readouterr().out
    shown = (hime / "tables/all.pdf").read_bytes()
    assert b"(./hime_figure4.pdf)" in shown and b"(./hime_figure5.pdf)" in shown
    assert not (hime / "tables/all.log").exists()


@pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason="no pdflatex here (Debian: texlive-latex-recommended)"
)
def test_a_table_that_is_wider_than_the_page_is_shrunk_to_it(tmp_path: Path) -> None:
    texts = tuple(layout.Text("a rather long value of a column") for _ in range(12))
    wide = layout.Layout(
        "wide", "Wide", ("", *"abcdefghijkl"), (layout.Line("ours", "row", texts),), ("note",)
    )
    (tmp_path / "wide.tex").write_text(latex.table(wide))
    (tmp_path / "all.tex").write_text(latex.document(["wide"]))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 0
    assert "Overfull" not in (tmp_path / "all.log").read_text(errors="replace")


def test_help_and_tables_without_pictures_load_no_matplotlib(hime: Path) -> None:
    program = (
        "import sys\nfrom analysis import commands\nfrom harness.commandline import main\n"
        "code = main(commands, '', ['tables', sys.argv[1], '--item', 'figure4', '--format', 'csv'])\n"
        "sys.exit(code or int('matplotlib' in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program, str(hime)], capture_output=True).returncode == 0
