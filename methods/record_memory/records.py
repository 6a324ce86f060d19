"""A record and its parts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

_ENCLOSING = re.compile("[\\[\\](){}<>'\"`´‘’“”«»]")


@dataclass(frozen=True)
class Picture:
    """What cameras saw at one moment."""

    png: bytes
    seen: str = ""
    """What is framed and named in it, in words; empty where nothing says so. It belongs to the picture:
    whoever is shown one is shown the other."""


@dataclass(frozen=True)
class Record:
    """Something remembered. With a picture, `text` is its caption."""

    id: int
    """From 1 on, in the order of creation; never given twice."""
    tags: tuple[str, ...]
    """Normalised, each once."""
    text: str
    picture: Picture | None
    updated_at: int
    """Control step of the episode at which it was last written."""

    @property
    def kind(self) -> Literal["text", "image"]:
        return "image" if self.picture else "text"


def normalise_tag(tag: str) -> str:
    """Without brackets and quotes, blanks as `_`, in lower case. May be empty."""
    return "_".join(_ENCLOSING.sub("", tag).lower().split())


def normalise_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Normalised, each once, in their order, without empty ones."""
    return tuple(dict.fromkeys(found for tag in tags if (found := normalise_tag(tag))))
