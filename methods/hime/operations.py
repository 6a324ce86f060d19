"""Carries out what a planner's reply asks of the memory, one operation after the other in the order of the
reply. Turn 1 only asks, turn 2 only changes. What is refused stops nothing else, and is told to the planner
(`told`) and counted (`events`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from methods.hime.frames import Frame
from methods.hime.wire import Create, Malformed, Operation, Query, Update
from methods.record_memory import Change, Found, Picture, RecordMemory

NO_IMAGE = "an image index is none of the frames"
SEVERAL_IMAGES = "several image indices: the last one that exists was taken"


@dataclass(frozen=True)
class Outcome:
    """How an operation went."""

    operation: Operation
    refused: str = ""
    """Why nothing came of it; empty if something did."""
    notes: tuple[str, ...] = ()
    found: tuple[Found, ...] = ()
    """Of a query: the answer to each of its terms."""
    change: Change | None = None
    """Of anything else that reached the memory."""


def asked(operations: Sequence[Operation], memory: RecordMemory) -> tuple[Outcome, ...]:
    """Turn 1. Raises `ProviderError`, as embedders do."""
    return tuple(_asked(operation, memory) for operation in operations)


def changed(
    operations: Sequence[Operation], memory: RecordMemory, frames: Sequence[Frame], step: int
) -> tuple[Outcome, ...]:
    """Turn 2, at a control step. `frames` are those that turn 1 showed, in its order: indices count from
    1."""
    return tuple(_changed(operation, memory, frames, step) for operation in operations)


def told(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """One line for each operation that went otherwise than it was meant; the planner reads them."""
    lines = []
    for outcome in outcomes:
        name = _name(outcome.operation)
        if outcome.refused:
            lines.append(f"{name} was not carried out: {outcome.refused}.")
        lines += [f"{name}: {note}." for note in outcome.notes]
        if outcome.change and outcome.change.evicted:
            gone = ", ".join(str(record.id) for record in outcome.change.evicted)
            lines.append(f"{name}: the memory was full, and record {gone} was removed for it.")
    return tuple(lines)


def events(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """What is to be counted: few fixed names."""
    names: list[str] = []
    for outcome in outcomes:
        if outcome.refused:
            kind = (
                "operation" if isinstance(outcome.operation, Malformed) else type(outcome.operation).__name__
            )
            names.append(f"memory: {kind.lower()} refused")
        names += [f"memory: {note}" for note in outcome.notes]
        names += ["memory: a record was pushed out"] * len(outcome.change.evicted if outcome.change else ())
    return tuple(names)


def _asked(operation: Operation, memory: RecordMemory) -> Outcome:
    if isinstance(operation, Query):
        return Outcome(operation, found=tuple(memory.query(term) for term in operation.terms))
    if isinstance(operation, Malformed):
        return Outcome(operation, operation.problem)
    return Outcome(operation, "the first turn only asks; changes belong to the second one")


def _changed(operation: Operation, memory: RecordMemory, frames: Sequence[Frame], step: int) -> Outcome:
    if isinstance(operation, Malformed):
        return Outcome(operation, operation.problem)
    if isinstance(operation, Query):
        return Outcome(operation, "queries belong to the first turn")
    notes: tuple[str, ...] = ()
    if isinstance(operation, Create):
        picture, notes = _picture(operation.images, frames)
        change = memory.create(operation.tags, operation.text, picture, step)
    elif isinstance(operation, Update):
        picture, notes = _picture(operation.images, frames)
        change = memory.update(operation.id, step, tags=operation.tags, text=operation.text, picture=picture)
    else:
        change = memory.delete(operation.id)
    return Outcome(operation, change.refused, (*notes, *change.notes), change=change)


def _picture(images: Sequence[int], frames: Sequence[Frame]) -> tuple[Picture | None, tuple[str, ...]]:
    there = [index for index in images if 1 <= index <= len(frames)]
    notes = []
    if len(there) < len(images):
        notes.append(NO_IMAGE)
    if len(there) > 1:
        notes.append(SEVERAL_IMAGES)
    return (frames[there[-1] - 1].picture if there else None), tuple(notes)


def _name(operation: Operation) -> str:
    if isinstance(operation, Malformed):
        return f"An operation of type {operation.type!r}"
    if isinstance(operation, Query):
        return f"QUERY {', '.join(operation.terms)}"
    if isinstance(operation, Create):
        return f"CREATE {', '.join(operation.tags)}"
    return f"{type(operation).__name__.upper()} {operation.id}"
