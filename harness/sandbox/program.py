"""`Sandbox` compiles programs that a model wrote, `Program` runs them. What is a security boundary here and
what is not is written down in `docs/sandbox.md`."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from harness.failures import CodeFailure
from harness.sandbox.hang import GRACE, LastResort, last_resort
from harness.sandbox.interrupt import Ticker, ticking
from harness.sandbox.limits import MAX_NESTED, Limits
from harness.sandbox.policy import Compiled, compile_program
from harness.sandbox.running import Run


class Sandbox:
    """Runs programs in this process, under limits.

    A native call that never returns cannot be interrupted from inside. With `hang_file`, such a program ends
    the process with SIGPROF `grace` CPU seconds after its limit and leaves in the file where it hung;
    without, it is not ended."""

    def __init__(
        self, limits: Limits | None = None, hang_file: Path | None = None, grace: float = GRACE
    ) -> None:
        self.limits = limits or Limits()
        self._hang_file = hang_file
        self._grace = grace

    def compile(self, code: str, api: Mapping[str, object]) -> Program:
        """Check a program against the policy. `api` is what it may use besides np, math and builtins:
        functions, and values that are handed over as they are.

        Raises `CodeFailure` with the line for what is not allowed, `GenerationFailure` for what is not
        Python. An API function says that its arguments are wrong by raising a `MethodFailure`; any other
        exception of it counts as a bug of the harness."""
        own = {name: value for name, value in api.items() if name != "np"}
        for name, value in own.items():
            if isinstance(value, ModuleType):
                raise TypeError(f"api[{name!r}] is a module; hand over the functions that programs need")
        return Program(self, code, compile_program(code, frozenset(api)), own)

    def last_resort(self) -> LastResort | None:
        return None if self._hang_file is None else last_resort(self._hang_file, self._grace)


class Program:
    """A checked program. `notes` says what was dropped from it, `output` what its last run printed."""

    def __init__(self, sandbox: Sandbox, source: str, compiled: Compiled, api: Mapping[str, Any]) -> None:
        self.source = source
        self.notes = compiled.notes
        self.output = ""
        self._sandbox = sandbox
        self._code = compiled.code
        self._api = api

    def run(self) -> dict[str, object]:
        """Run from the start in a fresh namespace. Returns the names that the program set, `ret_val` among
        them; functions and generators are left out, they end with the run.

        Raises `CodeFailure` with line and reason when the program breaks a rule, raises, or is over a
        limit. Exceptions of API functions come out unchanged, whatever the program does."""
        with _entered(self._sandbox.limits.seconds) as (stack, ticker):
            run = Run(self.source, self._api, self._sandbox.limits, ticker, self._sandbox.last_resort())
            stack.append(run)
            try:
                return run.execute(self._code)
            finally:
                stack.pop()
                self.output = "".join(run.output)


_local = threading.local()


@contextmanager
def _entered(seconds: float) -> Iterator[tuple[list[Run], Ticker]]:
    """The runs that are under way on this thread, outermost first, and what interrupts the innermost."""
    stack: list[Run] | None = getattr(_local, "stack", None)
    if stack:
        if len(stack) >= MAX_NESTED:
            raise CodeFailure(f"programs run programs more than {MAX_NESTED} deep")
        yield stack, _local.ticker
        return
    runs: list[Run] = []
    _local.stack = runs
    with ticking(lambda: bool(runs) and runs[-1].overdue(), seconds) as ticker:
        _local.ticker = ticker
        yield runs, ticker
