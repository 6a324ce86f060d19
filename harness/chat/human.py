"""`llm=human`: a person at the terminal answers in the model's place, to try a method or to see what its prompts ask.
It works in the command's own process only (`run.workers=0`): worker processes have no terminal."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

from harness.failures import ProviderError
from harness.protocols import ChatModel, Message, Problem, Reply, Sampling

TERMINAL = "/dev/tty"
_END = "."
_HINT = f"Your reply; a line with only `{_END}`, or Ctrl-D, ends it:"


@dataclass(frozen=True)
class Human:
    """The config behind `conf/llm/human.yaml`; it has nothing to choose."""

    cached: ClassVar[bool] = False  # who asks a person wants to be asked

    def problems(self) -> list[Problem]:
        try:
            self.open().close()
        except ProviderError as error:
            return [Problem(str(error), "Start the command from a terminal, with run.workers=0")]
        return []

    def open(self) -> ChatModel:
        """Raises `ProviderError` in a process without a terminal."""
        return HumanModel()


class HumanModel:
    """Shows the whole conversation, with pictures as files to look at. A reply ends with `stop`, whatever the
    sampling; its tokens are not counted and it costs nothing."""

    name = "human"

    def __init__(self) -> None:
        try:
            self._keyboard = open(TERMINAL, encoding="utf-8", errors="replace")  # noqa: SIM115
            self._screen = open(TERMINAL, "w", encoding="utf-8", errors="replace")  # noqa: SIM115
        except OSError as error:
            raise ProviderError(
                f"llm=human asks at {TERMINAL}, which this process cannot open ({error.strerror})"
            ) from None

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        for message in messages:
            self._show(f"\n--- {message.role}\n{message.text}")
            for image in message.images:
                self._show(f"[picture: {_saved(image)}]")
        self._show(f"\n--- {_HINT}")
        lines = []
        for line in self._keyboard:
            if line.strip() == _END:
                break
            lines.append(line)
        return Reply("".join(lines).rstrip("\n"), model=self.name, cost_usd=0.0)

    def close(self) -> None:
        with suppress(OSError):  # the terminal has gone
            self._keyboard.close()
            self._screen.close()

    def _show(self, text: str) -> None:
        print(text, file=self._screen, flush=True)


def _saved(image: bytes) -> str:
    with tempfile.NamedTemporaryFile(prefix="engram-", suffix=".png", delete=False) as file:
        file.write(image)
    return file.name
