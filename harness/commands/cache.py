"""Replies of chat models that were kept: list them, drop some, or write a recording of an experiment to a file."""

from __future__ import annotations

import argparse

from harness.schema import CacheConfig


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(metavar="ACTION", dest="action", required=True)
    listing = actions.add_parser("list", help="what the cache holds of each model")
    pruning = actions.add_parser("prune", help="drop replies, so that they are asked for again")
    pruning.add_argument("--model", help="of this model, as `list` names it")
    pruning.add_argument("--days", type=float, help="that are older than this")
    pruning.add_argument("--all", action="store_true", help="all of them")
    for one in (listing, pruning):
        one.add_argument("--path", default=CacheConfig().path, help="the cache's file (default: %(default)s)")
    exporting = actions.add_parser(
        "export", help="write the calls of an experiment to one small file, for llm=replay llm.from=FILE"
    )
    exporting.add_argument(
        "--from", dest="sources", nargs="+", required=True, metavar="FOLDER",
        help="experiments or single cells, as outputs/mine or outputs/mine/CELL",
    )  # fmt: skip
    exporting.add_argument("--out", required=True, metavar="FILE", help="for example mine.jsonl.gz")


def run(options: argparse.Namespace) -> int:
    import sqlite3

    from harness.failures import UsageError

    actions = {"list": _list, "prune": _prune, "export": _export}
    try:
        return actions[options.action](options)
    except sqlite3.Error as error:
        raise UsageError(f"{options.path}: {error}") from error


def _list(options: argparse.Namespace) -> int:
    from contextlib import closing
    from datetime import datetime

    from rich.console import Console
    from rich.table import Table

    from harness.chat.cache import opened

    with closing(opened(options.path)) as cache:
        holdings = cache.holdings()
    table = Table("model", box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("replies", "tokens", "worth", "kB", "oldest", "newest"):
        table.add_column(heading, justify="right")
    for held in holdings:
        days = [datetime.fromtimestamp(moment).strftime("%Y-%m-%d") for moment in (held.oldest, held.newest)]
        worth = "unknown" if held.cost_usd is None else f"${held.cost_usd:.2f}"
        table.add_row(
            *(held.model, str(held.replies), str(held.tokens), worth, f"{held.characters / 1000:.0f}", *days)
        )
    Console(highlight=False, markup=False).print(table if holdings else f"{options.path} is empty.")
    return 0


def _prune(options: argparse.Namespace) -> int:
    import time
    from contextlib import closing

    from harness.chat.cache import opened
    from harness.failures import UsageError

    if options.all == (options.model is not None or options.days is not None):
        raise UsageError("Say which replies: --model NAME, --days N, both, or --all.")
    if options.days is not None and not 0 <= options.days < float("inf"):
        raise UsageError(f"--days {options.days:g}: a number of days from 0 on.")
    before = None if options.days is None else time.time() - 86400 * options.days
    with closing(opened(options.path)) as cache:
        dropped = cache.prune(options.model, before)
        left = sum(held.replies for held in cache.holdings())
    print(f"{dropped} replies dropped, {left} left in {options.path}.")
    return 0


def _export(options: argparse.Namespace) -> int:
    import sys
    from pathlib import Path

    from harness.chat.recorded import export
    from harness.failures import UsageError

    target = Path(options.out)
    try:
        episodes, calls, left_out = export([Path(source) for source in options.sources], target)
    except OSError as error:
        raise UsageError(f"{target} was not written: {error.filename}: {error.strerror}.") from error
    for line in left_out:
        print(f"left out: {line}", file=sys.stderr)
    size = target.stat().st_size / 1000
    print(
        f"{target}: {episodes} episodes, {calls} calls, {size:.0f} kB. Replay it: llm=replay llm.from={target}"
    )
    return 0
