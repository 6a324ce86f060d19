"""The process of a dry run: `python -m envs.widowx.dry_run FD`, started by `envs.widowx.dry_run.client`, with which it speaks
pickled tuples over the inherited socket. It ends with whoever started it."""

from __future__ import annotations

import logging
import signal
import sys
from contextlib import suppress
from multiprocessing.connection import Connection

from envs.widowx.dry_run import WidowXDryRun
from envs.widowx.dry_run.twin import Twin, TwinArm
from envs.widowx.guard import LIMITS
from envs.widowx.serve import Server
from harness.failures import HarnessError, MethodFailure

ASKED = (
    *("reset", "verdict", "utterances", "subtasks", "current_subtask"),
    *("view", "render", "objects", "cloud", "change", "seen"),
)
"""What the run may have the twin do."""


def main() -> None:
    # Ctrl-C at the terminal is for the run; the arm stands when it has gone.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.basicConfig(level=logging.INFO, format="dry run: %(message)s")
    parent = Connection(int(sys.argv[1]))
    config: WidowXDryRun = parent.recv()
    household = config.household()
    household.noise, household.renderer = config.noise, "rays"
    twin = Twin(household, judged=config.oracle == "simulated")
    server = Server(TwinArm(twin, config.pace), LIMITS, port=0)
    parent.send(("done", server.address))
    with suppress(EOFError, OSError):
        while True:
            what, *arguments = parent.recv()
            assert what in ASKED
            try:
                parent.send(("done", getattr(twin, what)(*arguments)))
            except (HarnessError, MethodFailure) as error:
                parent.send(("failed", error))
    server.close()


if __name__ == "__main__":
    main()
