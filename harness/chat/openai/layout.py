"""The two forms in which a conversation is sent: as messages, or as one text that the model continues.

As one text, a request for a language model program (`docs/contracts.md`) is the code that a base model of code would
find in a file: blocks of code stand as they are, what is said around them and the rules are comments, the chat's
acknowledgement is left out, and the text ends with the query line. Any other conversation is a transcript with the
roles as headings. Both bring stop strings, so that the model does not go on with the next query or turn.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from typing import Any

from harness.failures import ProviderError
from harness.protocols import Message

_PROGRAM = re.compile(r"You complete the program `\w+`")
_FENCE = re.compile(r"^```[ \t]*\w*[ \t]*\n(.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE)
_PROGRAM_STOPS = ("\n# Query:", "\nobjects =")
_TURN = "\n### "


def as_messages(messages: Sequence[Message], detail: str) -> list[dict[str, Any]]:
    """The chat format; pictures are data URLs behind the text."""
    return [{"role": message.role, "content": _content(message, detail)} for message in messages]


def as_text(messages: Sequence[Message]) -> tuple[str, tuple[str, ...]]:
    """The text to continue, and where to stop. Raises `ProviderError` for pictures, which a text cannot hold."""
    if pictures := sum(len(message.images) for message in messages):
        raise ProviderError(
            f"llm.layout=completion sends text only, and this request has {pictures} pictures; use llm.layout=chat"
        )
    if any(message.role == "system" and _PROGRAM.match(message.text) for message in messages):
        parts = [_as_code(message.text) for message in messages if message.role != "assistant"]
        return "\n\n".join(parts) + "\n", _PROGRAM_STOPS
    turns = [f"### {message.role}\n{message.text.strip()}\n" for message in messages]
    return "\n".join([*turns, "### assistant\n"]), (_TURN,)


def _content(message: Message, detail: str) -> str | list[dict[str, Any]]:
    if not message.images:
        return message.text
    parts: list[dict[str, Any]] = [{"type": "text", "text": message.text}] if message.text else []
    for image in message.images:
        url = "data:image/png;base64," + base64.b64encode(image).decode()
        parts.append({"type": "image_url", "image_url": {"url": url, "detail": detail}})
    return parts


def _as_code(text: str) -> str:
    parts, end = [], 0
    for fence in _FENCE.finditer(text):
        parts += [_as_comment(text[end : fence.start()]), fence[1].strip("\n")]
        end = fence.end()
    parts.append(_as_comment(text[end:]))
    return "\n\n".join(part for part in parts if part)


def _as_comment(text: str) -> str:
    return "\n".join(f"# {line}".rstrip() for line in text.strip().splitlines())
