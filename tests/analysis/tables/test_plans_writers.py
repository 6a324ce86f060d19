"""Plans side by side as text: escapes, LaTeX that compiles, one line a step in CSV, and the command that writes them."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
from pathlib import Path

import pytest

from analysis import commands
from analysis.plans import Plan, Remembered, SideBySide, Task
from analysis.report import write as report
from analysis.tables import latex, plans
from harness.commandline import main
from harness.tracing import Trace
from tests.analysis.report.conftest import record
from tests.analysis.tables.conftest import write_cell
from tests.analysis.tables.test_writers import NASTY

CODE = f"composer(\"{NASTY} 'x' `y` --\")"


def nasty() -> SideBySide:
    shown = Remembered(1, NASTY, NASTY, NASTY, 0.5)
    full = Plan("success", "", (CODE, "execute()"), shown, 2, 3, "", 4, 5)
    none = Plan("failure", "goal", problem="no trace was recorded (record=none)", successes=0, episodes=5)
    return SideBySide(
        "mtp_table3", NASTY, 0, 7, (NASTY, "MTP"), (Task(NASTY, NASTY, (full, none)),), (NASTY,)
    )


def test_code_and_words_are_escaped_once() -> None:
    in_latex = plans.in_latex(nasty())
    assert f'\\texttt{{composer("{latex.escape(NASTY)} \\textquotesingle{{}}x' in in_latex
    assert "\\textasciigrave{}y\\textasciigrave{} --" in in_latex
    assert in_latex.count(r"a\_b") == 9  # title, head, task, instruction, code, record in three places, note
    assert "-- no trace was recorded (record=none)\\par\n" in in_latex
    assert "Outcome: failure (goal); 0 of 5 episodes of this task succeeded" in in_latex
    html = plans.in_html(nasty())
    assert "&amp;amp;" not in html and html.count("a_b % &amp; #") == 9
    assert "<code>composer(&quot;a_b % &amp; # $ { } ~ ^ \\ &lt; &gt; |" in html
    marked = plans.in_markdown(nasty())
    assert (
        r"<code>composer(" in marked and r"a\_b % & # $ { } ~ ^ \\ \< \> \| ±é漢 \[x\] 'x' \`y\` --" in marked
    )
    line = next(line for line in marked.splitlines() if "execute" in line)
    assert line.replace(r"\|", "").count("|") == 4


@pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason="no pdflatex here (Debian: texlive-latex-recommended)"
)
def test_latex_compiles_with_any_number_of_methods(tmp_path: Path) -> None:
    for count in (1, 2, 4):
        full = nasty().tasks[0].plans[0]
        found = SideBySide(
            "mtp_table3", "t", 0, 0, (NASTY,) * count, (Task("a", "", (full,) * count),) * 4, ()
        )
        (tmp_path / f"{count}.tex").write_text(plans.in_latex(found))
    (tmp_path / "nasty.tex").write_text(plans.in_latex(nasty()))
    (tmp_path / "all.tex").write_text(latex.document(["1", "2", "4", "nasty"]))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]


def test_the_spreadsheet_has_a_line_a_step(tmp_path: Path) -> None:
    lines = list(csv.DictReader(io.StringIO(plans.in_csv(nasty()))))
    assert [(line["method"], line["step"], line["call"]) for line in lines] == [
        (NASTY, "1", CODE),
        (NASTY, "2", "execute()"),
        ("MTP", "", ""),
    ]
    assert (lines[0]["seed"], lines[0]["trial"], lines[0]["trials"]) == ("7", "2", "3")
    assert (lines[1]["memory_rank"], lines[1]["memory_instruction"]) == ("1", NASTY)
    assert (lines[2]["memory_rank"], lines[2]["problem"]) == ("", "no trace was recorded (record=none)")


def test_the_command_and_the_report_show_it_and_only_where_there_are_its_cells(
    experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def tables(*arguments: str) -> int:
        return main(commands, "", ["tables", str(experiment), "--paper", "mtp", *arguments])

    assert tables("--item", "table3") == 2
    assert "mtp_table3: no episode yet" in capsys.readouterr().err
    assert 'id="mtp_table3"' not in report(experiment).read_text()
    for method, memory in (("voxposer", None), ("mtp", "both")):
        folder = write_cell(experiment, method, "ur5_sim", 0, {("push_button", 0): "success"}, memory=memory)
    write = Trace(folder / "traces" / "push_button-s0-i0.jsonl")
    write("trial", index=0, state_hash="abc")
    write("call", by="planner", name="composer", arguments=["'open <gripper>'"])
    write.close()
    record(folder, "push_button-s0-i0", trace="traces/push_button-s0-i0.jsonl")
    assert tables("--item", "table3") == 0
    written = {
        path.name: path.read_bytes() for path in (experiment / "tables").iterdir() if path.suffix != ".aux"
    }
    assert {"mtp_table3.tex", "mtp_table3.md", "mtp_table3.csv", "mtp_table3.html"} <= set(written)
    assert b"composer(&quot;open &lt;gripper&gt;&quot;)" in written["index.html"]
    assert b"no trace was recorded" in written["mtp_table3.md"]
    assert tables("--item", "table3", "--check") == 0
    assert 'id="mtp_table3"' in report(experiment).read_text()
    assert "mtp_table4" in report(experiment).read_text()
