"""What on this machine can be used, and the command that mends the rest."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It has none."""


def run(options: argparse.Namespace) -> int:
    from harness.doctor import report

    return report()
