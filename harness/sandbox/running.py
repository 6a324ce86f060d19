"""One run of a program: the guards that its code calls, the clock that stands still inside the task API,
and how it ends. The limits are explained in `docs/sandbox.md`."""

from __future__ import annotations

import importlib
import inspect
import operator
import time
import types
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from harness.failures import CodeFailure, HarnessError, MethodFailure
from harness.sandbox import arithmetic, memory, numerics, vocabulary
from harness.sandbox.arithmetic import BINARY, IN_PLACE
from harness.sandbox.attributes import (
    Forbidden,
    Namespace,
    PlainFormat,
    belongs_to_api,
    check_name,
    check_value,
)
from harness.sandbox.crossing import ApiFunction, holds_code, outward
from harness.sandbox.ending import explain
from harness.sandbox.hang import LastResort
from harness.sandbox.interrupt import Ticker
from harness.sandbox.limits import PASSING, LimitReached, Limits, Passing
from harness.sandbox.numerics import Numpy, math_namespace

DEEP = 50
"""Calls of a program inside one another, beyond which a `RecursionError` is the program's and not the API's."""
ROOM = 12
"""Calls inside one another that are kept free for stopping and starting the clock, which needs about four."""

_DIRECT: frozenset[type] = frozenset(
    {types.BuiltinFunctionType, types.MethodDescriptorType, type, ApiFunction, PlainFormat}
)
_OUR_GLOBALS = frozenset(map(id, (vars(arithmetic), vars(numerics), vars(vocabulary))))
_ITEM_MISTAKES = (KeyError, IndexError, TypeError)


class Run:
    """The state of one run. Created, executed once, thrown away."""

    def __init__(
        self,
        source: str,
        api: Mapping[str, Any],
        limits: Limits,
        ticker: Ticker,
        last_resort: LastResort | None,
    ) -> None:
        self.paused = True
        self.ended = False
        self.output: list[str] = []
        self._source = source
        self._limits = limits
        self._ticker = ticker
        self._last_resort = last_resort
        self._printed = 0
        self._calls = 0
        self._spent = 0.0
        self._resumed = 0.0
        self._resident: int | None = None
        self._reached = ""
        self._passing: BaseException | None = None
        self._numpy = Numpy(source, self.adapt)
        self._names = vocabulary.vocabulary(self)
        self._api_names = frozenset(api)
        self._names.update(np=self._numpy, math=math_namespace())
        for name, value in api.items():
            self._names[name] = ApiFunction(name, value, self._call_api) if callable(value) else value
        self._names.update(
            _getattr_=self.getattr,
            _getitem_=self._getitem,
            _getiter_=self.iterate,
            _write_=self._writable,
            _call_=self._call,
            _binary_=_binary,
            _inplacevar_=_in_place,
            _module_=self._module,
            _slice_=slice,
            _passing_=PASSING,
            __import__=_import_of_numpy,
        )
        self._namespace: dict[str, Any] = {"__builtins__": self._names}

    # The run

    def execute(self, code: types.CodeType) -> dict[str, Any]:
        """Run to the end. Returns the names that the program set, without its functions. Raises what the
        API raised, or `CodeFailure`."""
        problem: BaseException | None = None
        results: dict[str, Any] = {}
        try:
            try:
                self._resume()
                exec(code, self._namespace)
                results = self._results()
            except LimitReached as error:
                self._pause()
                problem = self._failure(error)
            except BaseException as error:
                # Inside of the limits: the text of an exception can be as long as the program likes.
                problem = self._failure(error)
            finally:
                self._pause()
        except LimitReached as error:
            problem = self._failure(error)
        self._pause()
        self.ended = True
        if self._passing is not None:
            problem = self._passing
        elif problem is None and self._reached:
            problem = CodeFailure(self._reached)
        # The functions of a program and its namespace hold each other, and large arrays with them.
        self._namespace.clear()
        self._names.clear()
        if problem is not None:
            raise problem
        return results

    def overdue(self) -> bool:
        """Whether the program has to be interrupted now. Called by a signal handler or another thread."""
        if self.paused:
            return False
        if not self._reached:
            if self._spent + time.monotonic() - self._resumed > self._limits.seconds:
                self._reached = f"ran longer than {self._limits.seconds:g} s of its own time"
            else:
                self._check_memory(memory.used())
        return bool(self._reached)

    def _resume(self) -> None:
        """Start the clock and set the limits; the last statement makes interrupts possible."""
        use = memory.allow(self._limits.memory_mb << 20)
        self._check_memory(use)
        if self._last_resort is not None:
            self._last_resort.arm(self._limits.seconds - self._spent)
        self._resumed = time.monotonic()
        self.paused = False

    def _pause(self) -> None:
        """Stop the clock and lift the limits; the first statement makes interrupts impossible."""
        was_paused, self.paused = self.paused, True
        try:
            self._ticker.settle()
        except LimitReached:  # it was on its way
            self.paused = was_paused
            raise
        if not was_paused:
            self._spent += time.monotonic() - self._resumed
        if self._last_resort is not None:
            self._last_resort.disarm()
        memory.lift()

    def _check_memory(self, use: memory.Use | None) -> None:
        if use is None:
            return
        if self._resident is None:
            self._resident = use.resident
        elif use.resident - self._resident > self._limits.memory_mb << 20:
            self._reached = f"needs more than {self._limits.memory_mb} MB of memory"

    def _results(self) -> dict[str, Any]:
        names = {name: value for name, value in self._namespace.items() if name != "__builtins__"}
        return {
            name: value.function if type(value) is ApiFunction else value
            for name, value in names.items()
            if not holds_code(value, set(), 0)
        }

    # The task API

    def _call_api(self, called: ApiFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self._calls += 1
        if self._calls > self._limits.api_calls:
            self._reached = f"called the task API more than {self._limits.api_calls} times"
        return self._outside(called.function, args, kwargs)

    def _outside(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any] = types.MappingProxyType({}),
        mistakes: tuple[type[Exception], ...] = (),
    ) -> Any:
        """Run code of the task API. Its exceptions pass through the program, except those in `mistakes`:
        they say that the program asked for something that is not there."""
        self._still_running()
        _check_room(ROOM)
        args = tuple(map(outward, args))
        kwargs = {name: outward(value) for name, value in kwargs.items()}
        problem: BaseException | None = None
        result = None
        self._pause()
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            problem = error
        self._resume()
        self._still_running()
        if problem is None:
            return result
        if isinstance(problem, mistakes) or self._is_ours(problem, function, args, kwargs):
            raise problem
        self._passing = problem
        raise Passing(problem)

    def _is_ours(
        self,
        problem: BaseException,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
    ) -> bool:
        """Whether the program caused it before any code of the API ran: wrong arguments, endless recursion."""
        if isinstance(problem, TypeError):
            if not callable(function):
                return True
            try:
                inspect.signature(function).bind(*args, **kwargs)
            except TypeError:
                return True
            except ValueError:  # no signature to be had, as for some functions written in C
                return False
        return isinstance(problem, RecursionError) and self._depth() > DEEP

    def _depth(self) -> int:
        frame = inspect.currentframe()
        depth = 0
        while frame is not None:
            depth += frame.f_globals is self._namespace
            frame = frame.f_back
        return depth

    def _still_running(self) -> None:
        if self.ended:
            raise CodeFailure("the program has ended; its functions cannot be called any more")
        if self._passing is not None:
            raise Passing(self._passing)
        if self._reached:
            raise LimitReached

    # Guards

    def getattr(self, owner: Any, name: Any) -> Any:
        if isinstance(owner, Namespace):
            return owner.member(name)
        check_name(owner, name)
        if belongs_to_api(owner):
            value = self._outside(getattr, (owner, name), mistakes=(AttributeError,))
            check_value(value, owner, name)
            return value
        if name == "format" and isinstance(owner, str):
            return PlainFormat(owner)
        return getattr(owner, name)

    def iterate(self, iterable: Any) -> Any:
        return self._iterate_outside(iterable) if belongs_to_api(iterable) else iterable

    def _iterate_outside(self, iterable: Any) -> Iterator[Any]:
        iterator = self._outside(iter, (iterable,), mistakes=(TypeError,))
        done = object()
        while (item := self._outside(partial(next, iterator, done), ())) is not done:
            yield item

    def _getitem(self, owner: Any, index: Any) -> Any:
        if isinstance(owner, type):
            raise TypeError(f"the class {owner.__name__} has no items")
        if belongs_to_api(owner):
            return self._outside(operator.getitem, (owner, index), mistakes=_ITEM_MISTAKES)
        return owner[index]

    def _writable(self, owner: Any) -> Any:
        return _ItemWriter(owner, self._outside) if belongs_to_api(owner) else owner

    def _module(self, name: str) -> Namespace:
        first, _, rest = name.partition(".")
        module: Namespace = math_namespace() if first == "math" else self._numpy
        return module.member(rest) if rest else module

    def _call(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        if self._runs_inside(function):
            return function(*args, **kwargs)
        return self._outside(function, args, kwargs)

    def adapt(self, function: Any) -> Callable[..., Any]:
        """A function as `map`, `sorted` and NumPy may call it."""
        return function if self._runs_inside(function) else partial(self._call, function)

    def _runs_inside(self, function: Any) -> bool:
        """Whether calling it is the program's own work, and not the API's."""
        kind = type(function)
        if kind is types.FunctionType:
            where = function.__globals__
            return where is self._namespace or id(where) in _OUR_GLOBALS or _is_numpys(function)
        if kind in _DIRECT:
            if kind is type and function.__name__ == "ndarray":
                raise Forbidden("np.ndarray is there for isinstance; use np.zeros or np.array")
            return True
        if kind is types.MethodType:
            return isinstance(function.__self__, Run | Numpy)
        return not belongs_to_api(function)

    def write(self, text: str) -> None:
        self._printed += len(text)
        if self._printed > self._limits.output_chars:
            self._reached = f"printed more than {self._limits.output_chars} characters"
            raise LimitReached
        self.output.append(text)

    def _failure(self, error: BaseException) -> BaseException:
        """What the caller of the program gets."""
        if isinstance(error, Passing):
            return error.original
        if isinstance(error, MethodFailure | HarnessError | KeyboardInterrupt | SystemExit):
            return error
        return explain(error, self._reached, self._limits, self._source, self._namespace, self._api_names)


class _ItemWriter:
    """Takes `owner[index] = value` and `del owner[index]` to an object of the task API."""

    __slots__ = ("_outside", "_owner")

    def __init__(self, owner: Any, outside: Callable[..., Any]) -> None:
        self._owner = owner
        self._outside = outside

    def __setitem__(self, index: Any, value: Any) -> None:
        self._outside(operator.setitem, (self._owner, index, value), mistakes=_ITEM_MISTAKES)

    def __delitem__(self, index: Any) -> None:
        self._outside(operator.delitem, (self._owner, index), mistakes=_ITEM_MISTAKES)


def _check_room(calls: int) -> None:
    """Raise `RecursionError` now, and not when the clock is half stopped: it would stand still for ever."""
    if calls:
        _check_room(calls - 1)


def _import_of_numpy(name: str, *_: Any) -> types.ModuleType:
    """NumPy's C code imports parts of NumPy at their first use, through the builtins of the frame that runs.
    A program cannot name this function, and import statements are refused before."""
    if name.partition(".")[0] != "numpy":
        raise ImportError(f"{name} cannot be imported")
    return importlib.import_module(name)


def _binary(symbol: str, left: Any, right: Any) -> Any:
    return BINARY[symbol](left, right)


def _in_place(symbol: str, left: Any, right: Any) -> Any:
    return IN_PLACE[symbol](left, right)


def _is_numpys(function: Any) -> bool:
    return str(function.__module__).partition(".")[0] == "numpy"
