"""What turns a subtask in plain words into motion: the lowest layer of HiMe (paper, section 3), as the control loop sees
it. Executors are parts that a method names as `${executor}`; the loop that runs them is the method's.

An executor is handed words and what the robot senses now (`methods.executors.senses`), nothing of the oracle and nothing of
the past. It answers with a chunk of actions for `harness.protocols.Actuation.act`, of which the loop takes the first
`executed` before it asks again, or with a `Refusal`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from harness.protocols import Problem

if TYPE_CHECKING:
    from harness.protocols import Floats
    from methods.executors.senses import Senses

Reason = Literal["words", "unseen", "elsewhere", "ambiguous", "hand", "declined"]
"""Why an executor does not act: it does not understand the words; no camera sees what they name; it is seen, but not
where they say; they fit several things; the hand holds something else; the operator declines."""


@dataclass(frozen=True)
class Refusal:
    """The answer of an executor that cannot do what it was told: for the caller to count by `reason` and to show to the
    planner. It ends nothing: the robot stays as it is, and another subtask, or the same one later, may do."""

    reason: Reason
    message: str


class Executor(Protocol):
    """Of one episode. It keeps nothing of what it sensed from call to call, unless it says so."""

    name: str
    """As it stands in `Episode.served`: what moved the robot."""

    def reset(self, subtask: str) -> None:
        """A new subtask begins. To be called for each step of a plan, also for one with the same words as the last."""
        ...

    def act(self, senses: Senses) -> Floats | Refusal:
        """The next actions, (N, 7) float64 as `harness.protocols.Actuation.act` takes them, at least one. Raises
        `MotionFailure` for a policy's answer that is none, and `HarnessError` for what is not its doing."""
        ...

    def close(self) -> None: ...


class ExecutorConfig(Protocol):
    """The dataclass behind `conf/executor/*.yaml`."""

    executed: int
    """Actions of a chunk that are taken open loop before the executor is asked again."""

    def problems(self) -> list[Problem]: ...

    def open(self) -> Executor:
        """Raises `HarnessError` when it cannot be had now."""
        ...


def check_executed(executed: int) -> None:
    """Raises `ValueError` for a number of actions that no chunk can have."""
    if executed < 1:
        raise ValueError(f"executed is {executed}; at least one action is taken of each chunk")
