"""The stop from another terminal: `python -m envs.robots.stop` halts every robot that is driven from this machine, and
keeps them from moving until `python -m envs.robots.stop --clear`.

It leaves a word that the control loops read at every step, and tells each robot itself, at a port that hears the line
`stop`, which works also when the process that drives it hangs. It is no safety function: a robot's own emergency stop, or
the plug, has to be within reach of whoever watches it."""

from __future__ import annotations

import argparse
import socket
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from harness.failures import SimulatorError

FOLDER = Path.home() / ".engram" / "robots"
"""The usual place of the word, and of the robots that are driven."""
STOPPED = "stopped from another terminal. When it is safe: python -m envs.robots.stop --clear"
_WORD = "stop"
_ROBOTS = "robots"
_PATIENCE = 2.0


class Allows(Protocol):
    """The operator, see `envs.robots.operator`."""

    def allows(self, what: str) -> bool: ...


def place(folder: str | None) -> Path:
    """Of the word: `env.stop_folder`, or the usual one."""
    return FOLDER if folder is None else Path(folder)


def stopped(folder: Path) -> bool:
    """Whether the stop holds."""
    return (folder / _WORD).exists()


def await_clear(folder: Path, operator: Allows) -> None:
    """Ask the operator until the stop has been cleared. Raises `SimulatorError` when he leaves it so."""
    while stopped(folder):
        cleared = "The robot is stopped. When it is safe: python -m envs.robots.stop --clear. And then here"
        if not operator.allows(cleared):
            raise SimulatorError("stopped from another terminal, and the operator left it so")


def register(folder: Path, host: str, port: int) -> None:
    """Note where a robot hears the stop."""
    folder.mkdir(parents=True, exist_ok=True)
    known = robots(folder)
    if (host, port) not in known:
        with (folder / _ROBOTS).open("a", encoding="utf-8") as file:
            file.write(f"{host} {port}\n")


def unregister(folder: Path, host: str, port: int) -> None:
    """Forget a robot that is driven no more."""
    left = [robot for robot in robots(folder) if robot != (host, port)]
    (folder / _ROBOTS).write_text("".join(f"{host} {port}\n" for host, port in left), encoding="utf-8")


def stop(folder: Path) -> list[str]:
    """Halt everything; returns what went wrong, a line for each robot that could not be told."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _WORD).touch()
    failed = []
    for host, port in robots(folder):
        try:
            tell(host, port)
        except OSError as error:
            failed.append(f"{host}:{port} did not take the stop: {error}")
    return failed


def clear(folder: Path) -> None:
    """Let the robots move again."""
    (folder / _WORD).unlink(missing_ok=True)


def tell(host: str, port: int) -> None:
    """Have a robot come to a halt: a UR5's dashboard server, or `envs.widowx.serve`. Raises `OSError`."""
    with (
        socket.create_connection((host, port), timeout=_PATIENCE) as connection,
        connection.makefile("r") as told,
    ):
        told.readline()  # it greets
        connection.sendall(b"stop\n")
        answer = told.readline().strip()
        if not answer.startswith("Stopped"):
            raise OSError(f"it answered {answer!r}")


def robots(folder: Path) -> list[tuple[str, int]]:
    """Those that are driven: address and port of what hears the stop."""
    with suppress(FileNotFoundError):
        lines = (folder / _ROBOTS).read_text(encoding="utf-8").splitlines()
        return [(host, int(port)) for host, port in map(str.split, lines)]
    return []


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m envs.robots.stop", description="Halts the robots driven from here."
    )
    parser.add_argument("--clear", action="store_true", help="let them move again")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="env.stop_folder, if that was set")
    options = parser.parse_args(arguments)
    if options.clear:
        clear(options.folder)
        print("The robots may move again.")
        return 0
    failed = stop(options.folder)
    print("Stopped. Nothing moves until: python -m envs.robots.stop --clear")
    for line in failed:
        print(f"{line}. The run halts it at its next step.")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
