"""Tables as text: rounding, bold, dashes, escapes, and LaTeX that compiles."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest

from analysis import commands, items, rows
from analysis.tables import latex, layout, markdown, page, spreadsheet
from analysis.tables.entries import Computed, compute
from harness.commandline import main
from tests.analysis.tables.conftest import verdicts, write_cell


@pytest.fixture
def computed(experiment: Path) -> Computed:
    (item,) = items.load("mtp", ["table1"])
    return compute(item, rows.load([experiment]))


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (Fraction(1, 8), 2, "0.13"),
        (Fraction(-1, 25), 1, "0.0"),
        (Fraction(-1, 8), 2, "-0.13"),
        (Fraction(200, 3), 1, "66.7"),
        (Fraction(100), 1, "100.0"),
        (Fraction(1, 20), 1, "0.1"),
        (Fraction(5, 2), 0, "3"),
    ],
)
def test_rounding_is_half_away_from_zero(value: Fraction, decimals: int, text: str) -> None:
    assert layout.rounded(value, decimals) == text


def test_the_papers_order_with_ours_its_interval_and_the_published(computed: Computed) -> None:
    found = layout.arrange(computed)
    assert found.heads[:3] == ("", "Ball", "Buzz")
    kinds = [(line.kind, line.label) for line in found.lines]
    assert kinds[:3] == [("ours", "VoxPoser"), ("interval", ""), ("published", "published")]
    assert [line.texts[-1].text for line in found.lines[:3]] == ["37.5 ± 17.7", "[8.5, 75.5]", "39.3 ± 3.4"]
    assert found.lines[0].texts[0].text == layout.DASH  # no episode of that task


def test_ties_are_all_bold_and_a_single_value_is_not(experiment: Path) -> None:
    write_cell(experiment, "self_reflection", "tabletop", 0, verdicts("+-+-"))
    (item,) = items.load("mtp", ["table1"])
    computed = compute(item, rows.load([experiment]))
    found = layout.arrange(computed)
    button = found.heads.index("Button") - 1
    bold = {line.label for line in found.lines if line.texts[button].best}
    assert bold == {"Self-reflection", "MTP"}  # 100 each
    alone = computed.entries | {
        key: computed.entries["Self-reflection", "Buzz"] for key in computed.entries if key[0] != "MTP"
    }
    lonely = layout.arrange(Computed(computed.item, alone, {}, {}))
    assert not any(text.best for line in lonely.lines for text in line.texts)


def test_what_differs_from_the_paper_is_said(computed: Computed) -> None:
    notes = " ".join(layout.arrange(computed).notes)
    assert "tabletop stands for rlbench" in notes
    assert "Model: rules." in notes
    assert "Memory: playtable." in notes
    assert "VoxPoser 3 of 8 in 2 seeds" in notes
    assert "Retry 2 of 3 in 1 seed," in notes


NASTY = r"a_b % & # $ { } ~ ^ \ < > | ±é漢 [x]"


def nasty() -> layout.Layout:
    line = layout.Line("ours", NASTY, (layout.Text(NASTY, best=True), layout.Text(layout.DASH)))
    return layout.Layout("mtp_table1", NASTY, ("", NASTY, "n"), (line,), (NASTY,))


def test_everything_is_escaped_once() -> None:
    found = latex.escape(NASTY)
    assert found == (
        r"a\_b \% \& \# \$ \{ \} \textasciitilde{} \textasciicircum{} \textbackslash{} \textless{} \textgreater{} "
        r"\textbar{} $\pm$é? {[}x{]}"
    )
    assert latex.table(nasty()).count(r"a\_b") == 5
    assert r"a\_b % & # $ { } ~ ^ \\ \< \> \|" in markdown.table(nasty())
    assert "&amp; # $ { } ~ ^ \\ &lt; &gt;" in page.table(nasty())
    assert "&amp;amp;" not in page.table(nasty())


@pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason="no pdflatex here (Debian: texlive-latex-recommended)"
)
def test_latex_compiles_whatever_it_is_given(tmp_path: Path) -> None:
    empty = layout.Layout("empty", "No line", ("", "a"), (), ())
    (tmp_path / "nasty.tex").write_text(latex.table(nasty()))
    (tmp_path / "empty.tex").write_text(latex.table(empty))
    (tmp_path / "all.tex").write_text(latex.document(["nasty", "empty"]))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "all.pdf").stat().st_size > 5_000


def test_the_spreadsheet_has_every_number_unrounded(computed: Computed) -> None:
    lines = list(csv.DictReader(io.StringIO(spreadsheet.table(computed))))
    assert len(lines) == 4 * 10
    average = next(line for line in lines if line["row"] == "Retry" and line["column"] == "Average")
    assert float(average["value"]) == pytest.approx(200 / 3)
    assert (average["deviation"], average["errors"], average["published"]) == ("", "1", "55.6")


def test_the_command_writes_what_it_says_and_check_tells_when_rows_have_changed(
    experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def tables(*arguments: str) -> int:
        return main(commands, "", ["tables", str(experiment), "--paper", "mtp", *arguments])

    assert tables("--format", "latex,csv,markdown") == 0
    out = experiment / "tables"
    written = {
        path.name: path.read_bytes()
        for path in out.iterdir()  # all.pdf, too, where there is a LaTeX
    }
    assert {path.suffix for path in out.iterdir()} <= {".tex", ".md", ".csv", ".html", ".pdf"}
    assert {"mtp_table1.tex", "mtp_table6.md", "all.tex", "index.html"} <= set(written)
    assert "mtp_table2.tex" not in written
    assert "mtp_table2: no episode yet" in capsys.readouterr().err
    assert tables("--format", "latex,csv,markdown") == 0
    assert all((out / name).read_bytes() == content for name, content in written.items())
    assert tables("--format", "latex,csv,markdown", "--check") == 0
    write_cell(experiment, "retry", "tabletop", 1, verdicts("----"))
    assert tables("--format", "latex,csv,markdown", "--check") == 1
    assert "mtp_table1.csv is not what the rows give" in capsys.readouterr().err
    assert (out / "mtp_table1.csv").read_bytes() == written["mtp_table1.csv"]
    assert tables("--format", "docx") == 2
    assert tables("--where", "llm") == 2
    assert "write KEY=VALUE" in capsys.readouterr().err
