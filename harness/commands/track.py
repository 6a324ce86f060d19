"""Bring a played experiment to a tracker: Weights & Biases, MLflow or one of your own.

Only what is not there yet is sent, as with tracker=... in a sweep, and into the same runs. While the experiment is
being played, its rows are sent as they come, until it ends."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.failures import UsageError

EVERY = 5.0
"""Seconds between two looks at an experiment that is being played."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("experiment", type=Path, help="a folder under outputs/")
    parser.add_argument(
        "--to",
        required=True,
        nargs="+",
        metavar=("TRACKER", "KEY=VALUE"),
        help="wandb, mlflow or another tracker=..., and its settings, such as mode=offline or uri=http://host:5000",
    )


def run(options: argparse.Namespace) -> int:
    from harness.preflight import text
    from harness.status import Status
    from harness.trackers.ledger import BusyError
    from harness.trackers.mirror import mirroring

    root: Path = options.experiment
    status = Status(root)
    status.look()
    if status.unreadable:
        raise UsageError("\n".join(status.unreadable))
    name, *settings = options.to
    tracker = configured(name, settings)
    if problems := tracker.problems():
        raise UsageError("\n".join(text(problem) for problem in problems))
    if not tracker.destination():
        raise UsageError(f"tracker={name} sends nothing anywhere.")
    try:
        with mirroring(root, tracker) as mirror:
            mirror.catch_up()
            while status.running:
                time.sleep(EVERY)
                status.look()
                mirror.catch_up()
            mirror.finish("ended")
            where = f" to {mirror.address}" if mirror.address else f": {tracker.destination()} has them all"
            print(f"{mirror.sent} rows sent{where}")
    except BusyError as error:
        raise UsageError(f"Not now: {error}.") from error
    except KeyboardInterrupt:
        print("Interrupted. The same command goes on.", file=sys.stderr)
        return 130
    except Exception as error:  # of somebody else's code and network: all that can be said is what they say
        print(f"The tracker failed: {type(error).__name__}: {error}", file=sys.stderr)
        print("What it has is kept. The same command goes on.", file=sys.stderr)
        return 1
    return 0


def configured(name: str, settings: Sequence[str]) -> Any:
    """The tracker of `conf/tracker/NAME.yaml` with some keys changed. Raises `UsageError`."""
    from hydra import compose, initialize_config_module
    from hydra.errors import HydraException
    from omegaconf import OmegaConf

    from harness.cli import explain
    from harness.components import build

    if wrong := [setting for setting in settings if "=" not in setting]:
        raise UsageError(f"{wrong[0]} is no KEY=VALUE of tracker={name}; the experiment comes before --to.")
    overrides = [f"tracker={name}", *(f"++tracker.{setting}" for setting in settings)]
    try:
        with initialize_config_module("conf", version_base="1.3"):
            node = OmegaConf.to_container(compose("config", overrides=overrides)["tracker"], resolve=True)
    except HydraException as error:
        raise UsageError(explain(error)) from error
    assert isinstance(node, dict)
    return build({str(key): value for key, value in node.items()}, "tracker")
