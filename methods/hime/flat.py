"""The reply of the flat baseline's planner: JSON with the next `action` and the `keyframe_positions`, which
count the recent frames from 1. Read as `wire` reads: tolerant, never silent, and refused where there is no
action; the public code takes whatever text there is for the action then."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from methods.hime import markup
from methods.hime.wire import AROUND, UnusableReply

SEVERAL = "several answers: the last one was taken"
POSITIONS_FORM = "keyframe_positions is no list of numbers"
NO_FRAME = "a keyframe position is none of the recent frames"
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True)
class FlatReply:
    action: str
    """Not blank."""
    nominated: tuple[int, ...]
    """Indices into the recent frames, from 0 on, each once."""
    notes: tuple[str, ...] = ()


def read_flat(text: str, recent: int) -> FlatReply:
    """`recent` is how many recent frames were shown. Raises `UnusableReply` for a reply without an action."""
    text, found_notes = markup.cleaned(text)
    notes = list(found_notes)
    answers = [(found, start, end) for found, start, end in _objects(text) if "action" in found]
    if not answers:
        raise UnusableReply("the reply has no JSON object with an action")
    if len(answers) > 1:
        notes.append(SEVERAL)
    answer, start, end = answers[-1]
    if text[:start].strip() or text[end:].strip():
        notes.append(AROUND)
    action = answer["action"]
    if not isinstance(action, str) or not action.strip():
        raise UnusableReply(f"the action is {action!r}; it has to be a text")
    positions = answer.get("keyframe_positions", [])
    if not isinstance(positions, list) or not all(map(_is_number, positions)):
        notes.append(POSITIONS_FORM)
        positions = (
            [position for position in positions if _is_number(position)]
            if isinstance(positions, list)
            else []
        )
    there = [position for position in dict.fromkeys(positions) if 1 <= position <= recent]
    if len(there) < len(set(positions)):
        notes.append(NO_FRAME)
    return FlatReply(" ".join(action.split()), tuple(position - 1 for position in there), tuple(notes))


def _objects(text: str) -> Iterator[tuple[dict[str, Any], int, int]]:
    """All JSON objects that are not inside another one, and where they stand."""
    start = text.find("{")
    while start >= 0:
        try:
            found, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
            continue
        yield found, start, end
        start = text.find("{", end)


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
