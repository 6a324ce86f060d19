"""Other names for objects, wherever they are said: in pictures, instructions, utterances, subtasks and facts."""

from __future__ import annotations

import re
from collections.abc import Mapping


class Wording:
    """Replaces whole phrases. "red beans" stands for "red beans 2" and "picture of red beans 1", too."""

    def __init__(self, rename: Mapping[str, str]) -> None:
        self._rename = dict(rename)
        longest_first = sorted(map(re.escape, self._rename), key=len, reverse=True)
        self._phrases = re.compile(rf"\b({'|'.join(longest_first)})\b") if longest_first else None

    def put(self, text: str) -> str:
        """The text with the other names."""
        if self._phrases is None:
            return text
        return self._phrases.sub(lambda found: self._rename[found[0]], text)
