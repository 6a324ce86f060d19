"""Imports calvin_env from a checkout.

It is on no package index, and its setup ships neither the data nor the configs, so that an installed copy would not
find them: the checkout itself goes on the import path. It imports GitPython, which refuses to be imported where there
is no git program unless it is told to be quiet."""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from pathlib import Path
from types import ModuleType

from envs.calvin.shims.chatter import silenced


def import_from(checkout: Path, name: str) -> ModuleType:
    """A module of the checkout of calvin_env, which stays on the path. Raises `ImportError`."""
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    if str(checkout) not in sys.path:
        sys.path.insert(0, str(checkout))
    # gym and the checkout's own `hydra.main` warn about their age, of which a user can do nothing.
    with warnings.catch_warnings(), silenced():
        warnings.simplefilter("ignore")
        return importlib.import_module(name)
