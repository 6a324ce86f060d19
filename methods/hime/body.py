"""The robot's side of a long task: the executor, what the cameras show, and the loop that the layers above it are asked
in. What the user says and what the oracle calls done meanwhile goes to the trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from methods.executors import ExecutorConfig, Refusal
from methods.executors.senses import Senses
from methods.hime.frames import Frame, frame

if TYPE_CHECKING:
    from harness.episode import Episode, Trial
    from harness.protocols import Floats, LongHorizon, View

REST = "go to rest"
"""The executor's subtask while there is nothing to do."""


class Upper(Protocol):
    """The layers above the executor, wherever they are."""

    def decide(self, said: Sequence[str]) -> None:
        """Before each execution: what the user has said since the one before, oldest first."""
        ...

    def executed(self, refused: str) -> None:
        """After each one that did not settle the task; `refused` is the executor's reason if it did not act."""
        ...


class Body:
    """Of one trial. `close` it."""

    def __init__(self, env: LongHorizon, config: ExecutorConfig, episode: Episode, trial: Trial) -> None:
        self._env, self._trace, self._count = env, episode.trace, trial.count
        self._executed = config.executed
        self._senses = Senses(env)
        self._executor = config.open()
        episode.served.add(self._executor.name)
        self._gripper = 1.0  # a hand that has not been told anything is open
        self._told = False
        self._heard = 0
        self._done: set[int] = set()
        self._trace("user", step=env.steps(), text=episode.instruction)

    def run(self, upper: Upper) -> None:
        """Until the task is settled. Raises `StepLimit`, and what `upper` and the executor raise."""
        heard = 0
        while True:
            said = [utterance.text for utterance in self._env.utterances()[heard:]]
            heard += len(said)
            upper.decide(said)
            refused = self.execute()
            verdict = self._env.verdict()
            if verdict.success or verdict.failed:
                return
            upper.executed(refused)

    def assign(self, subtask: str) -> None:
        """From now on this; empty: rest."""
        self._told = True
        self._executor.reset(subtask or REST)
        self._trace("subtask", step=self._env.steps(), text=subtask or REST)

    def execute(self) -> str:
        """One execution; the reason if the executor refuses. Without a subtask, and where it refuses, the robot stands still
        for as long. Raises `StepLimit`."""
        answer = self._executor.act(self._senses) if self._told else None
        refused = ""
        if isinstance(answer, Refusal):
            self._count(f"executor: {answer.reason}")
            self._trace("refusal", step=self._env.steps(), reason=answer.reason, message=answer.message)
            refused, answer = answer.message, None
        for action in self._still() if answer is None else answer[: self._executed]:
            taken = self._env.act(action)
            self._note()
            self._gripper = float(action[6])
            if taken.clipped:
                self._count("action: clipped")
            if taken.held:
                self._count(f"action: {taken.held}")
        return refused

    def look(self, cameras: Sequence[str], annotated: bool) -> Frame:
        """What the cameras show now, the first one left."""
        return frame(self._env.steps(), self.views(cameras), annotated)

    def views(self, cameras: Sequence[str]) -> Mapping[str, View]:
        """What each camera shows now, in this order."""
        return {name: self._senses.view(name) for name in cameras}

    def close(self) -> None:
        self._executor.close()

    def _note(self) -> None:
        """What is new of the user and of the oracle."""
        utterances = self._env.utterances()
        for said in utterances[self._heard :]:
            self._trace("user", step=said.step, text=said.text)
        self._heard = len(utterances)
        for index, subtask in enumerate(self._env.subtasks()):
            if subtask.done_at is not None and index not in self._done:
                self._done.add(index)
                self._trace("subtask_done", step=subtask.done_at, index=index, text=subtask.text)

    def _still(self) -> Floats:
        actions = np.zeros((self._executed, 7))
        actions[:, 6] = self._gripper
        return actions
