"""What a Sentry's reply means. It is conservative: only a clear `done` is done."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from harness.failures import GenerationFailure
from harness.protocols import Reply
from methods.hime import markup
from methods.lmp.writer import refuse_incomplete

Judgement = Literal["done", "not_done", "unparsed", "failed"]
"""`unparsed`: it answered, and not in a way that can be read. `failed`: there was no whole answer (empty,
refused, cut off). Both count as not done, and are told apart from it."""

BARE = "the status stands without its tags"
SEVERAL = "several statuses: the last one was taken"
COMMENT = "the status stands in a comment"
UNSURE = "done, but not above the threshold"
NO_CONFIDENCE = "done, without the confidence that was asked for"

_WORD = re.compile(r"\W*(done|not[\s_-]*done)\W*", re.IGNORECASE)
_NUMBER = re.compile(r"\s*(\d*\.?\d+)\s*(%?)\s*")


@dataclass(frozen=True)
class Verdict:
    judgement: Judgement
    confidence: float | None = None
    """That it is done, from 0 to 1, where it was asked for and given."""
    notes: tuple[str, ...] = ()


def verdict(reply: Reply, threshold: float | None = None) -> Verdict:
    """What a Sentry said. With a threshold (the paper's delta), `done` needs a confidence above it; the
    paper's prompt asks for no number, and its code for none either, so the default takes the word."""
    try:
        refuse_incomplete(reply, "the Sentry")
    except GenerationFailure:
        return Verdict("failed")
    text, notes = markup.cleaned(reply.text)
    word, more = _status(text)
    notes = (*notes, *more)
    if word is None:
        return Verdict("unparsed", notes=notes)
    confidence = _confidence(text)
    if word == "not_done" or threshold is None:
        return Verdict(word, confidence, notes)
    if confidence is None:
        return Verdict("unparsed", notes=(*notes, NO_CONFIDENCE))
    if confidence <= threshold:
        return Verdict("not_done", confidence, (*notes, UNSURE))
    return Verdict("done", confidence, notes)


def _status(text: str) -> tuple[Literal["done", "not_done"] | None, tuple[str, ...]]:
    outside = markup.without_comments(text)
    found = markup.blocks(outside, "status", ("confidence",))
    if not found:
        return _word(outside), (BARE,) if _word(outside) else ()
    block = markup.last(found)
    assert block is not None
    notes = [SEVERAL] if len(found) > 1 else []
    if not block.closed:
        notes.append(markup.UNCLOSED)
    if block.content.strip():
        return _word(block.content), tuple(notes)
    # The template has its choices in a comment, and some models answer in it.
    commented = markup.last(markup.blocks(text, "status", ("confidence",)))
    inside = commented.content.strip().removeprefix("<!--").removesuffix("-->") if commented else ""
    return _word(inside), (*notes, COMMENT) if _word(inside) else tuple(notes)


def _word(text: str) -> Literal["done", "not_done"] | None:
    found = _WORD.fullmatch(text)
    if not found:
        return None
    return "done" if found[1].lower() == "done" else "not_done"


def _confidence(text: str) -> float | None:
    block = markup.last(markup.blocks(markup.without_comments(text), "confidence", ("status",)))
    number = _NUMBER.fullmatch(block.content) if block else None
    if not number:
        return None
    value = float(number[1]) / (100 if number[2] else 1)
    return value if 0 <= value <= 1 else None
