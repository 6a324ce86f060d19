"""The exceptions that decide what a row says.

`MethodFailure` is the method's own doing: the trial ends, the row can become a `failure` with that
kind. `HarnessError` is anything that is not the method's doing (provider, simulator, a bug of ours):
the row becomes an `error`, is never counted in a rate and runs again at the next start.
`UsageError` is a mistake in a command or a config: one message, before anything is spent.
"""

from __future__ import annotations

from typing import ClassVar, Literal, get_args

FailureKind = Literal["goal", "generation", "code", "perception", "motion", "stalled", "steps", "budget"]
ErrorKind = Literal[
    "provider", "quota", "price", "replay", "simulator", "reset", "timeout", "crash", "policy_server", "bug"
]

FAILURE_KINDS: tuple[str, ...] = get_args(FailureKind)
ERROR_KINDS: tuple[str, ...] = get_args(ErrorKind)


class UsageError(Exception):
    """A command or a config that cannot be run; the message says what is wrong, where, and what to do."""


class MethodFailure(Exception):
    """Ends a trial and counts against the method."""

    kind: ClassVar[FailureKind]


class GenerationFailure(MethodFailure):
    """The model's reply was refused, empty, cut off or not parseable."""

    kind = "generation"


class CodeFailure(MethodFailure):
    """Generated code broke a rule of the sandbox, raised, or ran over a limit."""

    kind = "code"


class PerceptionFailure(MethodFailure):
    """An object was asked for that the scene does not have or no camera sees."""

    kind = "perception"


class MotionFailure(MethodFailure):
    """A motion was refused as malformed, or ended outside what the controller can recover from."""

    kind = "motion"


class StalledFailure(MethodFailure):
    """The method stopped making progress."""

    kind = "stalled"


class StepLimit(MethodFailure):
    """The task's limit of control steps is spent."""

    kind = "steps"


class BudgetExceeded(MethodFailure):
    """The episode's budget of calls, tokens or money is spent."""

    kind = "budget"


class HarnessError(Exception):
    """Not the method's doing: an `error` row."""

    kind: ClassVar[ErrorKind] = "bug"


class ProviderError(HarnessError):
    """A chat or embedding provider could not answer."""

    kind: ClassVar[ErrorKind] = "provider"


class QuotaError(ProviderError):
    """The provider's quota is spent; retrying does not help."""

    kind = "quota"


class PriceUnknown(HarnessError):
    """A budget counts money, and a reply came from a model without a known price."""

    kind = "price"


class NotRecorded(HarnessError):
    """A replay was asked for a call that its recording does not have."""

    kind = "replay"


class PolicyServerError(ProviderError):
    """A policy server could not be reached, or could not answer."""

    kind = "policy_server"


class SimulatorError(HarnessError):
    """The simulator broke (crash, non-finite state, lost connection)."""

    kind = "simulator"


class ResetError(HarnessError):
    """The scene could not be set up."""

    kind = "reset"
