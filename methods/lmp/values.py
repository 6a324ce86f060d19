"""What lazy programs hand to the code that calls them: maps and observations that are evaluated again at each
use, so that they show the scene as it is then (fact page A1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from harness.failures import CodeFailure, PerceptionFailure
from methods.lmp.prompt import Request
from methods.voxels.observation import Observation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.protocols import Floats
    from methods.voxels.grid import Voxels

Evaluate = Callable[[], Any]
"""Runs a lazy program and gives its `ret_val`."""


class LazyMap:
    """A value map by phrase. Call it for the map of the newest observation."""

    def __init__(self, asked: Request, evaluate: Evaluate) -> None:
        self._asked, self._evaluate = asked, evaluate

    def __call__(self) -> Any:
        return self._evaluate()

    def __repr__(self) -> str:
        return f"<{self._asked.program} of {self._asked.query!r}>"


class LazyObservation:
    """An object by phrase. Each attribute is of the newest observation, see `methods.voxels.observation`."""

    def __init__(self, asked: Request, evaluate: Evaluate) -> None:
        self._asked, self._evaluate = asked, evaluate

    def __call__(self) -> Observation:
        """The newest observation, which then stays as it is."""
        value = self._evaluate()
        if not isinstance(value, Observation):
            raise CodeFailure(
                f"parse_query_obj for `{self._asked.query}` has to set ret_val to detect(name), not to "
                f"a {type(value).__name__}"
            )
        return value

    @property
    def name(self) -> str:
        return self().name

    @property
    def position(self) -> Voxels:
        return self().position.copy()

    @property
    def aabb(self) -> Voxels:
        return self().aabb.copy()

    @property
    def normal(self) -> Floats:
        return self().normal.copy()

    @property
    def world_position(self) -> Floats:
        return self().world_position.copy()

    @property
    def occupancy_map(self) -> NDArray[Any]:
        return self().occupancy_map.copy()

    def __repr__(self) -> str:
        return f"<observation of {self._asked.query!r}>"


class Observations:
    """Several objects by one phrase; a sequence of `LazyObservation`."""

    def __init__(self, items: Sequence[LazyObservation]) -> None:
        self._items = tuple(items)

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[LazyObservation]:
        return iter(self._items)

    def __getitem__(self, index: Any) -> Any:
        """One of them, or a tuple of those in a slice."""
        try:
            return self._items[index]
        except ValueError as error:
            # A slice that cannot be; the sandbox takes only an `IndexError` for the program's mistake.
            raise IndexError(str(error)) from error


def observations(asked: Request, evaluate: Evaluate, known: Sequence[str]) -> LazyObservation | Observations:
    """What parse_query_obj found: evaluated once to see whether it is one thing or several. Raises
    `PerceptionFailure` with the known names when it is nothing."""
    value = evaluate()
    if value is None or (isinstance(value, list | tuple) and not value):
        raise PerceptionFailure(
            f"nothing was found for `{asked.query}`; the scene has {', '.join(map(repr, known))}"
        )
    if isinstance(value, list | tuple):
        return Observations([LazyObservation(asked, _item(evaluate, index)) for index in range(len(value))])
    lazy = LazyObservation(asked, evaluate)
    if not isinstance(value, Observation):
        lazy()  # says what is wrong
    return lazy


def _item(evaluate: Evaluate, index: int) -> Evaluate:
    def item() -> Any:
        value = evaluate()
        if not isinstance(value, list | tuple) or len(value) <= index:
            raise PerceptionFailure("fewer objects are seen now than when they were asked for")
        return value[index]

    return item
