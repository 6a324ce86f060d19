"""The person at the terminal: lays out scenes, allows motions and judges. Asked at `TERMINAL`, which worker processes do
not have: it works with run.workers=0 only."""

from __future__ import annotations

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
            self._keyboard = open(TERMINAL, encoding="utf-8", errors="replace")  # noqa: SIM115
            self._screen = open(TERMINAL, "w", encoding="utf-8", errors="replace")  # noqa: SIM115
        except OSError as error:
            reason = f"the operator is asked at {TERMINAL}, which this process cannot open ({error.strerror})"
            raise SimulatorError(f"{reason}. {_FIX}") from None

    def allows(self, what: str) -> bool:
        """Whether something may be done now. Enter or y is yes."""
        return self._answer(f"{what}\nEnter: go on; n: do not. ", {"": True, "y": True, "n": False})

    def judges(self, instruction: str) -> bool:
        """Whether the goal is reached. There is no default."""
        return self._answer(f"Is it done: {instruction}? y or n: ", {"y": True, "n": False})

    def close(self) -> None:
        with suppress(OSError):
            self._keyboard.close()
            self._screen.close()

    def _answer(self, question: str, known: dict[str, bool]) -> bool:
        while True:
            print(f"\n{question}", end="", file=self._screen, flush=True)
            line = self._keyboard.readline()
            if not line:
                raise SimulatorError(
                    f"the terminal was closed while the operator was asked: {question.strip()}"
                )
            if line.strip().lower() in known:
                return known[line.strip().lower()]
