"""Asks a model, and once more when its answer cannot be used. The second answer is the last: if it cannot be
used either, the failure goes through, and the trial ends with the kind `generation`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from harness.failures import GenerationFailure
from harness.protocols import Message, Reply
from methods.lmp.writer import refuse_incomplete

_Read = TypeVar("_Read")


@dataclass(frozen=True)
class Answer(Generic[_Read]):
    found: _Read
    text: str
    """The reply that was used, for the conversation to go on with."""
    requests: int
    """1, or 2 when it was asked again."""


def answer(
    chat: Callable[[Sequence[Message]], Reply],
    messages: Sequence[Message],
    read: Callable[[str], _Read],
    what: str,
    count: Callable[[str], None],
) -> Answer[_Read]:
    """What `read` makes of the reply. A reply that is empty, cut off or refused, or that `read` raises
    `GenerationFailure` for, is counted and asked for again with the reason. Raises what `chat` raises, and
    `GenerationFailure` naming `what` was asked for."""
    try:
        reply = chat(messages)
        return Answer(_read(reply, read, what), reply.text, 1)
    except GenerationFailure as failure:
        count(f"{what}: asked again")
        again = chat([*messages, *_request_again(reply, failure)])
    try:
        return Answer(_read(again, read, what), again.text, 2)
    except GenerationFailure as failure:
        raise GenerationFailure(f"{failure} (after it was asked again)") from None


def _read(reply: Reply, read: Callable[[str], _Read], what: str) -> _Read:
    refuse_incomplete(reply, what)
    try:
        return read(reply.text)
    except GenerationFailure as failure:
        raise GenerationFailure(f"{what}: {failure}") from None


def _request_again(reply: Reply, failure: GenerationFailure) -> list[Message]:
    said = [Message("assistant", reply.text)] if reply.text.strip() else []  # servers refuse an empty turn
    return [
        *said,
        Message(
            "user",
            f"This answer could not be used: {failure}. Nothing of it was carried out. "
            "Answer again, completely, in the required format and with nothing else.",
        ),
    ]
