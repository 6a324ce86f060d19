"""`python -m methods.code_memory build|show|rebuild`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from harness.failures import UsageError
from methods.code_memory import SHIPPED
from methods.code_memory.build import collect, rebuild
from methods.code_memory.records import Record, load, save


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m methods.code_memory", description="MTP's memory of programs."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    build = commands.add_parser("build", help="take the programs that succeeded out of recorded episodes")
    build.add_argument(
        "--from", dest="source", action="append", required=True, type=Path, metavar="outputs/NAME"
    )
    build.add_argument("--env", help="only of this environment")
    build.add_argument("--out", required=True, type=Path, metavar="FILE")
    show = commands.add_parser("show", help="list a memory")
    show.add_argument("file", type=Path, help="a file, or the name of a memory that ships")
    again = commands.add_parser(
        "rebuild", help="play the sweep behind the memories that ship and write them anew"
    )
    again.add_argument("--out", type=Path, default=SHIPPED, metavar="FOLDER")
    options = parser.parse_args(arguments)
    try:
        if options.command == "build":
            records = collect(options.source, options.env)
            save(records, options.out)
            print(f"{_counted(records)} in {options.out}")
        elif options.command == "rebuild":
            with tempfile.TemporaryDirectory() as folder:
                for name, records in rebuild(Path(folder) / "shipped_memories", options.out).items():
                    print(f"{_counted(records)} in {options.out / name}.jsonl")
        else:
            _show(options.file)
    except UsageError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    return 0


def _show(file: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    shipped = SHIPPED / f"{file}.jsonl"
    path = shipped if shipped.is_file() else file
    if not path.is_file():
        raise UsageError(f"{file} is no file and no memory that ships.")
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("environment", "task", "instruction", "steps", "from"):
        table.add_column(heading, overflow="fold")
    records = load(path)
    for record in records:
        source = record.source
        origin = f"{source.get('experiment', '?')}: {source.get('method', '?')}, {source.get('model', '?')}"
        origin += f", seed {source.get('seed', '?')}, scene {source.get('scene', '?')}"
        steps = str(record.code.count("composer("))
        table.add_row(record.environment, record.task, record.instruction, steps, origin)
    console = Console()
    if not console.is_terminal:
        console.width = 160
    console.print(table)
    console.print(_counted(records), highlight=False)


def _counted(records: Sequence[Record]) -> str:
    return f"{len(records)} records, {sum(bool(record.image) for record in records)} with a picture"


if __name__ == "__main__":
    sys.exit(main())
