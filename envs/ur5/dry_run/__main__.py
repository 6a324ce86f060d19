"""The process of a dry run: `python -m envs.ur5.dry_run FD PACE`, started by `envs.ur5.dry_run.client`, with which
it speaks pickled tuples over the inherited socket. It ends with whoever started it."""

from __future__ import annotations

import logging
import signal
import sys
import threading
from contextlib import suppress
from multiprocessing.connection import Connection

from envs.ur5.dry_run.server import Server
from harness.failures import HarnessError


def main() -> None:
    descriptor, pace = int(sys.argv[1]), float(sys.argv[2])
    # Ctrl-C at the terminal is for the run, which stops the robot; the robot stays until the run has gone.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.basicConfig(level=logging.INFO, format="dry run: %(message)s")
    parent = Connection(descriptor)
    try:
        server = Server(pace)
    except OSError as error:
        parent.send(("failed", str(error)))
        return
    parent.send(("done", server.address))
    ended = threading.Event()
    threading.Thread(target=_answer, args=(parent, server, ended), daemon=True).start()
    try:
        server.run(ended)
    finally:
        server.close()


def _answer(parent: Connection, server: Server, ended: threading.Event) -> None:
    with suppress(EOFError, OSError):
        while True:
            what, *arguments = parent.recv()
            try:
                if what == "lay_out":
                    parent.send(("done", server.controller.lay_out(*arguments)))
                elif what == "verdict":
                    parent.send(("done", server.twin.verdict()))
                else:
                    parent.send(("done", server.twin.shoot()))
            except HarnessError as error:
                parent.send(("failed", str(error)))
    ended.set()


if __name__ == "__main__":
    main()
