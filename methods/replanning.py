"""The strategy of VoxPoser and of what extends it: write programs and run them; after a failure try
again from the same scene with what the `replan` part proposes. What a trial runs is in `methods.lmp`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.protocols import Manipulation
from methods.replan import Attempt, Proposal, Replan

if TYPE_CHECKING:
    from harness.episode import Episode


@dataclass(frozen=True)
class Replanning:
    """Up to `trials` trials; the episode succeeds when one of them does."""

    trials: int = 1
    replan: Replan | None = None
    """How trials after the first are made; may be null when there is only one."""

    def __post_init__(self) -> None:
        if self.trials < 1:
            raise ValueError(f"trials is {self.trials}; a method needs at least one")
        if self.trials > 1 and self.replan is None:
            raise ValueError(f"trials is {self.trials}, so replan has to name how the later ones are made")

    def requires(self) -> tuple[type, ...]:
        return (Manipulation,)

    def play(self, episode: Episode) -> None:
        attempts: list[Attempt] = []
        proposal = Proposal()
        while True:
            attempts.append(self._attempt(episode, proposal))
            if attempts[-1].record.success or len(attempts) == self.trials or self.replan is None:
                return
            proposal = self.replan.propose(episode, attempts)

    def _attempt(self, episode: Episode, proposal: Proposal) -> Attempt:
        """One trial: the programs of the proposal, the others asked for."""
        from methods.lmp.interface import TaskInterface
        from methods.lmp.programs import Programs
        from methods.lmp.writer import Writer

        env = episode.env
        assert isinstance(env, Manipulation)
        with episode.trial() as trial:
            trial.record.facts.update(proposal.facts)
            writer = Writer(episode, trial, env.prompts, proposal.code, proposal.sections)
            interface = TaskInterface(env, trial.count, episode.trace)
            Programs(episode, trial, writer, interface).plan(episode.instruction)
        return Attempt(trial.record, writer.code)
