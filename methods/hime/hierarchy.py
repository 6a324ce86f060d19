"""HiMe and the baselines that differ from it in parts: an executor moves the robot, a trigger says when the planner is asked,
the planner says what is next (paper, section 3).

Time. The robot never waits for an answer unless `planner.mode=sync`: an answer takes effect as many control steps after
the question as its requests took, and until then the executor goes on with what it has. How long a request took is what the
chat model says of it, also when it comes from a cache or a recording, so that a run can be repeated; `llm=rules` takes no
time. With `sync` the world stands still meanwhile."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harness.failures import UsageError
from harness.protocols import LongHorizon, Problem
from methods.executors import ExecutorConfig
from methods.hime.planners import PlannerConfig
from methods.hime.scores import MemoryScore, SentryScore, concerned, done
from methods.hime.session import PLANNER, SENTRY, Session, Thought, Trigger
from methods.hime.triggers import Sentry

if TYPE_CHECKING:
    from harness.episode import Episode, Trial
    from harness.serving import Service
    from methods.hime.body import Body

SERVER = ("fastapi", "uvicorn", "python_multipart")
"""Packages of the task server."""


@dataclass(frozen=True)
class Hierarchy:
    """The config behind `conf/method/hime.yaml` and its variants; one trial an episode."""

    planner: PlannerConfig
    trigger: Trigger
    executor: ExecutorConfig
    cameras: list[str] = field(default_factory=lambda: ["wrist", "third_person"])
    """Whose pictures make a frame, the first one left."""
    annotated: bool = True
    """Whether a frame says in words what each camera sees. Without, a model has to look."""

    def __post_init__(self) -> None:
        if not self.cameras:
            raise ValueError("cameras is empty; a frame is made of one picture at least")

    def requires(self) -> tuple[type, ...]:
        return (LongHorizon,)

    @property
    def roles(self) -> Sequence[str]:
        """See `harness.protocols.Method`."""
        return (PLANNER, SENTRY) if isinstance(self.trigger, Sentry) else (PLANNER,)

    def problems(self) -> list[Problem]:
        embedder = getattr(self.planner, "embedder", None)
        return [*self.executor.problems(), *(embedder.problems() if embedder else [])]

    def play(self, episode: Episode) -> None:
        from methods.hime.body import Body

        env = episode.env
        assert isinstance(env, LongHorizon)
        with episode.trial() as trial, closing(Body(env, self.executor, episode, trial)) as body:
            run = _Run(self, episode, trial, env, body)
            try:
                body.run(run)
            finally:
                trial.record.facts.update(run.facts())

    def serve(self, service: Service) -> None:
        """See `harness.serving.Servable`: planner, Sentry and memory for a robot elsewhere."""
        if missing := [name for name in SERVER if importlib.util.find_spec(name) is None]:
            raise UsageError(f"A server needs {' and '.join(missing)}: pip install 'engram[serve]'")
        from methods.hime.server.app import serve

        serve(self, service)


class _Run:
    """One trial."""

    def __init__(
        self, config: Hierarchy, episode: Episode, trial: Trial, env: LongHorizon, body: Body
    ) -> None:
        self._config, self._env, self._body, self._trace = config, env, body, episode.trace

        def ask(role: str, messages: Any, tokens: int) -> Any:
            return episode.chat(role, messages, max_tokens=tokens)

        self._session = Session(
            config.planner, config.trigger, ask, trial.count, episode.trace, episode.instruction
        )
        self._memory, self._sentry = MemoryScore(), SentryScore()
        self._thoughts: list[Thought] = []
        self._sizes: list[int] = []
        self._planned_at: int | None = None
        """Control step at which a planner with a memory was asked last."""
        self._checked: tuple[bool, bool | None] | None = None
        """Whether the Sentry has called the current subtask done, and the oracle's word at the last check."""
        self._began = 0
        self._answer: Thought | None = None
        """That takes effect at control step `_when`."""
        self._when = 0
        self._look()

    def decide(self, said: Sequence[str]) -> None:
        """See `methods.hime.body.Upper`. Raises what chat models raise, and `GenerationFailure`."""
        for text in said:
            self._session.hear(text)
        if self._answer is None and self._session.due:
            self._answer = self._think()
            self._when = self._env.steps() + self._delay(self._answer)
        if self._answer is not None and self._env.steps() >= self._when:
            self._adopt(self._answer)
            self._answer = None

    def executed(self, refused: str) -> None:
        self._look()
        self._session.executed(refused)

    def facts(self) -> dict[str, Any]:
        """For the row. Seconds and tokens are one number for each time that the planner was asked."""
        planned = [thought for thought in self._thoughts if thought.decision]
        watched = [thought for thought in self._thoughts if thought.judgement]
        causes = [thought.cause for thought in planned]
        self._leave()
        found: dict[str, Any] = {
            "mode": self._config.planner.mode,
            "planner_calls": len(planned),
            "planner_requests": sum(thought.planning.requests for thought in planned),
            "planner_seconds": [round(thought.planning.seconds, 3) for thought in planned],
            "planner_tokens": [thought.planning.tokens for thought in planned],
            "causes": {cause: causes.count(cause) for cause in dict.fromkeys(causes)},
        }
        if isinstance(self._config.trigger, Sentry):
            found |= {"sentry_checks": len(watched), "sentry": self._sentry.facts()}
        if self._sizes:
            found |= {"memory": self._memory.facts(), "memory_sizes": self._sizes}
        return found

    def _look(self) -> None:
        self._session.see(self._body.look(self._config.cameras, self._config.annotated))

    def _delay(self, thought: Thought) -> int:
        """Control steps until it takes effect."""
        if self._config.planner.mode == "sync":
            return 0
        return math.ceil(thought.seconds * self._env.control_hz)

    def _think(self) -> Thought:
        session, env = self._session, self._env
        before = session.planner.remembered()
        thought = session.think()
        self._thoughts.append(thought)
        if thought.judgement and session.assignment:
            said = thought.judgement == "done"
            true = done(session.assignment.text, env.subtasks(), self._began)
            self._sentry.checked(said, true)
            self._checked = (said or bool(self._checked and self._checked[0]), true)
            self._trace("oracle", step=env.steps(), subtask=session.assignment.text, done=true)
        if thought.decision is not None and before is not None:
            after = session.planner.remembered()
            self._sizes.append(len(after or ()))
            if self._planned_at is not None:
                about = concerned(thought.decision.subtask, env.subtasks(), env.current_subtask())
                self._memory.asked(about, self._planned_at, before, thought.decision.retrieved)
            self._planned_at = env.steps()
        return thought

    def _adopt(self, thought: Thought) -> None:
        session, old = self._session, self._session.assignment
        if thought.decision is not None and (old is None or thought.decision.anew):
            self._leave()
            self._began = self._env.steps()
        session.adopt(thought)
        if thought.decision is not None:
            self._trace("adopted", step=self._env.steps())
        if session.assignment is not None and session.assignment != old:
            self._body.assign(session.assignment.text)

    def _leave(self) -> None:
        """The current subtask comes to its end."""
        if self._checked is not None:
            self._sentry.left(*self._checked)
        self._checked = None
