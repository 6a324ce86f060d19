"""What a request is: its hash, by which the cache and a replay find its reply, and how a trace writes it down."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from harness.protocols import Message, Sampling

VERSION = 1
"""Raised when a key is made of something else than before: old replies are then not found, and never mistaken."""


def request_key(messages: Sequence[Message], sampling: Sampling) -> str:
    """Hash of everything that is sent. The sampling seed counts only where there is something to draw: at
    temperature 0 the first trials of all methods and seeds are one request."""
    said = [[message.role, message.text, *map(image_key, message.images)] for message in messages]
    drawn = [float(sampling.temperature), sampling.max_tokens, list(sampling.stop)]
    if sampling.temperature > 0:
        drawn.append(sampling.seed)
    return digest([VERSION, said, drawn])


def reply_key(settings: Mapping[str, Any], messages: Sequence[Message], sampling: Sampling) -> str:
    """Hash of a request and of the model that it is sent to; `settings` is everything of the model's config that
    can change an answer."""
    return digest([settings, request_key(messages, sampling)])


def digest(value: Any) -> str:
    """SHA-256 of plain data, in hexadecimal; the order of keys does not matter."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def image_key(image: bytes) -> str:
    return hashlib.sha256(image).hexdigest()[:32]


def written_down(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Messages as a trace has them: the texts, and the hashes of the pictures."""
    written: list[dict[str, Any]] = []
    for message in messages:
        images = {"images": [image_key(image) for image in message.images]} if message.images else {}
        written.append({"role": message.role, "text": message.text, **images})
    return written
