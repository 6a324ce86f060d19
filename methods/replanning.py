"""The strategy of VoxPoser and of what extends it: write programs and run them; after a failure try
again from the same scene with what the `replan` part proposes. What a trial runs is in `methods.lmp`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.protocols import Manipulation, Problem
from methods.replan import Attempt, Proposal, Replan

if TYPE_CHECKING:
    from harness.episode import Episode
    from harness.records import EpisodeKey
    from methods.lmp.prompt import Request


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

    @property
    def cameras(self) -> Sequence[str]:
        """See `harness.protocols.Method`."""
        return self.replan.cameras if self.replan else ()

    @property
    def roles(self) -> Sequence[str]:
        """See `harness.protocols.Method`."""
        from methods.lmp.writer import LOW_LEVEL_ROLE, ROLES

        return (*ROLES.values(), LOW_LEVEL_ROLE, *(self.replan.roles if self.replan else ()))

    def problems(self) -> list[Problem]:
        return self.replan.problems() if self.replan else []

    def fingerprint(self) -> str:
        """Hash of what replanning reads from files; empty for nothing."""
        return self.replan.fingerprint() if self.replan else ""

    def order(self, keys: Sequence[EpisodeKey], seed: int) -> Sequence[EpisodeKey] | None:
        """See `harness.protocols.Method`."""
        return self.replan.order(keys, seed) if self.replan else None

    def play(self, episode: Episode) -> None:
        attempts: list[Attempt] = []
        while len(attempts) < self.trials:
            attempts.append(self._attempt(episode, attempts))
            if attempts[-1].record.success:
                return

    def _attempt(self, episode: Episode, before: Sequence[Attempt]) -> Attempt:
        """One trial: the programs of the proposal, the others asked for. What making the proposal costs, and
        a reply to it that cannot be used, belong to the trial that it is for."""
        from methods.lmp.interface import TaskInterface
        from methods.lmp.programs import Programs
        from methods.lmp.writer import Writer

        env = episode.env
        assert isinstance(env, Manipulation)
        code: Mapping[Request, str] = {}
        start = end = None
        with episode.trial() as trial:
            start = self.replan.look(env) if self.replan else None
            proposal = self.replan.propose(episode, before) if self.replan and before else Proposal()
            trial.record.facts.update(proposal.facts)
            writer = Writer(episode, trial, env.prompts, proposal)
            code = writer.code
            interface = TaskInterface(env, trial.count, episode.trace)
            Programs(episode, trial, writer, interface).plan(episode.instruction)
        if self.replan and not trial.success:
            end = self.replan.look(env)
        return Attempt(trial.record, code, start, end)
