"""Stop the jobs of a cluster that play an experiment.

What they finished stays; the same command as before plays what is missing. A sweep that waits for them ends, and a
sweep without a cluster is stopped by Ctrl-C."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from harness.failures import UsageError

PATIENCE = 60.0
"""Seconds that jobs have to end in."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("experiment", type=Path, help="a folder under outputs/")


def run(options: argparse.Namespace) -> int:
    from harness.cluster import record
    from harness.cluster.slurm import Slurm

    root: Path = options.experiment
    if not root.is_dir():
        raise UsageError(f"{root} is not a folder; name one under outputs/.")
    given = record.read(root)
    if not given.jobs:
        print(f"No job of a cluster plays {root}.")
        return 0
    slurm = Slurm()  # the one scheduler whose jobs outlive their sweep
    jobs = {job.job for job in given.jobs}
    slurm.cancel(jobs)
    deadline = time.monotonic() + PATIENCE
    while (alive := slurm.alive()) is None or alive & jobs:
        if time.monotonic() > deadline:
            print(f"{given.named} was told to stop and has not ended yet. Try again.", file=sys.stderr)
            return 1
        time.sleep(0.5)
    record.write(root, given.scheduler, [])
    print(f"Stopped {given.named}. What it finished is kept; the same command plays what is missing.")
    return 0
