"""The limits on one run of a program, and the exceptions that end it. Keeping time is for
`harness.sandbox.interrupt`, keeping memory for `harness.sandbox.memory`."""

from __future__ import annotations

from dataclasses import dataclass, fields

from harness.failures import HarnessError, MethodFailure, UsageError
from harness.sandbox.arithmetic import TooLarge
from harness.sandbox.attributes import Forbidden

MAX_NESTED = 8
"""Programs that may be running inside one another, through API functions that run programs."""


@dataclass(frozen=True)
class Limits:
    """What one run may use. Time in API functions is not the program's. Memory that they leave behind is, as it
    cannot be told from what the program holds; what they give back is not."""

    seconds: float = 5.0
    """Wall-clock seconds in the program's own code."""
    memory_mb: int = 1024
    """Megabytes by which the process may grow, on Linux."""
    output_chars: int = 10_000
    """Characters printed."""
    api_calls: int = 2_000

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not value > 0:
                raise UsageError(f"sandbox.{field.name}={value} must be greater than 0")


class LimitReached(BaseException):
    """Raised inside a program that is over a limit; no handler of the program catches it."""


class Passing(BaseException):
    """Carries an exception of an API function through a program to its caller, past all handlers."""

    def __init__(self, original: BaseException) -> None:
        super().__init__(original)
        self.original = original


class ProgramExit(BaseException):
    """What `SystemExit` and `exit()` are inside a program."""


class ProgramInterrupt(BaseException):
    """What `KeyboardInterrupt` is inside a program; a real one comes from the user."""


PASSING: tuple[type[BaseException], ...] = (
    LimitReached,
    Passing,
    Forbidden,
    TooLarge,
    MemoryError,
    MethodFailure,
    HarnessError,
    KeyboardInterrupt,
    SystemExit,
)
"""What no handler of a program catches."""
