"""Commands of a package: each module below it is one, named as its file. A module has a docstring whose first line
is the help, `add_arguments(parser)` and `run(options) -> int`, the exit status; what is heavy it imports in `run`."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from collections.abc import Sequence
from types import ModuleType

from harness.failures import UsageError


def main(commands: ModuleType, description: str, arguments: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name (by default the process's own). Returns its exit status; 2 for what
    cannot be run."""
    program = commands.__name__.removesuffix(".commands")
    parser = argparse.ArgumentParser(prog=f"python -m {program}", description=description)
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in sorted(found.name for found in pkgutil.iter_modules(commands.__path__)):
        command = importlib.import_module(f"{commands.__name__}.{name}")
        text = command.__doc__ or ""
        subparser = subparsers.add_parser(name, help=text.partition("\n")[0], description=text)
        command.add_arguments(subparser)
        subparser.set_defaults(run=command.run)
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2
