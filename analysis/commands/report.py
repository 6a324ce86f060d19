"""Writes one HTML page of an experiment: its tables, and every episode with what was recorded of it.

The page opens from a disk, without a server or a network. Traces lie beside it, in the folder report, and are loaded
when an episode is opened; pictures and videos stay where they are.
"""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("experiment", type=Path, metavar="outputs/EXPERIMENT")


def run(options: argparse.Namespace) -> int:
    from analysis.report import write

    print(write(options.experiment))
    return 0
