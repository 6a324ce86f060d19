"""Finding an object by the name that a program uses. Case, spaces and punctuation around it do not matter; anything
else does."""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping

from harness.failures import PerceptionFailure, UsageError

_AROUND = string.whitespace + string.punctuation


class Names:
    """The names of a scene's objects, and other names for things that are always there."""

    def __init__(self, objects: Iterable[tuple[str, str]], aliases: Mapping[str, str]) -> None:
        """Both map names to what they stand for; objects go before aliases. Raises `UsageError` when two objects
        cannot be told apart by name."""
        self._found = {plain(alias): meaning for alias, meaning in aliases.items()}
        shown: dict[str, str] = {}
        for name, meaning in objects:
            key = plain(name)
            if not key or key in shown:
                raise UsageError(f"objects have to have names, and different ones; {name!r} does not do")
            shown[key] = name
            self._found[key] = meaning
        self._objects = tuple(shown.values())

    def find(self, name: object) -> str:
        """What the name stands for. Raises `PerceptionFailure` that lists the known names."""
        known = ", ".join(repr(entry) for entry in self._objects)
        if not isinstance(name, str) or not plain(name):
            raise PerceptionFailure(
                f"an object has to be asked for by its name, not by {name!r}; there are {known}"
            )
        if plain(name) not in self._found:
            raise PerceptionFailure(f"there is no {name!r} in the scene; there are {known}")
        return self._found[plain(name)]


def plain(name: str) -> str:
    """Lower case, single spaces, nothing but the words."""
    return " ".join(name.replace("_", " ").strip(_AROUND).lower().split())
