"""Writes the compact copy of a finished experiment, which is read twenty times faster.

The rows stay the record: the copy is used only as long as no row has been added.
"""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("experiment", type=Path, metavar="outputs/EXPERIMENT")


def run(options: argparse.Namespace) -> int:
    from analysis.rows import compact

    print(compact(options.experiment))
    return 0
