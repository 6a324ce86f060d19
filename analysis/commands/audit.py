"""Check published numbers against each other and against what their stated episodes can give.

Without a file, the numbers of the two papers that this project is about. A file of your own is a CSV with one number a
line, as printed, and the columns paper, item, method, benchmark, task (`all` for an average over tasks), metric
(success_rate, successes, task_progress with its subtasks, or any other), value, spread, unit (percent, fraction,
`count of N`, or any other) and episodes (as stated, over all runs; may be empty). Three more are read where there are
any: runs (equal ones, which the spread is over), label (what the item itself calls the method, where that is not its
name), setting (what else is different: numbers are compared within a setting). Exit status 1 when something is
inconsistent, 0 when not."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", nargs="?", type=Path, metavar="FILE.csv", help="published numbers (default: the two papers')"
    )


def run(options: argparse.Namespace) -> int:
    from analysis.audit import audit, countable
    from analysis.audit.numbers import read
    from analysis.published import PUBLISHED

    found = read(options.file or PUBLISHED)
    findings = audit(found.numbers)
    for finding in findings:
        print(f"{finding}\n")
    print(
        f"{len(findings)} findings in {len(found.numbers)} numbers. {countable(found.numbers)} are shares of a known "
        "number of outcomes and were checked one by one; all were checked against each other."
    )
    if found.unused:
        print(f"Columns that were not read: {', '.join(found.unused)}.")
    return 1 if findings else 0
