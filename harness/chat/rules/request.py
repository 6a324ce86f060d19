"""Reads a conversation as a request for a program: which program, its examples, the failed plans that it shows,
the context line and the query. The layout is the one of `docs/contracts.md`; extra sections may come anywhere."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from harness.failures import ProviderError
from harness.protocols import Message

_PROGRAM = re.compile(r"program `(\w+)`")
_FENCE = re.compile(r"```[ \t]*\w*[ \t]*\n(.*?)```", re.DOTALL)
_QUERY = re.compile(r"#\s*Query\s*:\s*(.*)", re.IGNORECASE)
_CONTEXT = re.compile(r"objects\s*=\s*(\[.*\])\s*$")
_TITLE = re.compile(r"(?:instruction|task|query)\b[^\n:]*:\s*(.+)", re.IGNORECASE)
_FAILED = re.compile(r"fail|unsuccessful|did not (?:work|succeed)|does not work", re.IGNORECASE)
_CRITIQUE = re.compile(r"\bcritique\b[^:\n]*:\s*(.+)", re.IGNORECASE)
_LEAD = 400
"""How many characters before a block of code can say what the block is."""


@dataclass(frozen=True)
class Example:
    """A solved query. `objects` is None where the prompt does not list them; `shown` says that the example
    stands outside the list of examples, as one that was looked up for this query does."""

    query: str
    code: str
    objects: tuple[str, ...] | None = None
    shown: bool = False


@dataclass(frozen=True)
class Request:
    program: str
    query: str
    objects: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    failed: tuple[str, ...] = ()
    """Code that the prompt says has failed."""
    critique: str = ""
    """What the prompt says about how that came."""
    system: str = ""
    """The system message: it says which way the axes point."""


@dataclass(frozen=True)
class _Entry:
    objects: tuple[str, ...] | None
    query: str
    code: str


def read(messages: Sequence[Message]) -> Request:
    """Raises `ProviderError` when the conversation does not ask for a program: such a request was wrongly
    sent to this model, which is not the method's failure."""
    system = "\n".join(message.text for message in messages if message.role == "system")
    named = _PROGRAM.search(system)
    if named is None:
        raise ProviderError(
            "The model `rules` only completes robot programs, and the system message names none (expected "
            '"You complete the program `NAME` for a robot arm."). Use a language model (llm=...) for this method.'
        )
    asked: _Entry | None = None
    examples: list[Example] = []
    failed: list[str] = []
    for message in messages:
        if message.role != "user":
            continue
        end = 0
        for fence in _FENCE.finditer(message.text):
            lead = message.text[max(end, fence.start() - _LEAD) : fence.start()]
            end = fence.end()
            entries = _entries(fence.group(1))
            is_failed, is_list = (
                bool(_FAILED.search(lead)),
                "example" in lead.lower()[:12] or len(entries) > 2,
            )
            for entry in entries:
                if not entry.code:
                    asked = entry
                elif is_failed:
                    failed.append(entry.code)
                else:
                    query = entry.query or _title(lead)
                    examples.append(Example(query, entry.code, entry.objects, shown=not is_list))
    if asked is None:
        raise ProviderError(
            f"The model `rules` was asked for the program `{named.group(1)}`, but the conversation has no fenced "
            'code that ends in a line "# Query: ...".'
        )
    usable = tuple(example for example in examples if example.query)
    critiques = [found for message in messages for found in _CRITIQUE.findall(message.text)]
    critique = critiques[-1] if critiques else ""
    return Request(named.group(1), asked.query, asked.objects or (), usable, tuple(failed), critique, system)


def fenced_entries(text: str) -> list[tuple[str, str]]:
    """Query and code of every solved query in the blocks of code of a text."""
    blocks = [fence.group(1) for fence in _FENCE.finditer(text)]
    return [(entry.query, entry.code) for block in blocks for entry in _entries(block) if entry.code]


def _entries(block: str) -> list[_Entry]:
    """The examples of a block; the code of the last is empty where the block ends in a query."""
    entries: list[_Entry] = []
    objects: tuple[str, ...] | None = None
    query: str | None = None
    code: list[str] = []

    def finish() -> None:
        if query is not None or code:
            entries.append(_Entry(objects, query or "", "\n".join(code)))

    for line in block.splitlines():
        context, marker = _CONTEXT.match(line), _QUERY.match(line)
        if context:
            finish()
            objects, query, code = _names(context.group(1)), None, []
        elif marker:
            if query is not None or code:
                finish()
                objects = None
            query, code = marker.group(1).strip(), []
        elif line.strip():
            code.append(line)
        elif code and query is not None:
            finish()
            objects, query, code = None, None, []
    finish()
    return entries


def _names(text: str) -> tuple[str, ...] | None:
    try:
        names = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None
    return tuple(str(name) for name in names)


def _title(lead: str) -> str:
    """The instruction that prose in front of a block gives it."""
    titles = _TITLE.findall(lead)
    return titles[-1].strip().strip("`'\"") if titles else ""
