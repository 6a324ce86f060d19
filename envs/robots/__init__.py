"""What environments with a real robot share: the operator at the terminal, the stop from another one, cameras.

None of it is a safety function."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any


def maker(path: str) -> Callable[[], Any]:
    """What makes the part that a config names by a Python path, `some.module.Class` or `some.module.Class:ARGUMENT`: the
    class is called without arguments, or with that string. Raises `ImportError`."""
    name, _, argument = path.partition(":")
    module, _, name = name.rpartition(".")
    try:
        kind = getattr(importlib.import_module(module), name)
    except (AttributeError, ValueError) as error:
        raise ImportError(str(error)) from error
    made: Callable[[], Any] = partial(kind, argument) if argument else kind
    return made
