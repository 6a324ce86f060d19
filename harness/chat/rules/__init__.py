"""`llm=rules`: an in-process program in the place of a language model, so that everything runs anywhere. It sees
only the messages and knows no environment, task or object; `model` says how it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from harness.protocols import ChatModel, Problem


@dataclass(frozen=True)
class Rules:
    """The config of the model; it has nothing to choose."""

    cached: ClassVar[bool] = False  # it answers faster than a file

    def problems(self) -> list[Problem]:
        return []

    def open(self) -> ChatModel:
        from harness.chat.rules.model import RulesModel

        return RulesModel()
