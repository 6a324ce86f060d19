"""Takes thinking out of a reply: a block at its start, or what stands before a lone closing tag, which some chat
templates leave. What stands further in is part of the reply."""

from __future__ import annotations

import re

_TAGS = "think|thinking|thought|reasoning"
_OPEN = re.compile(rf"<(?:{_TAGS})>", re.IGNORECASE)
_BLOCK = re.compile(rf"\s*<({_TAGS})>(.*?)(?:</\1>|\Z)", re.IGNORECASE | re.DOTALL)
_LONE_CLOSE = re.compile(rf"^[ \t]*</(?:{_TAGS})>|</(?:{_TAGS})>[ \t]*$", re.IGNORECASE | re.MULTILINE)


def without_thinking(text: str) -> tuple[str, str]:
    """The reply and its thinking. Of thinking that never ends nothing is left."""
    thoughts = []
    while block := _BLOCK.match(text):
        thoughts.append(block[2].strip())
        text = text[block.end() :]
    lone = _LONE_CLOSE.search(text)
    if not thoughts and lone and not _OPEN.search(text, 0, lone.start()):
        thoughts.append(text[: lone.start()].strip())
        text = text[lone.end() :]
    return (text.lstrip("\r\n") if thoughts else text), "\n".join(thoughts)
