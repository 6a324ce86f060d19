"""Words a program's end for the trace and the row: the line, what is wrong, and what to do about it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from harness.failures import CodeFailure
from harness.sandbox.arithmetic import TooLarge
from harness.sandbox.attributes import Forbidden
from harness.sandbox.limits import LimitReached, Limits, ProgramExit, ProgramInterrupt


def explain(
    error: BaseException,
    reached: str,
    limits: Limits,
    source: str,
    namespace: Mapping[str, Any],
    api_names: Iterable[str],
) -> CodeFailure:
    """The failure for an exception that a program did not catch. `reached` is the limit that it is over;
    `namespace` tells the program's frames from others."""
    line = _line(error, namespace)
    return CodeFailure(f"line {line}: {_reason(error, reached, limits, api_names)}{_quote(source, line)}")


def _reason(error: BaseException, reached: str, limits: Limits, api_names: Iterable[str]) -> str:
    if isinstance(error, LimitReached):
        return reached
    if isinstance(error, MemoryError):
        return f"needs more than {limits.memory_mb} MB of memory"
    if isinstance(error, RecursionError):
        return "functions call each other too deeply"
    if isinstance(error, ProgramExit):
        return "the program asked to exit; a program ends after its last line"
    if isinstance(error, ProgramInterrupt):
        return "the program raised KeyboardInterrupt"
    if isinstance(error, Forbidden | TooLarge):
        return str(error)
    if isinstance(error, NameError) and error.name:
        near = difflib.get_close_matches(error.name, list(api_names), n=3)
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        return f"the name `{error.name}` is not defined{hint}"
    return f"{type(error).__name__}: {str(error)[:300]}".removesuffix(": ")


def _line(error: BaseException, namespace: Mapping[str, Any]) -> int:
    """The line of the innermost frame of the program. An interrupt that arrives just after an exception of
    the program has none, but the exception before it has."""
    line = 0
    cause: BaseException | None = error
    while cause is not None and not line:
        step = cause.__traceback__
        while step is not None:
            if step.tb_frame.f_globals is namespace:
                line = step.tb_lineno
            step = step.tb_next
        cause = cause.__context__
    return line


def _quote(source: str, line: int) -> str:
    lines = source.splitlines()
    return f" (`{lines[line - 1].strip()[:120]}`)" if 0 < line <= len(lines) else ""
