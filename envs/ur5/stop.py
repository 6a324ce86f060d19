"""The stop from another terminal: `python -m envs.ur5.stop` halts the robot, and keeps it from moving until
`python -m envs.ur5.stop --clear`.

It leaves a word that the control loop reads at every step, and tells the robot itself to end its program, which works
also when the process that drives it hangs. It is no safety function: the emergency stop on the pendant has to be within
reach of whoever watches the robot."""

from __future__ import annotations

import argparse
import socket
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

FOLDER = Path.home() / ".engram" / "ur5"
"""The usual place of the word, and of the robots that are driven."""
_WORD = "stop"
_ROBOTS = "robots"
_PATIENCE = 2.0


def stopped(folder: Path) -> bool:
    """Whether the stop holds."""
    return (folder / _WORD).exists()


def register(folder: Path, host: str, port: int) -> None:
    """Note a robot's dashboard server, so that the stop reaches it."""
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
            end_program(host, port)
        except OSError as error:
            failed.append(f"{host}:{port} did not take the stop: {error}")
    return failed


def clear(folder: Path) -> None:
    """Let the robot move again."""
    (folder / _WORD).unlink(missing_ok=True)


def end_program(host: str, port: int) -> None:
    """Have a robot's dashboard server end its program, which brings the arm to a halt. Raises `OSError`."""
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
    """Those that are driven: address and port of the dashboard server."""
    with suppress(FileNotFoundError):
        lines = (folder / _ROBOTS).read_text(encoding="utf-8").splitlines()
        return [(host, int(port)) for host, port in map(str.split, lines)]
    return []


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m envs.ur5.stop", description="Halts the UR5.")
    parser.add_argument("--clear", action="store_true", help="let it move again")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="env.stop_folder, if that was set")
    options = parser.parse_args(arguments)
    if options.clear:
        clear(options.folder)
        print("The robot may move again.")
        return 0
    failed = stop(options.folder)
    print("Stopped. It does not move until: python -m envs.ur5.stop --clear")
    for line in failed:
        print(f"{line}. The run halts it at its next step.")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
