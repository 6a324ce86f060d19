"""What processes of our own need to find the project's modules, wherever they are started. It starts none."""

from __future__ import annotations

import os
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent


def import_path() -> str:
    """For their PYTHONPATH. The project comes first: `envs` is also the name of a package on the public index."""
    return os.pathsep.join([str(PROJECT), *filter(None, [os.environ.get("PYTHONPATH")])])
