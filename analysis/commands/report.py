"""Writes one HTML page of an experiment: its tables, and every episode with what was recorded of it.

The page opens from a disk, without a server or a network. Traces lie beside it, in the folder report, and are loaded
when an episode is opened; pictures and videos stay where they are. With --wandb the comparison becomes a report in
Weights & Biases instead, about the runs of tracker=wandb: it is built and checked here, and saved when you are logged in.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path

from harness.failures import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("experiment", type=Path, metavar="outputs/EXPERIMENT")
    parser.add_argument("--wandb", action="store_true", help="a report in Weights & Biases instead")
    parser.add_argument("--project", help="of the runs in W&B (default: as they were tracked)")
    parser.add_argument("--entity", help="team or user (default: as they were tracked)")


def run(options: argparse.Namespace) -> int:
    from analysis.report import write

    if options.wandb:
        return _wandb(options)
    if options.project or options.entity:
        raise UsageError("--project and --entity are for --wandb.")
    print(write(options.experiment))
    return 0


def _wandb(options: argparse.Namespace) -> int:
    from analysis import rows
    from analysis.report import run_sets, wandb_report

    if importlib.util.find_spec("wandb_workspaces") is None:
        raise UsageError("The package wandb-workspaces is not installed: pip install 'engram[wandb]'")
    experiment: Path = options.experiment
    found = rows.load([experiment])
    address = wandb_report.Address(*run_sets.place(found, options.entity, options.project))
    built = wandb_report.build(experiment, found, address)
    print(f"{wandb_report.write(built)}: built and checked")
    if not wandb_report.logged_in():
        print(
            "Not saved: you are not logged in to W&B. `wandb login` (or WANDB_API_KEY, without WANDB_MODE), then the "
            "same command saves it.",
            file=sys.stderr,
        )
        return 0
    try:
        print(wandb_report.save(built))
    except UsageError:
        raise
    except Exception as error:  # of somebody else's code and network: all that can be said is what they say
        print(f"W&B could not save it: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0
