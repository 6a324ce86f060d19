"""Runs the checkout's own code for the official evaluation sequences without what else its package imports.

`calvin_agent.evaluation.utils` imports torch 1.13, a language model and pyhash for functions that have nothing to do
with it. The module that draws the sequences needs one function of it, a seed for a while; the one that turns an
initial condition into a state needs numpy and a hash. Both are read from the user's checkout and run as they are."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import multiprocessing
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache, partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from envs.calvin.shims.hashing import fnv1_32
from harness.failures import UsageError

if TYPE_CHECKING:
    from harness.protocols import Floats

SEQUENCES = Path("calvin_models", "calvin_agent", "evaluation", "multistep_sequences.py")
STATES = Path("calvin_models", "calvin_agent", "evaluation", "utils.py")
_UTILS = "calvin_agent.evaluation.utils"
_STATE_OF = "get_env_state_for_initial_condition"

Condition = Mapping[str, int | str]
"""An initial condition: where blocks, slider and drawer are, and what is lit."""


def draw_sequences(
    checkout: Path, count: int, workers: int | None = None
) -> list[tuple[Condition, tuple[str, ...]]]:
    """The official evaluation's initial conditions and their chains of five tasks, in its order; minutes of CPU."""
    with _stub_of_utils(checkout):
        module = _load(checkout / SEQUENCES)
    # The pool's processes find the module because they are forks of this one.
    module.ProcessPoolExecutor = partial(  # type: ignore[attr-defined]
        ProcessPoolExecutor, mp_context=multiprocessing.get_context("fork")
    )
    try:
        return [(dict(state), tuple(tasks)) for state, tasks in module.get_sequences(count, workers)]
    finally:
        del sys.modules[module.__name__]


def state_of(checkout: Path, condition: Condition) -> tuple[Floats, Floats]:
    """`robot_obs` (15,) and `scene_obs` (24,) of an initial condition, as the official evaluation starts from it."""
    robot, scene = _functions(checkout)[_STATE_OF](dict(condition))
    return robot, scene


@lru_cache(maxsize=4)
def _functions(checkout: Path) -> Mapping[str, Callable[..., Any]]:
    """The two functions of `calvin_agent.evaluation.utils` that need neither torch nor pyhash, by name."""
    import numpy as np

    path = checkout / STATES
    names = {"np": np, "pi": np.pi, "contextlib": contextlib, "hasher": fnv1_32}
    wanted = ("temp_seed", _STATE_OF)
    found: list[ast.stmt] = [
        node
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name in wanted
    ]
    if len(found) != len(wanted):
        raise UsageError(f"{path} does not define {' and '.join(wanted)}; use a checkout of mees/calvin.")
    exec(compile(ast.Module(found, []), str(path), "exec"), names)
    return {name: names[name] for name in wanted}  # type: ignore[misc]


@contextlib.contextmanager
def _stub_of_utils(checkout: Path) -> Iterator[None]:
    """While it lasts, `calvin_agent.evaluation.utils` is a module with `temp_seed` alone."""
    stub = ModuleType(_UTILS)
    stub.temp_seed = _functions(checkout)["temp_seed"]  # type: ignore[attr-defined]
    standing_in = {
        "calvin_agent": ModuleType("calvin_agent"),
        "calvin_agent.evaluation": ModuleType("x"),
        _UTILS: stub,
    }
    before = {name: sys.modules.get(name) for name in standing_in}
    sys.modules.update(standing_in)
    try:
        yield
    finally:
        for name, module in before.items():
            if module is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("engram_calvin_sequences", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
