"""Which attributes a program may read, by the type of the object: an allow-list for Python's and NumPy's
own types, nothing for functions, classes and whatever leads into the interpreter, and public names for
objects that the task API returns. It knows names only; calling is for `harness.sandbox.running`."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Mapping
from string import Formatter
from typing import Any

from RestrictedPython.transformer import INSPECT_ATTRIBUTES

_PLAIN: dict[type, frozenset[str]] = {
    kind: frozenset(names.split())
    for kind, names in {
        str: "capitalize casefold center count endswith expandtabs find format index isalnum isalpha isascii "
        "isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper join ljust lower "
        "lstrip partition removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip split "
        "splitlines startswith strip swapcase title translate upper zfill",
        bytes: "",
        list: "append clear copy count extend index insert pop remove reverse sort",
        tuple: "count index",
        dict: "clear copy fromkeys get items keys pop popitem setdefault update values",
        set: "add clear copy difference difference_update discard intersection intersection_update isdisjoint "
        "issubset issuperset pop remove symmetric_difference symmetric_difference_update union update",
        frozenset: "copy difference intersection isdisjoint issubset issuperset symmetric_difference union",
        int: "bit_length conjugate denominator imag numerator real",
        bool: "real imag",
        float: "as_integer_ratio conjugate imag is_integer real",
        complex: "conjugate imag real",
        range: "count index start step stop",
        slice: "start step stop",
        type(None): "",
    }.items()
}
_NUMPY: dict[str, frozenset[str]] = {
    kind: frozenset(names.split())
    for kind, names in {
        "ndarray": "T all any argmax argmin argpartition argsort astype clip compress conj copy cumprod cumsum "
        "diagonal dot dtype fill flat flatten imag item itemsize max mean min nbytes ndim nonzero partition prod "
        "put ravel real repeat reshape round searchsorted shape size sort squeeze std sum swapaxes take tolist "
        "trace transpose var",
        "generic": "T all any argmax argmin astype clip conj copy dtype flatten imag is_integer item itemsize max "
        "mean min ndim prod ravel real reshape round shape size squeeze std sum tolist transpose var",
        "dtype": "name kind itemsize",
        "ufunc": "accumulate outer reduce",
    }.items()
}
_CLOSED: tuple[type, ...] = (
    type,
    functools.partial,
    staticmethod,
    classmethod,
    property,
    types.AsyncGeneratorType,
    types.BuiltinFunctionType,
    types.CellType,
    types.CodeType,
    types.CoroutineType,
    types.FrameType,
    types.FunctionType,
    types.GeneratorType,
    types.GetSetDescriptorType,
    types.MappingProxyType,
    types.MemberDescriptorType,
    types.MethodDescriptorType,
    types.MethodType,
    types.MethodWrapperType,
    types.ModuleType,
    types.TracebackType,
    types.WrapperDescriptorType,
)
"""Types of which nothing is readable: each has attributes that lead to the interpreter or the harness."""


class Forbidden(AttributeError):
    """The attribute may not be read; the message says so."""


class Namespace:
    """A module as a program sees it: `np`, `np.linalg`, `math`. Only the listed members exist."""

    __slots__ = ("_members", "_name")

    def __init__(self, name: str, members: Mapping[str, Any]) -> None:
        self._name = name
        self._members = members

    def __repr__(self) -> str:
        return f"<module {self._name!r}>"

    def __getstate__(self) -> object:
        raise TypeError(f"{self!r} cannot be copied or stored")

    def member(self, name: str) -> Any:
        if name not in self._members:
            raise Forbidden(f"{self._name}.{name} is not available to programs")
        return self._members[name]


class PlainFormat(Formatter):
    """`str.format` whose fields are plain: `{}`, `{0}`, `{name}`, with conversions and format specifications.
    The full one reads attributes and items of its arguments."""

    def __init__(self, template: str) -> None:
        self._template = template

    def __call__(self, *args: Any, **kwargs: Any) -> str:
        return self.vformat(self._template, args, kwargs)

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        if not field_name.isidentifier() and not field_name.isdigit():
            raise Forbidden(f"the field {{{field_name}}} is not plain; use an f-string")
        return super().get_field(field_name, args, kwargs)


def allowed_names(owner: Any) -> frozenset[str] | None:
    """Names that may be read of `owner`; None for objects of the task API, whose public names may."""
    if isinstance(owner, type):
        return _PLAIN.get(owner, frozenset()) - {"format"}
    return _names_of_instances(type(owner))  # type: ignore[arg-type]  # mypy takes classes for unhashable


def belongs_to_api(owner: Any) -> bool:
    """Whether the type is none of Python's, NumPy's or the sandbox's, so that using it runs API code."""
    return allowed_names(owner) is None


def is_data_class(kind: type) -> bool:
    """Whether the class is one of Python's or NumPy's for data, which a program may hold and compare with."""
    if kind in _PLAIN:
        return True
    numpy = sys.modules.get("numpy")
    return numpy is not None and issubclass(kind, numpy.ndarray | numpy.generic)


@functools.lru_cache(maxsize=1024)
def _names_of_instances(kind: type) -> frozenset[str] | None:
    if kind in _PLAIN:
        return _PLAIN[kind]
    if "numpy" in sys.modules:  # nothing of NumPy's can be met before it is imported
        for name, numpy_kind in _numpy_types().items():
            if issubclass(kind, numpy_kind):
                return _NUMPY[name]
    if kind.__module__.partition(".")[0] == "numpy":
        return frozenset(getattr(kind, "_fields", ()))  # results with named fields, such as those of `svd`
    if issubclass(kind, BaseException):
        return frozenset({"args"})
    if issubclass(kind, _CLOSED) or kind.__module__.startswith(_OWN_MODULES):
        return frozenset()
    return None


def check_name(owner: object, name: object) -> None:
    """Refuse a name that may not be read of `owner`."""
    if type(name) is not str:
        raise TypeError("attribute name must be a string")
    if name.startswith("_") or name in INSPECT_ATTRIBUTES:
        raise Forbidden(f"{_describe(owner)} has no attribute {name!r} for programs")
    allowed = allowed_names(owner)
    if allowed is not None and name not in allowed:
        missing = AttributeError if not hasattr(owner, name) else Forbidden
        raise missing(f"{_describe(owner)} has no attribute {name!r} for programs")


def check_value(value: object, owner: object, name: str) -> None:
    """Refuse what an object of the task API must not hand out."""
    if isinstance(value, types.ModuleType | type | types.FrameType | types.CodeType | types.TracebackType):
        raise Forbidden(f"{_describe(owner)} has no attribute {name!r} for programs")


@functools.cache
def _numpy_types() -> dict[str, type]:
    import numpy as np

    return {name: getattr(np, name) for name in _NUMPY}


def _describe(owner: object) -> str:
    return f"the class `{owner.__name__}`" if isinstance(owner, type) else f"`{type(owner).__name__}`"


_OWN_MODULES = ("harness.sandbox.", "builtins")
