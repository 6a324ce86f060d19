"""The planner's replies: the paper's XML fragment of `summary`, `memory_operations` and `plan_list`, and the
one of `summary`, `subtask` and `is_complete` for planners without memory.

Reading is tolerant and never silent: every repair is a note. A single operation that makes no sense is
`Malformed` and stops no other one; a reply as a whole that cannot be used raises `UnusableReply`, and nothing
of it takes effect (`asking` then asks once more)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from harness.failures import GenerationFailure
from methods.hime import markup

SECTIONS = ("summary", "memory_operations", "plan_list")
FIELDS = ("type", "query", "id", "tags", "text", "image_path", "reason")

SEVERAL = "an element was written several times: the last one was taken"
OUTSIDE = "operations outside memory_operations"
NO_OPERATION = "memory_operations holds text that is no operation"
AROUND = "text around the answer"
NO_SUMMARY = "there is no summary"
TWICE = "a field was written twice: the first one was taken"
RENAMED = "an operation goes by another name"
SEVERAL_TERMS = "several terms in one query"
ID_FORM = "an id is not a plain number"
IMAGE_FORM = "an image_path is no index"
NO_STATE = "a line of the plan has no state: it was left out"
NO_WORDS = "a line of the plan has no words: it was left out"
SEVERAL_STEPS = "several steps in one line of the plan"
SEVERAL_CURRENT = "several current steps: the first one was taken"
PROMOTED = "no current step: the first pending one was taken"
COMPLETE_FORM = "is_complete is neither true nor false: false was taken"
SEVERAL_LINES = "the subtask has several lines: the first one was taken"

_Read = TypeVar("_Read")
_MARKER = re.compile(r"\**\[\s*(done|current|active|pending)\s*\]\**:?", re.IGNORECASE)
_BULLET = re.compile(r"\s*(?:[-*•]\s+|\(?\d+[.):](?!\d)\s*|step\s*\d+\s*[:.)-]\s*)", re.IGNORECASE)
_PURPOSE = re.compile(r"\s*\(([^()]*)\)")
_ID = re.compile(r"[\s\"'#\[(]*(?:(?:record|id)[\s_:#]*)?(\d{1,9})(?:\.0+)?[\s\"'\]).]*", re.IGNORECASE)
_INDEX = re.compile(r"(?<!\d)-?\d+")
_NOTHING = {"", "none", "null", "n/a", "na", "-", "no", "empty"}
_SEPARATORS = re.compile(r"[,;\n]+")
_NAMES = {"ADD": "CREATE", "READ": "QUERY"}
"""The paper's other names."""


class UnusableReply(GenerationFailure):
    """A reply of which nothing may take effect; the message says why."""


@dataclass(frozen=True)
class Query:
    terms: tuple[str, ...]
    """At least one, none of them blank."""
    reason: str = ""


@dataclass(frozen=True)
class Create:
    tags: tuple[str, ...]
    text: str
    images: tuple[int, ...] = ()
    """Indices of turn 1's frames, from 1 on, as they were written: they need not exist."""
    reason: str = ""


@dataclass(frozen=True)
class Update:
    id: int
    tags: tuple[str, ...] | None = None
    text: str | None = None
    images: tuple[int, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Delete:
    id: int
    reason: str = ""


@dataclass(frozen=True)
class Malformed:
    """An operation that cannot be carried out as it is written."""

    type: str
    """As it was written; may be empty."""
    problem: str


Operation = Query | Create | Update | Delete | Malformed


@dataclass(frozen=True)
class PlanLine:
    """A step as the planner put it."""

    state: Literal["done", "current", "pending"]
    text: str
    """What the executor is told, not blank: without number, state and purpose."""
    purpose: str = ""
    """What stood in parentheses."""


@dataclass(frozen=True)
class PlannerReply:
    summary: str
    operations: tuple[Operation, ...]
    """In their order in the reply."""
    lines: tuple[PlanLine, ...]
    """At most one of them is current, and one is if any is pending."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class StepReply:
    """Of a planner without memory. `subtask` is empty only if all is `complete`."""

    summary: str
    subtask: str
    complete: bool
    notes: tuple[str, ...] = ()


def read_first(text: str) -> PlannerReply:
    """Turn 1: queries. A plan may be missing. Raises `UnusableReply` for a text with none of the elements."""
    return _read(text)


def read_second(text: str) -> PlannerReply:
    """Turn 2: what to remember, and the plan. Raises `UnusableReply` for a reply without a plan, whose
    operations then do not count either."""
    reply = _read(text)
    if reply.lines:
        return reply
    if NO_STATE in reply.notes:
        raise UnusableReply("no line of the plan list begins with [done], [current] or [pending]")
    raise UnusableReply("the reply has no plan list, or an empty one")


def read_step(text: str) -> StepReply:
    """Raises `UnusableReply` for a reply that names no subtask and does not say that all is complete."""
    names = ("summary", "subtask", "is_complete")
    notes = _Notes()
    text = notes.of(markup.cleaned(text))
    if not markup.mentions(text, names):
        raise UnusableReply(_none_of(names))
    text = markup.without_comments(text)
    summary, subtask, word = (notes.of(markup.plain(_section(text, name, names, notes))) for name in names)
    word = word.lower().strip(" .!\"'")
    if word not in ("true", "yes", "false", "no"):
        notes.add(COMPLETE_FORM)
    complete = word in ("true", "yes")
    lines = [line for line in subtask.splitlines() if line.strip()]
    if len(lines) > 1:
        notes.add(SEVERAL_LINES)
    step = _words(_MARKER.sub("", lines[0]))[0] if lines else ""
    if not step and not complete:
        raise UnusableReply("the reply names no subtask")
    return StepReply(summary, step, complete, notes.all())


def plan_lines(content: str) -> tuple[tuple[PlanLine, ...], tuple[str, ...]]:
    """The steps of a plan list's text, and notes. States may stand anywhere in a line."""
    notes = _Notes()
    found: list[PlanLine] = []
    for line in content.splitlines():
        pieces = _pieces(line)
        if len(pieces) > 1:
            notes.add(SEVERAL_STEPS)
        found += [step for piece in pieces if (step := _plan_line(piece, notes))]
    current = [index for index, line in enumerate(found) if line.state == "current"]
    pending = [index for index, line in enumerate(found) if line.state == "pending"]
    if len(current) > 1:
        notes.add(SEVERAL_CURRENT)
        for index in current[1:]:
            found[index] = PlanLine("pending", found[index].text, found[index].purpose)
    elif not current and pending:
        notes.add(PROMOTED)
        first = found[pending[0]]
        found[pending[0]] = PlanLine("current", first.text, first.purpose)
    return tuple(found), notes.all()


class _Notes:
    """Notes in the order in which they came up, each once."""

    def __init__(self) -> None:
        self._found: dict[str, None] = {}

    def add(self, *notes: str) -> None:
        self._found.update(dict.fromkeys(notes))

    def of(self, noted: tuple[_Read, tuple[str, ...]]) -> _Read:
        """What was read; the notes beside it are taken up."""
        self.add(*noted[1])
        return noted[0]

    def all(self) -> tuple[str, ...]:
        return tuple(self._found)


def _read(text: str) -> PlannerReply:
    notes = _Notes()
    text = notes.of(markup.cleaned(text))
    if not markup.mentions(text, (*SECTIONS, "operation")):
        raise UnusableReply(_none_of(SECTIONS))
    text = markup.without_comments(text)
    summary = notes.of(markup.plain(_section(text, "summary", SECTIONS, notes)))
    if not summary:
        notes.add(NO_SUMMARY)
    lines = notes.of(plan_lines(notes.of(markup.plain(_section(text, "plan_list", SECTIONS, notes)))))
    return PlannerReply(summary, _operations(text, notes), lines, notes.all())


def _none_of(names: Sequence[str]) -> str:
    return f"the reply has none of the elements {', '.join(names)}"


def _section(text: str, name: str, names: Sequence[str], notes: _Notes) -> str:
    found = markup.blocks(text, name, names)
    if sum(bool(block.content.strip()) for block in found) > 1:
        notes.add(SEVERAL)
    block = markup.last(found)
    if block and not block.closed:
        notes.add(markup.UNCLOSED)
    return block.content if block else ""


def _operations(text: str, notes: _Notes) -> tuple[Operation, ...]:
    sections = {name: markup.blocks(text, name, SECTIONS) for name in SECTIONS}
    regions = [block for block in sections["memory_operations"] if block.content.strip()]
    if len(regions) > 1 and sum(bool(block.content.strip()) for block in sections["plan_list"]) > 1:
        regions = regions[-1:]  # the whole answer was written again
    outside = text
    for block in (block for found in sections.values() for block in found):
        outside = outside[: block.start] + " " * (block.end - block.start) + outside[block.end :]
    found: list[Operation] = []
    for region in regions:
        if not region.closed:
            notes.add(markup.UNCLOSED)
        operations = markup.blocks(region.content, "operation")
        if not operations and markup.plain(region.content)[0].lower() not in _NOTHING:
            notes.add(NO_OPERATION)
        found += [_operation(operation, notes) for operation in operations]
    stray = markup.blocks(outside, "operation")
    if stray:
        notes.add(OUTSIDE)
        found += [_operation(operation, notes) for operation in stray]
        for block in stray:
            outside = outside[: block.start] + " " * (block.end - block.start) + outside[block.end :]
    if outside.strip():
        notes.add(AROUND)
    return tuple(found)


def _operation(operation: markup.Block, notes: _Notes) -> Operation:
    if not operation.closed:
        notes.add(markup.UNCLOSED)
    fields = {name: _field(operation.content, name, notes) for name in FIELDS}
    written, reason = fields["type"], fields["reason"]
    kind = written.upper()
    if kind in _NAMES:
        notes.add(RENAMED)
        kind = _NAMES[kind]
    tags = _split(fields["tags"])
    if kind == "QUERY":
        terms = _split(fields["query"])
        if len(terms) > 1:
            notes.add(SEVERAL_TERMS)
        return Query(terms, reason) if terms else Malformed(written, "it has no query")
    if kind == "CREATE":
        return Create(tags, fields["text"], _images(fields["image_path"], notes), reason)
    if kind not in ("UPDATE", "DELETE"):
        return Malformed(written, "there is no such type" if written else "it has no type")
    number = _ID.fullmatch(fields["id"])
    if not number:
        return Malformed(written, f"its id is {fields['id']!r}" if fields["id"] else "it has no id")
    if fields["id"] != number[1]:
        notes.add(ID_FORM)
    if kind == "DELETE":
        return Delete(int(number[1]), reason)
    images = _images(fields["image_path"], notes)
    return Update(int(number[1]), tags or None, fields["text"] or None, images, reason)


def _field(content: str, name: str, notes: _Notes) -> str:
    found = markup.blocks(content, name, FIELDS)
    if not all(block.closed for block in found):
        notes.add(markup.UNCLOSED)
    values = [notes.of(markup.plain(block.content)) for block in found]
    if name == "image_path":  # of several indices the last one that exists counts, however they were written
        return " ".join(values)
    if len(values) > 1:
        notes.add(TWICE)
    return values[0] if values else ""


def _split(value: str) -> tuple[str, ...]:
    return tuple(part for piece in _SEPARATORS.split(value) if (part := piece.strip()))


def _images(value: str, notes: _Notes) -> tuple[int, ...]:
    found = tuple(int(index[0][:9]) for index in _INDEX.finditer(value))
    if not found and value.lower() not in _NOTHING:
        notes.add(IMAGE_FORM)
    return found


def _pieces(line: str) -> list[str]:
    """A line with several states, one at the head of each step or one at the end of each, in its steps."""
    markers = list(_MARKER.finditer(line))
    if len(markers) < 2:
        return [line]
    if _MARKER.match(_unnumbered(line)):
        cuts = [marker.start() for marker in markers[1:]]
    elif not line[markers[-1].end() :].strip():
        cuts = [marker.end() for marker in markers[:-1]]
    else:
        return [line]
    return [line[start:end] for start, end in zip([0, *cuts], [*cuts, len(line)], strict=True)]


def _plan_line(piece: str, notes: _Notes) -> PlanLine | None:
    if not piece.strip():
        return None
    marker = _MARKER.search(piece)
    if not marker:
        notes.add(NO_STATE)
        return None
    text, purpose = _words(_MARKER.sub(" ", piece))
    if not text:
        notes.add(NO_WORDS)
        return None
    state = marker[1].lower()
    return PlanLine(
        "done" if state == "done" else "pending" if state == "pending" else "current", text, purpose
    )


def _words(text: str) -> tuple[str, str]:
    """What is to be done, and what for."""
    text = " ".join(text.split())
    text = re.sub(r"(?:^|\s)(?:\d+[.)]|[-*•])\s*$", "", _unnumbered(text))
    purposes: list[str] = []
    bare = text
    while found := _PURPOSE.search(bare):
        purposes.append(found[1].strip())
        bare = bare[: found.start()] + bare[found.end() :]
    step = " ".join(bare.replace("**", "").split()).strip(" .;:,-–—")
    purpose = " ".join("; ".join(purposes).split())
    return (step, purpose) if step else (purpose, "")


def _unnumbered(text: str) -> str:
    while bullet := _BULLET.match(text):
        text = text[bullet.end() :]
    return text.strip()
