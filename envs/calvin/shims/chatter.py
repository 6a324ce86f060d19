"""Keeps what the simulator's native code prints off our output.

pybullet writes to the process's stdout and stderr when it is imported, connected and when it loads a model, past
`sys.stdout`; calvin_env and gym print on import and when they are closed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def silenced() -> Iterator[None]:
    """Sends the process's stdout and stderr nowhere while it lasts. Exceptions pass through."""
    sys.stdout.flush()
    sys.stderr.flush()
    saved = [(descriptor, os.dup(descriptor)) for descriptor in (1, 2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        for descriptor, _ in saved:
            os.dup2(nowhere, descriptor)
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for descriptor, kept in saved:
            os.dup2(kept, descriptor)
            os.close(kept)
        os.close(nowhere)
