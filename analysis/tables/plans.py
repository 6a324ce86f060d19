"""Plans side by side in each format: a column a method, a line of its own for each step. All text is escaped here, by the
rules of the format's own module."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from html import escape as html_escape
from typing import TYPE_CHECKING

from analysis.plans import Plan, Plans, SideBySide, Task, side_by_side
from analysis.tables import latex, markdown
from analysis.tables.layout import DASH

if TYPE_CHECKING:
    from analysis.rows import Rows

HEADS = [
    "item",
    "task",
    "instruction",
    "scene",
    "seed",
    "method",
    "status",
    "kind",
    "trial",
    "trials",
    "successes",
    "episodes",
    "memory_rank",
    "memory_environment",
    "memory_task",
    "memory_instruction",
    "memory_score",
    "step",
    "call",
    "problem",
]


def texts(item: Plans, rows: Rows, where: Mapping[str, str] = {}) -> dict[str, str]:
    """By format. Raises as `entries.compute` does."""
    found = side_by_side(item, rows, where)
    return {
        "latex": in_latex(found),
        "markdown": in_markdown(found),
        "csv": in_csv(found),
        "html": in_html(found),
    }


def in_latex(found: SideBySide) -> str:
    """A `table` environment; needs the package booktabs."""
    count = len(found.methods)
    width = f"p{{{0.94 / count:.2f}\\linewidth}}"
    heads = " & ".join(map(latex.escape, found.methods))
    body = "\\midrule\n".join(_latex_task(task, count) for task in found.tasks)
    notes = "\n\n".join(map(latex.escape, found.notes))
    return (
        "\\begin{table}\n"
        f"\\caption{{{latex.escape(found.title)}}}\n"
        f"\\label{{tab:{found.name.replace('_', '-')}}}\n"
        "\\centering\\footnotesize\n"
        f"\\begin{{tabular}}{{{width * count}}}\n"
        f"\\toprule\n{heads} \\\\\n\\midrule\n"
        f"{body}"
        "\\bottomrule\n"
        "\\end{tabular}\n\n"
        f"\\medskip\\begin{{minipage}}{{0.95\\linewidth}}\\footnotesize\n{notes}\n\\end{{minipage}}\n"
        "\\end{table}\n"
    )


def _latex_task(task: Task, count: int) -> str:
    cells = " &\n".join(
        "\\raggedright " + "\\par\n".join(_lines(plan, latex.escape, _typed)) for plan in task.plans
    )
    title = f"\\multicolumn{{{count}}}{{l}}{{Task: {latex.escape(_title(task))}}}"
    return f"{title} \\\\\n\\addlinespace\n{cells} \\tabularnewline\n"


def _typed(code: str) -> str:
    """Code in LaTeX: quotes as they are typed."""
    escaped = latex.escape(code).replace("'", "\\textquotesingle{}").replace("`", "\\textasciigrave{}")
    return f"\\texttt{{{escaped}}}"


def in_markdown(found: SideBySide) -> str:
    """Title, table and notes."""
    heads = "".join(f" {markdown.escape(method)} |" for method in ("Task", *found.methods))
    lines = []
    for task in found.tasks:
        cells = ["<br>".join(_lines(plan, markdown.escape, _marked)) for plan in task.plans]
        lines.append(f"| {markdown.escape(_title(task))} |" + "".join(f" {cell} |" for cell in cells))
    rule = "|---|" + "---|" * len(found.methods)
    notes = "\n".join(f"- {markdown.escape(note)}" for note in found.notes)
    return f"**{markdown.escape(found.title)}**\n\n|{heads}\n{rule}\n" + "\n".join(lines) + f"\n\n{notes}\n"


def _marked(code: str) -> str:
    return f"<code>{markdown.escape(code)}</code>"


def in_html(found: SideBySide) -> str:
    """Title, table and notes, as a section of the page of tables."""
    heads = "".join(f"<th>{html_escape(method)}</th>" for method in found.methods)
    body = "\n".join(_html_task(task, len(found.methods)) for task in found.tasks)
    notes = "\n".join(f"<li>{html_escape(note)}</li>" for note in found.notes)
    return (
        f'<section id="{html_escape(found.name)}">\n<h2>{html_escape(found.title)}</h2>\n<table class="plans">\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n<ul>\n{notes}\n</ul>\n</section>\n"
    )


def _html_task(task: Task, count: int) -> str:
    cells = "".join(f"<td>{'<br>'.join(_lines(plan, html_escape, _coded))}</td>" for plan in task.plans)
    return f'<tr><th colspan="{count}">Task: {html_escape(_title(task))}</th></tr>\n<tr>{cells}</tr>'


def _coded(code: str) -> str:
    return f"<code>{html_escape(code)}</code>"


def in_csv(found: SideBySide) -> str:
    """One line a step; a plan without any is one line with the problem. What is missing is empty."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(HEADS)
    for task in found.tasks:
        for method, plan in zip(found.methods, task.plans, strict=True):
            memory = plan.remembered
            head = [
                found.name,
                task.label,
                task.instruction,
                found.scene,
                found.seed,
                method,
                plan.status,
                plan.kind,
                plan.trial or None,
                plan.trials or None,
                plan.successes,
                plan.episodes,
                *(
                    [memory.rank, memory.environment, memory.task, memory.instruction, memory.score]
                    if memory
                    else [None] * 5
                ),
            ]
            for number, step in enumerate(plan.steps, 1):
                writer.writerow([*head, number, step, None])
            if not plan.steps:
                writer.writerow([*head, None, None, plan.problem])
    return buffer.getvalue()


def _title(task: Task) -> str:
    return f"{task.label} ({task.instruction})" if task.instruction else task.label


def _lines(plan: Plan, text: Callable[[str], str], code: Callable[[str], str]) -> Iterator[str]:
    """What stands in the place of a plan, line by line: its steps or a dash, what was remembered, the outcome."""
    yield from map(code, plan.steps)
    if plan.problem:
        yield text(f"{DASH} {plan.problem}")
    if plan.remembered:
        yield text(f"From memory: {plan.remembered.words()}")
    if plan.outcome():
        yield text(f"Outcome: {plan.outcome()}")
