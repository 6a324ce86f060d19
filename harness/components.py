"""Builds the dataclass that a config node names by `_target_`, checking keys and types on the way.
Not a general instantiation tool: targets are dataclasses, nested nodes are built the same way."""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import types
import typing
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Literal

from harness.failures import UsageError


def suggest(word: str, known: Iterable[str]) -> str:
    """A hint that names the nearest known words, or all of them when they are few."""
    options = sorted(known)
    close = difflib.get_close_matches(word, options, n=3, cutoff=0.6)
    if close:
        return f"Did you mean {' or '.join(close)}?"
    return f"Known: {', '.join(options)}." if 0 < len(options) <= 20 else ""


def build(node: Mapping[str, Any], where: str) -> Any:
    """The component behind a resolved config node; `where` is the node's key, for messages.

    Raises `UsageError` for a target that cannot be imported, an unknown or missing key, a wrong type,
    or a value that the component itself refuses with `ValueError`.
    """
    if "_target_" not in node:
        raise UsageError(
            f"{where} has no `_target_`: its YAML has to name a dataclass, for example pkg.module.Name."
        )
    cls = locate(str(node["_target_"]), where)
    return _construct(cls, {key: value for key, value in node.items() if key != "_target_"}, where)


def locate(target: str, where: str) -> type:
    """Import the dataclass that a dotted name stands for."""
    module_name, _, attribute = target.rpartition(".")
    try:
        found = getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"{where}: cannot import `{target}`: {error}") from error
    if not (isinstance(found, type) and dataclasses.is_dataclass(found)):
        raise UsageError(f"{where}: `{target}` is not a dataclass; a config group's target has to be one.")
    return found


def key_of(field: dataclasses.Field[Any]) -> str:
    """The key by which a config sets a field: its name, unless `metadata={"key": ...}` gives it another, as for a
    key that Python reserves."""
    return str(field.metadata.get("key", field.name))


def _construct(cls: type, values: Mapping[str, Any], where: str) -> Any:
    declared = {key_of(field): field for field in dataclasses.fields(cls) if field.init}
    for key in values:
        if key not in declared:
            raise UsageError(
                f"{where} ({cls.__name__}) has no key `{key}`. {suggest(key, declared)}".rstrip()
            )
    missing = [
        name
        for name, field in declared.items()
        if name not in values
        and field.default is dataclasses.MISSING
        and field.default_factory is dataclasses.MISSING
    ]
    if missing:
        raise UsageError(f"{where} ({cls.__name__}) needs a value for {', '.join(missing)}.")
    hints = _hints(cls)
    fields = {declared[key].name: (key, value) for key, value in values.items()}
    arguments = {
        name: _convert(value, hints[name], f"{where}.{key}") for name, (key, value) in fields.items()
    }
    try:
        return cls(**arguments)
    except ValueError as error:
        raise UsageError(f"{where}: {error}") from error


@cache
def _hints(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def _convert(value: Any, hint: Any, where: str) -> Any:
    if isinstance(value, Mapping) and "_target_" in value:
        return build(value, where)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        options = [option for option in arguments if option is not type(None)]
        if len(options) == 1 and value is not None:
            return _convert(value, options[0], where)
        for option in arguments:
            try:
                return _convert(value, option, where)
            except UsageError:
                continue
        raise _wrong(value, hint, where)
    if origin is Literal:
        if value in arguments:
            return value
        raise UsageError(f"{where} is {value!r}; it can be {', '.join(map(str, arguments))}.")
    if origin in (list, tuple) or hint in (list, tuple):
        if not isinstance(value, list | tuple):
            raise UsageError(f"{where} is a list: write {where}=[{value}].")
        item = arguments[0] if arguments else Any
        return (origin or hint)(_convert(v, item, f"{where}[{i}]") for i, v in enumerate(value))
    if origin is dict or hint is dict:
        if not isinstance(value, Mapping):
            raise _wrong(value, hint, where)
        item = arguments[1] if arguments else Any
        return {str(k): _convert(v, item, f"{where}.{k}") for k, v in value.items()}
    if dataclasses.is_dataclass(hint) and isinstance(value, Mapping):
        return _construct(typing.cast(type, hint), value, where)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if hint is Any or (value is None and hint is type(None)):
        return value
    if isinstance(hint, type) and not getattr(hint, "_is_protocol", False):
        if isinstance(value, hint) and not (isinstance(value, bool) and hint is int):
            return value
        raise _wrong(value, hint, where)
    raise _wrong(value, hint, where)


def _wrong(value: Any, hint: Any, where: str) -> UsageError:
    name = getattr(hint, "__name__", None) if isinstance(hint, type) else str(hint)
    return UsageError(f"{where} is {value!r}, which is not of type {name}.")
