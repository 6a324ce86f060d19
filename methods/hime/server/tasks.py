"""What happens to a task: it has a session of its own, and nothing of one task is known to another.

With `sync` a request waits for the models. With `async` a thread asks them while steps go on coming; what it found takes
effect with the first step after it, or with the user's next words, which wait for it as they wait for their own answer.

A step is one check, however many moments it has: at its end the Sentry is asked or, without one, the planner. Each moment
counts as one execution."""

from __future__ import annotations

import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.chat.keys import written_down
from harness.failures import HarnessError, MethodFailure, UsageError
from harness.protocols import Message, Reply
from methods.hime.frames import Frame
from methods.hime.server import store
from methods.hime.server.shapes import Mode, RuntimeState, TaskState
from methods.hime.server.threads import begun
from methods.hime.session import PLANNER, Session, Thought, Trigger
from methods.hime.triggers import Periodic, Sentry
from methods.record_memory import Picture

if TYPE_CHECKING:
    from methods.hime.hierarchy import Hierarchy

Ask = Callable[[str, str, Sequence[Message], int], Reply]
"""Task, role, messages, the most tokens of the answer."""


@dataclass(frozen=True)
class Setup:
    """What a client chooses for its task."""

    mode: Mode
    window: int | None = None
    """The most frames that the Sentry is shown; None: as the method has it."""


@dataclass(frozen=True)
class _View:
    """What a session has decided."""

    plan: str
    subtask: str | None
    done: bool


class Task:
    """For one request at a time, which holds `busy`; `state`, `thinks` and `is_idle` are for anybody."""

    def __init__(
        self, name: str, folder: Path, method: Hierarchy, ask: Ask, setup: Setup, reel: store.Reel, words: str
    ) -> None:
        self.busy = threading.Lock()
        self._name, self._folder, self._setup, self._reel = name, folder, setup, reel
        self._executed = method.executor.executed
        """Control steps between two moments."""
        self._trace = store.trace(folder)
        self._events: Counter[str] = Counter()
        self._asks = ask
        self._session = Session(
            method.planner,
            _each_step(method.trigger, setup.window),
            self._ask,
            self._count,
            self._trace,
            words,
            reel,
        )
        self._view = _View("", None, False)
        self._resting: Picture | None = None
        """What the cameras show while there is nothing to do."""
        self._thinking: Future[Thought] | None = None
        self._before: dict[str, Any] = {}
        """What is written down while a thread has the session."""
        self._role = ""
        """Of the model that is asked."""
        self._failure = ""
        self._summary = ""

    @classmethod
    def begun(
        cls, name: str, folder: Path, method: Hierarchy, ask: Ask, setup: Setup, words: str, picture: Picture
    ) -> Task:
        """A new one, whose planner has been asked. Raises `OSError` for a disk that does not take it."""
        task = cls(name, folder, method, ask, setup, store.Reel(folder), words)
        task._keep([picture])
        task._see()
        task._heard(words)
        return task

    @classmethod
    def restored(cls, name: str, folder: Path, method: Hierarchy, ask: Ask) -> Task:
        """As it was when the last request had been carried out. Raises `UsageError` for a folder that does not say."""
        saved = store.read(folder)
        try:
            reel = store.Reel(folder, saved["kept"], saved["seen"])
            task = cls(name, folder, method, ask, Setup(**saved["setup"]), reel, "")
            task._session.restore({**saved["session"], "planner": saved["planner"]})
            task._events.update(saved["events"])
            task._failure, task._summary = saved["failure"], saved["summary"]
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(
                f"{folder} does not hold a whole task ({type(error).__name__}: {error}). Move it away."
            ) from error
        task._count_executions()
        task._look()
        return task

    @property
    def state(self) -> TaskState:
        view, plans = self._view, self.thinks and self._role == PLANNER
        at_work: RuntimeState = "planner_running" if plans else "observing"
        return TaskState(
            task_id=self._name,
            is_done=view.done,
            runtime_state="failed" if self._failure else "done" if view.done else at_work,
            planner_status="failed" if self._failure else "running" if plans else "idle",
            plan_list=view.plan,
            summary=self._failure or self._summary,
            current_subtask_description=view.subtask,
        )

    @property
    def thinks(self) -> bool:
        """Whether a thread is asking models."""
        return self._thinking is not None and not self._thinking.done()

    @property
    def is_idle(self) -> bool:
        """Whether all there is to it is on the disk, as long as no request is under way."""
        return self._thinking is None

    def step(self, pictures: Sequence[Picture]) -> None:
        """What was seen since the last time, oldest first. Raises `OSError` for a disk that does not take it."""
        if self._thinking is None and self._session.waits:
            self._resting = pictures[-1]
            return
        self._keep(pictures)
        if self._thinking is None:
            self._count_executions()
            self._check()
        elif not self.thinks and self._settle():
            self._check()
        self._write()

    def instruct(self, words: str) -> None:
        """The user says something: the new instruction. Waits for the answer. Raises `OSError`, as `step`."""
        if self._thinking is not None:
            self._settle()
        if self._resting is not None:
            self._keep([self._resting])
            self._see()
        self._session.hear(words)
        self._heard(words)

    def close(self) -> None:
        self._trace.close()

    def _heard(self, words: str) -> None:
        self._resting = None
        self._trace("user", step=self._session.frames[-1].step, text=words)
        self._think()
        self._write()

    def _check(self) -> None:
        """Ask who is due after a step."""
        if not self._session.due:
            return
        if self._setup.mode == "sync":
            self._think()
            return
        self._before = self._saved()
        self._failure = self._role = ""
        self._thinking = begun(self._session.think, f"task {self._name}")

    def _think(self) -> None:
        """Ask who is due, now, and take up what is found."""
        self._failure = self._role = ""
        try:
            self._adopt(self._session.think())
        except Exception as error:
            self._fail(error)

    def _settle(self) -> bool:
        """Take up what the thread has found, or will find; whether it found something."""
        assert self._thinking is not None
        try:
            thought = self._thinking.result()
        except Exception as error:
            self._fail(error)
            return False
        finally:
            self._thinking = None
            self._count_executions()
        self._adopt(thought)
        return True

    def _adopt(self, thought: Thought) -> None:
        self._session.adopt(thought)
        if thought.decision is not None:
            self._summary = str(thought.decision.facts.get("summary", ""))
            self._trace("adopted", step=self._session.frames[-1].step)
        self._look()

    def _fail(self, error: Exception) -> None:
        """The session is as it was, and the next step asks again."""
        self._failure = str(error)
        if not isinstance(error, HarnessError | MethodFailure):
            self._failure = f"a fault of the server, which its log tells: {type(error).__name__}: {error}"
            traceback.print_exception(error, file=sys.stderr)
        self._trace("error", traceback="".join(traceback.format_exception(error)))
        self._look()

    def _look(self) -> None:
        session = self._session
        subtask = (session.assignment.text if session.assignment else "") or None
        plan = session.planner.plan_text() or (f"[current] {subtask}" if subtask else "")
        self._view = _View(plan, subtask, session.waits)

    def _keep(self, pictures: Sequence[Picture]) -> None:
        first = self._reel.kept
        self._reel.keep([Frame((first + n) * self._executed, picture) for n, picture in enumerate(pictures)])

    def _see(self) -> None:
        for frame in self._reel.unseen():
            self._session.see(frame)

    def _count_executions(self) -> None:
        for frame in self._reel.unseen():
            self._session.see(frame)
            self._session.executed()

    def _ask(self, role: str, messages: Sequence[Message], tokens: int) -> Reply:
        self._role = role
        reply = self._asks(self._name, role, messages, tokens)
        self._trace(
            "chat",
            role=role,
            model=reply.model,
            messages=written_down(messages),
            reply=reply.text,
            finish_reason=reply.finish_reason,
            tokens=[reply.prompt_tokens, reply.completion_tokens],
            cost_usd=reply.cost_usd,
            cached=reply.cached,
            details=dict(reply.details),
        )
        return reply

    def _count(self, event: str) -> None:
        self._events[event] += 1

    def _saved(self) -> dict[str, Any]:
        return {"session": self._session.saved(), "events": dict(self._events)}

    def _write(self) -> None:
        saved = self._before if self._thinking is not None else self._saved()
        session = dict(saved["session"])
        planner = session.pop("planner")
        task = {
            "state": self.state.model_dump(),
            "setup": asdict(self._setup),
            "kept": self._reel.kept,
            "seen": len(self._reel),
            "session": session,
            "events": saved["events"],
            "failure": self._failure,
            "summary": self._summary,
        }
        store.write(self._folder, task, planner)


def _each_step(trigger: Trigger, window: int | None) -> Trigger:
    """Due at the end of each step."""
    if isinstance(trigger, Sentry):
        return replace(trigger, every=1, window=trigger.window if window is None else window)
    assert isinstance(trigger, Periodic)
    return replace(trigger, every=1)
