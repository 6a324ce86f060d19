"""What may cross between a program and its task API: data may, the program's functions and generators may
not. They would run outside of the limits, or after the program has ended."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from typing import Any

from harness.sandbox.attributes import allowed_names, is_data_class

MAX_DEPTH = 50
_ATOMS: frozenset[type] = frozenset({int, float, str, bool, complex, bytes, type(None), range, slice})
_CONTAINERS: frozenset[type] = frozenset({list, tuple, set, frozenset, dict})


class ApiFunction:
    """A function of the task API as a program holds it: calling it stops the program's clock."""

    __slots__ = ("_call", "function", "name")

    def __init__(self, name: str, function: Callable[..., Any], call: Callable[..., Any]) -> None:
        self.name = name
        self.function = function
        self._call = call

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._call(self, args, kwargs)

    def __repr__(self) -> str:
        return f"<function {self.name}>"


def outward(value: Any) -> Any:
    """A value of the program as the API or the caller gets it. Iterators become lists. Raises `TypeError`
    for what holds code of the program."""
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is ApiFunction:
        return value.function
    if _is_iterator(value):
        value = list(value)
    if holds_code(value, set(), 0):
        raise TypeError(f"functions of a program cannot be handed on, only values ({kind.__name__})")
    return value


def holds_code(value: Any, seen: set[int], depth: int) -> bool:
    """Whether the value is, or has somewhere inside, what is not data."""
    kind = type(value)
    if kind in _ATOMS or kind is ApiFunction:
        return False
    if kind in _CONTAINERS:
        if id(value) in seen:
            return False
        if depth > MAX_DEPTH:
            return True
        seen.add(id(value))
        return any(holds_code(item, seen, depth + 1) for item in _items(value) if type(item) not in _ATOMS)
    if isinstance(value, type):
        return not is_data_class(value)
    if getattr(getattr(value, "dtype", None), "hasobject", False):
        return any(holds_code(item, seen, depth + 1) for item in value.ravel().tolist())
    names = allowed_names(value)
    return names is not None and not is_data_class(kind)


def _items(container: Any) -> Iterator[Any]:
    if type(container) is dict:
        yield from container.keys()
        yield from container.values()
    else:
        yield from container


def _is_iterator(value: Any) -> bool:
    return isinstance(value, types.GeneratorType | map | filter | zip | enumerate | reversed) or (
        type(value).__module__ == "builtins" and type(value).__name__ in _VIEWS
    )


_VIEWS = frozenset(
    {"dict_keys", "dict_values", "dict_items", "list_iterator", "tuple_iterator", "range_iterator"}
)
