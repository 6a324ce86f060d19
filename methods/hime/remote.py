"""HiMe with its upper layers in a server: the executor moves the robot here, and a task server (`methods.hime.task_client`)
that is shown what the cameras see says what is next. What plans and remembers there is the server's to say, and nothing of it
is counted in this row.

The loop is that of the published robot client: one pair of pictures after each execution, an upload after so many of them,
and the subtask of the answer from then on. Two things are not: before the user's words go to the server it is sent what has been
seen up to then, or its planner would answer to a scene that is past; and the executor begins anew with a subtask of the same words
as the last, where the plan list says that one is done. While the task is done for the server, the robot rests and goes on
uploading. Time stands still in a simulated world while a request is under way, and a robot waits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from harness.protocols import LongHorizon, Problem
from methods.executors import ExecutorConfig
from methods.hime.task_client import Moment, TaskServer, TaskState, check_url, problems

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.episode import Episode
    from harness.protocols import View
    from methods.hime.body import Body


@dataclass(frozen=True)
class Remote:
    """The config behind `conf/method/hime_server.yaml`; one trial an episode. It asks no chat model."""

    executor: ExecutorConfig
    url: str = "http://127.0.0.1:8000"
    """`http://host:port` of the task server."""
    every: int = 10
    """Executions between two uploads."""
    window: int = 8
    """The most frames that the Sentry is to be shown."""
    mode: Literal["sync", "async"] = "sync"
    """Whether an answer waits for the server's planner, or the robot goes on with its subtask until a later answer."""
    use_observer: bool | None = None
    """Whether there is a Sentry; null: as the server was started."""
    use_memory: bool | None = None
    """Whether the planner has a memory; null: as the server was started."""
    cameras: list[str] = field(default_factory=lambda: ["wrist", "third_person"])
    """The wrist camera and the main one."""
    annotated: bool = True
    """Whether the server is told in words what each camera sees. One that does not read it has to look."""
    timeout: float = 180.0
    """Seconds of wall clock that the server has for an answer."""

    roles: ClassVar[tuple[str, ...]] = ()
    """See `harness.protocols.Method`."""

    def __post_init__(self) -> None:
        check_url(self.url)
        if len(self.cameras) != 2:
            raise ValueError(
                f"cameras is {self.cameras}; a task server takes those of the wrist and the main camera"
            )
        for name in ("every", "window"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it is at least 1")
        if not 0 < self.timeout < float("inf"):
            raise ValueError(f"timeout is {self.timeout}; it is a number of seconds above 0")

    def requires(self) -> tuple[type, ...]:
        return (LongHorizon,)

    def problems(self) -> list[Problem]:
        return [*self.executor.problems(), *problems(self.url)]

    def play(self, episode: Episode) -> None:
        from methods.hime.body import Body

        env = episode.env
        assert isinstance(env, LongHorizon)
        with episode.trial() as trial, closing(Body(env, self.executor, episode, trial)) as body:
            episode.served.add(f"task server {self.url}")
            server = TaskServer(self.url, self.timeout)
            run = _Run(self, episode, env, body, server)
            try:
                run.begin()
                body.run(run)
            finally:
                trial.record.facts.update(
                    mode=self.mode, server_steps=run.uploads, server_seconds=server.seconds
                )

    def form(self, instruction: str) -> dict[str, str]:
        """The fields with which a task begins."""
        fields = {
            "global_instruction": instruction,
            "observer_window_size": str(self.window),
            "human_intervene_for_planner": "false",
            "planner_execution_mode": self.mode,
            "reset_planner_conversation": "true",
        }
        switches = {"use_observer": self.use_observer, "use_memory": self.use_memory}
        return fields | {name: str(on).lower() for name, on in switches.items() if on is not None}


class _Run:
    """One trial; see `methods.hime.body.Upper`."""

    def __init__(
        self, config: Remote, episode: Episode, env: LongHorizon, body: Body, server: TaskServer
    ) -> None:
        self._config, self._env, self._body, self._server = config, env, body, server
        self._trace = episode.trace
        self._instruction = episode.instruction
        self._subtask: str | None = None
        """What the executor was told; empty: to rest."""
        self._steps_done = 0
        self._seen: list[Moment] = []
        """Since the last upload."""
        self.uploads = 0

    def begin(self) -> None:
        fields = self._config.form(self._instruction)
        self._adopt("task", self._server.create(fields, self._look()))

    def decide(self, said: Sequence[str]) -> None:
        for text in said:
            self._upload()  # or the planner would be shown what was so before
            self._instruction = text
            self._adopt("user_instruction", self._server.instruct(text))

    def executed(self, refused: str) -> None:
        self._seen.append(self._look())
        if len(self._seen) == self._config.every:
            self._upload()

    def _upload(self) -> None:
        moments, self._seen = self._seen, []
        if moments:
            state = self._server.step(moments)
            self.uploads += 1
            self._adopt("step", state)

    def _look(self) -> Moment:
        from methods.hime.frames import side_by_side

        views = self._body.views(self._config.cameras)
        waist, main = (side_by_side([view.image]) for view in views.values())
        return Moment(main, waist, annotation(views) if self._config.annotated else None)

    def _adopt(self, request: str, state: TaskState) -> None:
        self._trace(
            "server",
            step=self._env.steps(),
            request=request,
            seconds=self._server.seconds[-1],
            done=state.done,
            subtask=state.subtask,
            runtime_state=state.runtime,
            planner_status=state.planner,
            plan=state.plan,
            summary=state.summary,
        )
        subtask = "" if state.done else state.subtask or self._instruction
        if subtask != self._subtask or (subtask and state.steps_done > self._steps_done):
            self._body.assign(subtask)
        self._subtask, self._steps_done = subtask, state.steps_done


def annotation(views: Mapping[str, View]) -> str:
    """JSON of what each camera sees: its name to a list of objects with `name` and `box`, which is left, top, right, bottom in
    pixels."""
    seen: dict[str, Any] = {
        camera: [{"name": mark.name, "box": list(mark.box)} for mark in view.marks]
        for camera, view in views.items()
    }
    return json.dumps(seen)
