"""The person at the terminal: lays out scenes, allows motions, judges and speaks. Asked at `TERMINAL`, which worker processes do
not have: it works with run.workers=0 only."""

from __future__ import annotations

import os
import select
from contextlib import suppress

from harness.failures import SimulatorError
from harness.protocols import Problem

TERMINAL = "/dev/tty"
_FIX = "Start the command from a terminal, with run.workers=0"


def terminal_problems() -> list[Problem]:
    try:
        Operator().close()
    except SimulatorError as error:
        return [Problem(str(error).removesuffix(f". {_FIX}"), _FIX)]
    return []


class Operator:
    """Raises `SimulatorError` where there is no terminal, here and when it has gone."""

    def __init__(self) -> None:
        try:
            self._keyboard = os.open(TERMINAL, os.O_RDONLY | os.O_NOCTTY)
            self._screen = open(TERMINAL, "w", encoding="utf-8", errors="replace")  # noqa: SIM115
        except OSError as error:
            reason = f"the operator is asked at {TERMINAL}, which this process cannot open ({error.strerror})"
            raise SimulatorError(f"{reason}. {_FIX}") from None
        self._read = b""

    def allows(self, what: str) -> bool:
        """Whether something may be done now. Enter or y is yes."""
        return self._answer(f"{what}\nEnter: go on; n: do not. ", {"": True, "y": True, "n": False})

    def judges(self, instruction: str) -> bool:
        """Whether the goal is reached. There is no default."""
        return self._answer(f"Is it done: {instruction}? y or n: ", {"y": True, "n": False})

    def asks(self, question: str) -> str:
        """A line in answer."""
        print(f"\n{question}", end="", file=self._screen, flush=True)
        line = self._line()
        if line is None:
            raise SimulatorError(f"the terminal was closed while the operator was asked: {question.strip()}")
        return line

    def tells(self, text: str) -> None:
        """Show something that needs no answer."""
        print(f"\n{text}", file=self._screen, flush=True)

    def typed(self) -> list[str]:
        """The lines that were typed without being asked for, since the last time; waits for nothing."""
        while select.select([self._keyboard], [], [], 0)[0]:
            if not self._more():
                raise SimulatorError("the operator's terminal was closed")
        *lines, self._read = self._read.split(b"\n")
        return [line.decode(errors="replace") for line in lines]

    def close(self) -> None:
        with suppress(OSError):
            os.close(self._keyboard)
            self._screen.close()

    def _answer(self, question: str, known: dict[str, bool]) -> bool:
        while True:
            answer = self.asks(question).strip().lower()
            if answer in known:
                return known[answer]

    def _line(self) -> str | None:
        """The next one; None when the terminal has gone."""
        while b"\n" not in self._read:
            if not self._more():
                return None
        line, _, self._read = self._read.partition(b"\n")
        return line.decode(errors="replace")

    def _more(self) -> bool:
        """Read on; whether there was anything."""
        try:
            piece = os.read(self._keyboard, 4096)
        except OSError:
            piece = b""
        self._read += piece
        return bool(piece)
