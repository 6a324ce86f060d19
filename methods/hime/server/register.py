"""The tasks of a server: which there are, and one request at a time for each. Requests of one task wait for each other;
those of others do not wait for them."""

from __future__ import annotations

import threading
import uuid
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from harness.failures import UsageError
from methods.hime.server import store
from methods.hime.server.shapes import Refused, TaskState
from methods.hime.server.tasks import Ask, Setup, Task
from methods.record_memory import Picture

if TYPE_CHECKING:
    from methods.hime.hierarchy import Hierarchy

OPEN = 32
"""Tasks that are kept open; those that nobody has spoken to for longer are read from the disk when they are needed."""


class Register:
    def __init__(self, method: Hierarchy, ask: Ask, folder: Path) -> None:
        """Goes on with the tasks that the folder holds; `troubles` says which it cannot read."""
        self._method, self._ask, self._folder = method, ask, folder
        self._guard = threading.Lock()
        self._states: dict[str, TaskState] = {}
        """Of all tasks, the one that was spoken to last at the end."""
        self._open: OrderedDict[str, Task] = OrderedDict()
        self._users: Counter[str] = Counter()
        self.troubles: list[str] = []
        for name in store.names(folder):
            try:
                self._states[name] = _at_rest(
                    TaskState(**store.read(folder / name, with_planner=False)["state"])
                )
            except (UsageError, KeyError, TypeError, ValueError) as error:
                self.troubles.append(str(error))

    def begin(self, setup: Setup, words: str, picture: Picture) -> TaskState:
        """Raises `OSError` for a disk that does not take it."""
        name = uuid.uuid4().hex
        task = Task.begun(name, self._folder / name, self._method, self._ask, setup, words, picture)
        with self._guard:
            self._open[name] = task
            self._states[name] = task.state
            self._close_some()
        return task.state

    def step(self, name: str, pictures: list[Picture]) -> TaskState:
        """Raises `Refused` for a task that there is not, and `OSError`."""
        with self._held(name) as task:
            task.step(pictures)
            return task.state

    def instruct(self, name: str, words: str) -> TaskState:
        """Raises as `step`."""
        with self._held(name) as task:
            task.instruct(words)
            return task.state

    def check(self, name: str) -> None:
        """Raises `Refused` for a task that there is not."""
        if name not in self._states:
            raise Refused(
                404, f"There is no task {name[:80]!r} here; GET /resume_state tells those that there are."
            )

    def states(self) -> list[TaskState]:
        """Of all tasks, the one that was spoken to last first."""
        with self._guard:
            found = {
                name: self._open[name].state if name in self._open else state
                for name, state in self._states.items()
            }
        return list(reversed(found.values()))

    @contextmanager
    def _held(self, name: str) -> Iterator[Task]:
        self.check(name)
        with self._guard:
            if name not in self._open:
                try:
                    self._open[name] = Task.restored(name, self._folder / name, self._method, self._ask)
                except UsageError as error:
                    raise Refused(409, str(error)) from error
            task = self._open[name]
            self._users[name] += 1
        try:
            with task.busy:
                yield task
        finally:
            with self._guard:
                self._users[name] -= 1
                self._open.move_to_end(name)
                self._states.pop(name)
                self._states[name] = task.state
                self._close_some()

    def _close_some(self) -> None:
        for name, task in list(self._open.items()):
            if len(self._open) <= OPEN:
                return
            if not self._users[name] and task.is_idle:
                del self._open[name]
                task.close()


def _at_rest(state: TaskState) -> TaskState:
    """A state that was saved while the planner was asked, which nobody does any more."""
    if state.runtime_state != "planner_running" and state.planner_status != "running":
        return state
    return state.model_copy(update={"runtime_state": "observing", "planner_status": "idle"})
