"""The builtins of a program: Python's harmless ones, some with a guard, and nothing that reaches files,
processes, modules, classes or the interpreter."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, Protocol

from harness.sandbox.arithmetic import bounded_range, power, round_to
from harness.sandbox.attributes import Forbidden, is_data_class
from harness.sandbox.limits import ProgramExit, ProgramInterrupt

_SAFE = (
    "abs all any bin bool callable chr complex dict divmod enumerate float format frozenset hex int isinstance "
    "issubclass len list oct ord repr reversed set slice str sum tuple zip NotImplemented Ellipsis "
    "ArithmeticError AssertionError AttributeError BaseException Exception FloatingPointError IndexError KeyError "
    "LookupError NameError NotImplementedError OverflowError RecursionError RuntimeError StopIteration TypeError "
    "UnboundLocalError ValueError Warning RuntimeWarning UserWarning ZeroDivisionError TimeoutError"
)
SAFE: dict[str, Any] = {name: getattr(builtins, name) for name in _SAFE.split()}


class Guards(Protocol):
    """What the builtins below need of a run."""

    def adapt(self, function: Any) -> Callable[..., Any]: ...

    def getattr(self, owner: Any, name: Any) -> Any: ...

    def iterate(self, iterable: Any) -> Any: ...

    def write(self, text: str) -> None: ...


def vocabulary(run: Guards) -> dict[str, Any]:
    """Builtins for one run."""

    def getattr_(owner: Any, name: Any, *default: Any) -> Any:
        try:
            return run.getattr(owner, name)
        except AttributeError as error:
            if default and not isinstance(error, Forbidden):
                return default[0]
            raise

    def hasattr_(owner: Any, name: Any) -> bool:
        try:
            run.getattr(owner, name)
        except AttributeError:
            return False
        return True

    def map_(function: Any, *iterables: Any) -> Iterator[Any]:
        return map(run.adapt(function), *(run.iterate(iterable) for iterable in iterables))

    def filter_(function: Any, iterable: Any) -> Iterator[Any]:
        return filter(None if function is None else run.adapt(function), run.iterate(iterable))

    def sorted_(iterable: Any, *, key: Any = None, reverse: bool = False) -> list[Any]:
        return sorted(run.iterate(iterable), key=None if key is None else run.adapt(key), reverse=reverse)

    def min_(*values: Any, key: Any = None, **default: Any) -> Any:
        return min(*values, key=None if key is None else run.adapt(key), **default)

    def max_(*values: Any, key: Any = None, **default: Any) -> Any:
        return max(*values, key=None if key is None else run.adapt(key), **default)

    def iter_(iterable: Any) -> Iterator[Any]:
        # The form with a sentinel can loop in native code for ever.
        return iter(run.iterate(iterable))

    def next_(iterator: Any, *default: Any) -> Any:
        return next(iterator, *default)

    def print_(*values: Any, sep: str | None = " ", end: str | None = "\n", flush: bool = False) -> None:
        text = (" " if sep is None else sep).join(map(str, values))
        run.write(text + ("\n" if end is None else end))

    def type_(value: Any, *more: Any) -> type:
        kind = type(value)
        if more or not is_data_class(kind):
            raise Forbidden("`type` tells the class of plain values only")
        return kind

    return {
        **SAFE,
        "filter": filter_,
        "getattr": getattr_,
        "hasattr": hasattr_,
        "iter": iter_,
        "map": map_,
        "max": max_,
        "min": min_,
        "next": next_,
        "print": print_,
        "sorted": sorted_,
        "type": type_,
        "range": bounded_range,
        "round": round_to,
        "pow": power,
        "exit": leave,
        "quit": leave,
        "SystemExit": ProgramExit,
        "KeyboardInterrupt": ProgramInterrupt,
    }


def leave(*_: Any) -> NoReturn:
    """`exit()` ends the program, not the process."""
    raise ProgramExit
