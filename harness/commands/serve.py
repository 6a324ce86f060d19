"""Serve a method's decisions over HTTP, for a robot that asks instead of being run: serve method=hime llm=openai

What is typed first are overrides, as for `run.py` and of the same configs; the options come before or behind all of
them. docs/server.md says what a client asks."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="for example method=hime llm=rules")
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen at (default: this machine only)"
    )
    parser.add_argument("--port", type=int, default=8000, help="0: any that is free (default: %(default)s)")
    parser.add_argument(
        "--state",
        type=Path,
        default=Path("outputs/serve"),
        metavar="FOLDER",
        help="where tasks are kept, so that a later start goes on with them (default: %(default)s)",
    )


def run(options: argparse.Namespace) -> int:
    import sys
    from contextlib import closing

    from harness.chat.models import OpenModels
    from harness.protocols import Sampling
    from harness.serving import Service, composed, method_of, open_models

    cell = composed(options.overrides)
    method = method_of(cell)
    with closing(OpenModels()) as opened:
        service = Service(
            method=cell.method,
            llm=cell.choices["llm"],
            models=open_models(cell, method.roles, opened),
            sampling=Sampling(**cell.config["sampling"]),
            seed=cell.seed,
            folder=options.state,
            host=options.host,
            port=options.port,
        )
        try:
            method.serve(service)
        except KeyboardInterrupt:
            print("Stopped. The same command goes on with its tasks.", file=sys.stderr)
    return 0
