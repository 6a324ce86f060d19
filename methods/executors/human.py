"""`executor=human`: a person at the terminal moves the arm, key by key, or lets a chunk of time pass while the subtask is
done by other means.

It works in the command's own process only (`run.workers=0`): worker processes have no terminal."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.failures import HarnessError
from harness.protocols import Problem
from methods.executors import Refusal, check_executed

if TYPE_CHECKING:
    from harness.protocols import Floats
    from methods.executors.senses import Senses

TERMINAL = "/dev/tty"
_KEYS = {"w": (0, 1), "s": (0, -1), "a": (1, -1), "d": (1, 1), "r": (2, 1), "f": (2, -1)}
"""Axis and sign: away from the arm and back, left and right of the third-person picture, up and down."""
_TURNS = {"q": 1, "e": -1}
_HELP = (
    "w s: forth, back; a d: left, right; r f: up, down; q e: turn; o c: open, close; each key is one action, "
    "an empty line waits for one chunk; `? REASON` refuses"
)


@dataclass(frozen=True)
class Human:
    """The config behind `conf/executor/human.yaml`."""

    executed: int = 10
    """Actions of a typed line that are taken before the next one is asked for."""

    def __post_init__(self) -> None:
        check_executed(self.executed)

    def problems(self) -> list[Problem]:
        try:
            self.open().close()
        except HarnessError as error:
            return [Problem(str(error), "Start the command from a terminal, with run.workers=0")]
        return []

    def open(self) -> HumanExecutor:
        """Raises `HarnessError` in a process without a terminal."""
        return HumanExecutor(self.executed)


class HumanExecutor:
    """See `methods.executors.Executor`. It keeps whether the fingers were last told to close."""

    name = "human"

    def __init__(self, executed: int) -> None:
        self._executed = executed
        self._fingers = 1.0
        try:
            self._keyboard = open(TERMINAL, encoding="utf-8", errors="replace")  # noqa: SIM115
            self._screen = open(TERMINAL, "w", encoding="utf-8", errors="replace")  # noqa: SIM115
        except OSError as error:
            raise HarnessError(
                f"executor=human asks at {TERMINAL}, which this process cannot open ({error.strerror})"
            ) from None

    def reset(self, subtask: str) -> None:
        self._show(f"\n--- subtask: {subtask}\n{_HELP}")

    def act(self, senses: Senses) -> Floats | Refusal:
        """Raises `HarnessError` when the terminal has ended."""
        x, y, z = senses.observation()["tool"][:3]
        self._show(f"tool at {x:.3f} {y:.3f} {z:.3f} m; they see {', '.join(senses.names())}")
        while True:
            line = self._keyboard.readline()
            if not line:
                raise HarnessError("executor=human: the terminal has ended")
            line = line.strip()
            if line.startswith("?"):
                return Refusal("declined", line[1:].strip() or "the operator declines")
            unknown = sorted(set(line) - {*_KEYS, *_TURNS, "o", "c"})
            if not unknown:
                return self._typed(line, senses.action_limits)
            self._show(f"no such keys: {' '.join(unknown)}. {_HELP}")

    def close(self) -> None:
        with suppress(OSError):  # the terminal has gone
            self._keyboard.close()
            self._screen.close()

    def _typed(self, line: str, limits: tuple[float, float]) -> Floats:
        import numpy as np

        actions = np.zeros((len(line) or self._executed, 7))
        for action, key in zip(actions, line, strict=False):
            if key in _KEYS:
                axis, sign = _KEYS[key]
                action[axis] = sign * limits[0]
            elif key in _TURNS:
                action[5] = _TURNS[key] * limits[1]
            else:
                self._fingers = 1.0 if key == "o" else -1.0
            action[6] = self._fingers
        actions[len(line) :, 6] = self._fingers
        return actions

    def _show(self, text: str) -> None:
        print(text, file=self._screen, flush=True)
