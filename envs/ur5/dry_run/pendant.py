"""What hands do at a real robot, in a dry run: `python -m envs.ur5.dry_run.pendant WORD` in another terminal."""

from __future__ import annotations

import argparse
import socket
from collections.abc import Sequence
from pathlib import Path

from envs.robots import stop

WORDS = {
    "press": ("pendant press", "press the emergency stop"),
    "release": ("pendant release", "release the emergency stop"),
    "collide": ("pendant collide", "have the robot stop itself, as when it runs into something"),
    "unlock": ("unlock protective stop", "let it move again after that"),
    "unplug": ("pendant unplug", "cut RTDE's connections"),
    "silence": ("pendant silence", "send nothing any more, as when the network's cable is pulled"),
}
_PATIENCE = 5.0


def do(word: str, address: str, port: int) -> str:
    """Have a dry run do it; returns its answer. Raises `OSError` where there is none."""
    with socket.create_connection((address, port), timeout=_PATIENCE) as connection:
        told = connection.makefile("r")
        told.readline()  # it greets
        connection.sendall(f"{WORDS[word][0]}\n".encode())
        return told.readline().strip()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m envs.ur5.dry_run.pendant", description="Hands at the robot of a dry run."
    )
    meanings = "; ".join(f"{word}: {meaning}" for word, (_, meaning) in WORDS.items())
    parser.add_argument("word", choices=WORDS, help=meanings)
    parser.add_argument("--folder", type=Path, default=stop.FOLDER, help="env.stop_folder, if that was set")
    options = parser.parse_args(arguments)
    found = [(host, port) for host, port in stop.robots(options.folder) if host.startswith("127.")]
    for host, port in found:
        print(f"{host}: {do(options.word, host, port)}")
    if not found:
        print("No dry run goes on here.")
    return 0 if found else 1


if __name__ == "__main__":
    raise SystemExit(main())
