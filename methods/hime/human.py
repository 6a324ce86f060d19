"""The upper bound: whoever plans sees everything and remembers everything. It is told by the oracle which subtask is next,
at each moment, so what is left to fail is the executor (paper, Figure 4: "human high-level")."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.protocols import LongHorizon, Problem
from methods.executors import ExecutorConfig

if TYPE_CHECKING:
    from harness.episode import Episode


@dataclass(frozen=True)
class Human:
    """The config behind `conf/method/human.yaml`; one trial an episode. It asks no chat model."""

    executor: ExecutorConfig

    def requires(self) -> tuple[type, ...]:
        return (LongHorizon,)

    def problems(self) -> list[Problem]:
        return self.executor.problems()

    def play(self, episode: Episode) -> None:
        from methods.hime.body import Body

        env = episode.env
        assert isinstance(env, LongHorizon)
        with episode.trial() as trial, closing(Body(env, self.executor, episode, trial)) as body:
            told: int | None = -1
            while True:
                index = env.current_subtask()
                if index != told:
                    body.assign("" if index is None else env.subtasks()[index].text)
                    told = index
                body.execute()
                verdict = env.verdict()
                if verdict.success or verdict.failed:
                    return
