"""Reads the tags that an answer is to have out of whatever text a model wrote. Only the tags that are asked
for are markup; `<` and `&` elsewhere are text. It never raises, and notes all that it had to put right: notes
are few and fixed, so that they can be counted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

THINKING = "thinking was taken out"
FENCE = "a code fence was taken out"
CONTROL = "control characters were taken out"
UNCLOSED = "a closing tag is missing"
UNESCAPED = "an unescaped & or <"
FORMATTING = "formatting tags were taken out"

_THOUGHT = "think|thinking|thought|reasoning"
_THINKING = re.compile(rf"<({_THOUGHT})>.*?(?:</\1>|\Z)", re.IGNORECASE | re.DOTALL)
_THINKING_END = re.compile(rf"\A.*</(?:{_THOUGHT})>", re.IGNORECASE | re.DOTALL)
_FENCE = re.compile(r"^[ \t]*```[ \t]*\w*[ \t]*$", re.MULTILINE)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_FORMATTING = re.compile(
    r"</?(?:b|i|em|strong|u|code|span|p|br|ul|ol|li|item|step|subtask)\s*/?>", re.IGNORECASE
)
_ENTITY = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6}));")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


@dataclass(frozen=True)
class Block:
    """What stands between an opening tag and its end."""

    content: str
    closed: bool
    start: int
    """Index of its opening tag in the text."""
    end: int
    """Index behind it."""


def cleaned(text: str) -> tuple[str, tuple[str, ...]]:
    """The text without what is not part of an answer (thinking, which may also lack its opening tag or never
    end; fences; control characters), and notes. Comments stay."""
    notes = []
    for pattern, note in (
        (_THINKING, THINKING),
        (_THINKING_END, THINKING),
        (_FENCE, FENCE),
        (_CONTROL, CONTROL),
    ):
        text, count = pattern.subn("", text)
        if count and note not in notes:
            notes.append(note)
    return text, tuple(notes)


def without_comments(text: str) -> str:
    """A template's comments are often left standing; one may hold any text."""
    return _COMMENT.sub("", _CDATA.sub(lambda found: _escaped(found[1]), text))


def blocks(text: str, name: str, others: Sequence[str] = ()) -> list[Block]:
    """All elements of that name, in any letter case and with any attributes. One without a closing tag ends
    at the next tag of `name` or of `others`, or with the text."""
    tags = list(_tags((name, *others)).finditer(text))
    found = []
    for index, tag in enumerate(tags):
        if tag["name"].lower() != name or tag["close"]:
            continue
        if tag["empty"]:
            found.append(Block("", True, tag.start(), tag.end()))
            continue
        end = tags[index + 1] if index + 1 < len(tags) else None
        closed = end is not None and bool(end["close"]) and end["name"].lower() == name
        stop = end.start() if end else len(text)
        after = end.end() if end and closed else stop
        found.append(Block(text[tag.end() : stop], closed, tag.start(), after))
    return found


def mentions(text: str, names: Sequence[str]) -> bool:
    """Whether any of these tags stands in the text."""
    return _tags(tuple(names)).search(text) is not None


def last(found: Sequence[Block]) -> Block | None:
    """The one that is meant when an element was written several times: the last that holds something, a
    closed one before an unclosed one; tags that are only talked about rarely are closed."""
    order = sorted(found, key=lambda block: (bool(block.content.strip()), block.closed, block.start))
    return order[-1] if order else None


def plain(content: str) -> tuple[str, tuple[str, ...]]:
    """A text as it was meant: without formatting tags, entities resolved; and notes."""
    notes = []
    text, count = _FORMATTING.subn(
        lambda tag: "\n" if tag[0].strip("</>").lower() in ("br", "p", "li") else "", content
    )
    if count:
        notes.append(FORMATTING)
    if "<" in text or "&" in _ENTITY.sub("", text):
        notes.append(UNESCAPED)
    return _ENTITY.sub(_character, text).strip(), tuple(notes)


@cache
def _tags(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(
        rf"<\s*(?P<close>/?)\s*(?P<name>{'|'.join(names)})(?:\s[^<>]*?)?(?P<empty>/?)\s*>", re.IGNORECASE
    )


def _character(entity: re.Match[str]) -> str:
    if entity[1]:
        return _NAMED[entity[1]]
    number = int(entity[2]) if entity[2] else int(entity[3], 16)
    return chr(number) if number <= 0x10FFFF else entity[0]


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")
