"""How far an episode has come: the stage that runs, which subtasks are done, what the robot was told and shown.

It watches after every control step and carries out what the user does; it never moves the robot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from envs.household.sight import Eye, Moment
from envs.household.task import Clue, Goal, stages_of
from harness.protocols import Fact, Subtask, Utterance

if TYPE_CHECKING:
    from envs.mujoco.world import World

CLEAR = 0.14
"""The tool has to be higher than this, in metres above the table, before the user reaches in."""


class Progress:
    """Of the scene that is up; made anew at every reset."""

    def __init__(self, world: World, eye: Eye) -> None:
        self.stage = 0
        """The stage that runs, or the last one."""
        self.utterances: list[Utterance] = []
        self._world, self._eye = world, eye
        self._stages = stages_of(world)
        self._began = 0
        self._done: dict[Goal, int] = {}
        self._held: dict[Goal, int] = {}
        self._known: dict[Clue, int] = {}
        self._notice(0, Moment(world, eye))

    def update(self, step: int) -> None:
        """What control step `step` has changed."""
        now = Moment(self._world, self._eye)
        stage = self._stages[self.stage]
        for goal in stage.goals:
            if goal not in self._done:
                self._held[goal] = self._held.get(goal, 0) + 1 if goal.done(now) else 0
                if self._held[goal] == goal.steps:
                    self._done[goal] = step
        self._notice(step, now)
        over = all(goal in self._done for goal in stage.goals) or step - self._began >= stage.steps
        if over and self.stage + 1 < len(self._stages) and self._world.tool_position[2] > CLEAR:
            self._begin_next(step)

    @property
    def complete(self) -> bool:
        return all(goal in self._done for stage in self._stages for goal in stage.goals)

    def subtasks(self) -> list[Subtask]:
        """See `harness.protocols.LongHorizon.subtasks`."""
        return [
            Subtask(
                text=goal.text,
                stage=index,
                done_at=self._done.get(goal),
                facts=self._facts(goal.clues),
                outdated=self._facts(goal.outdated) if index <= self.stage else (),
            )
            for index, stage in enumerate(self._stages)
            for goal in stage.goals
        ]

    def current(self) -> int | None:
        """See `harness.protocols.LongHorizon.current_subtask`."""
        first = sum(len(stage.goals) for stage in self._stages[: self.stage])
        for index, goal in enumerate(self._stages[self.stage].goals):
            if goal not in self._done:
                return first + index
        return None

    def _facts(self, clues: Sequence[Clue]) -> tuple[Fact, ...]:
        return tuple(Fact(clue.subject, clue.relation, clue.value, self._known.get(clue)) for clue in clues)

    def _notice(self, step: int, now: Moment) -> None:
        for stage in self._stages:
            for goal in stage.goals:
                for clue in (*goal.clues, *goal.outdated):
                    if clue not in self._known and clue.stage <= self.stage and clue.shown(now):
                        self._known[clue] = step

    def _begin_next(self, step: int) -> None:
        self.stage += 1
        self._began = step
        stage = self._stages[self.stage]
        stage.change(self._world)
        self.utterances.append(Utterance(step, stage.words))
