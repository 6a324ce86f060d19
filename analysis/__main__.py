"""`python -m analysis COMMAND`: from rows to the papers' tables, and what the numbers can bear."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from collections.abc import Sequence

from analysis import commands
from harness.failures import UsageError


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status: the command's own, or 2 for what cannot be run."""
    parser = argparse.ArgumentParser(prog="python -m analysis", description=__doc__)
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in sorted(found.name for found in pkgutil.iter_modules(commands.__path__)):
        command = importlib.import_module(f"{commands.__name__}.{name}")
        summary = (command.__doc__ or "").partition("\n")[0]
        subparser = subparsers.add_parser(name, help=summary, description=command.__doc__)
        command.add_arguments(subparser)
        subparser.set_defaults(run=command.run)
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
